//! Choices by name: what can be chosen, how often, and how often it was.
//!
//! Everything that shapes a statement is an [`Odds`] (it happens or not) or a [`Choice`] (one of several options).
//! Both are `static`s in the file that uses them, declared with their default weights by the macro `choices!`. A
//! policy overrides weights by name ([`crate::profile`]) and counts what is chosen.
//!
//! A choice costs little more than its random number: each static gets a number of its own when it is first used,
//! and weights and counts are arrays indexed by it. With the default weights, a choice uses the same random numbers
//! as [`Rng::chance`] and [`Rng::weighted`].

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Generator;
use crate::rng::Rng;

/// Something that happens in so many of a hundred cases.
pub struct Odds {
    name: &'static str,
    percent: u32,
    slot: Slot,
}

/// One of several options, each drawn in proportion to its weight.
pub struct Choice<T: 'static> {
    name: &'static str,
    /// The options with their names and weights.
    options: &'static [(T, &'static str, u32)],
    /// The sum of these weights.
    total: u32,
    slot: Slot,
}

/// More options than any choice has.
const MOST_OPTIONS: usize = 32;

/// Where the numbers of a choice are in the arrays of a policy; the same for all policies of a process.
struct Slot(OnceLock<usize>);

impl Slot {
    fn first(&self, options: usize) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        *self.0.get_or_init(|| NEXT.fetch_add(options, Ordering::Relaxed))
    }
}

impl Odds {
    /// Odds that are `percent` unless a profile says otherwise.
    pub const fn new(name: &'static str, percent: u32) -> Odds {
        Odds { name, percent, slot: Slot(OnceLock::new()) }
    }
}

impl<T> Choice<T> {
    /// A choice among options that have these weights unless a profile says otherwise.
    pub const fn new(name: &'static str, options: &'static [(T, &'static str, u32)]) -> Choice<T> {
        assert!(!options.is_empty() && options.len() <= MOST_OPTIONS);
        let (mut total, mut at) = (0, 0);
        while at < options.len() {
            total += options[at].2;
            at += 1;
        }
        Choice { name, options, total, slot: Slot(OnceLock::new()) }
    }

    fn place(&self, option: T) -> Option<usize>
    where
        T: PartialEq,
    {
        self.options.iter().position(|(known, _, _)| *known == option)
    }

    /// What there is to choose from.
    pub fn options(&self) -> impl Iterator<Item = &T> {
        self.options.iter().map(|(option, _, _)| option)
    }
}

/// A weight that a profile can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// `query.comma`, or `query.join.kind/left` for an option.
    pub name: String,
    /// The weight that it has without a profile.
    pub weight: u32,
    /// The largest weight that makes sense: 100 if it is a percentage.
    pub most: u32,
    pub(crate) slot: usize,
}

/// What has weights to list.
pub trait Named: Sync {
    /// Its weights: of odds one, of a choice one for each option.
    fn listed(&self) -> Vec<Listed>;
}

impl Named for Odds {
    fn listed(&self) -> Vec<Listed> {
        let slot = self.slot.first(1);
        vec![Listed { name: self.name.to_string(), weight: self.percent, most: 100, slot }]
    }
}

impl<T: Sync> Named for Choice<T> {
    fn listed(&self) -> Vec<Listed> {
        let first = self.slot.first(self.options.len());
        let option = |(at, (_, name, weight)): (usize, &(T, &str, u32))| Listed {
            name: format!("{}/{}", self.name, kebab_case(name)),
            weight: *weight,
            most: MOST_WEIGHT,
            slot: first + at,
        };
        self.options.iter().enumerate().map(option).collect()
    }
}

/// Sums of weights stay far from overflowing.
const MOST_WEIGHT: u32 = 1_000_000;

/// `IsNull` is `is-null`.
fn kebab_case(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

/// The weights of a policy where they are not the default ones, and how often each choice was drawn by it.
///
/// Counts are of draws: some of what is drawn is thrown away again, or falls back to something simpler where a table
/// or the dialect has no room for it.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    given: Vec<Option<u32>>,
    drawn: RefCell<Vec<u64>>,
    /// What was drawn since it was last said what became of it, each once.
    pending: RefCell<Vec<u32>>,
    /// Whether it is among these, by its number.
    is_pending: RefCell<Vec<bool>>,
    /// In how much that was run a choice was, in what the engine took, and in what came to a check with rows.
    outcomes: RefCell<Vec<[u64; 3]>>,
}

/// What became of something that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not run.
    Unused,
    /// The engine rejected some of it.
    Invalid,
    /// The engine took all of it.
    Valid,
    /// It came to a check whose arms returned rows.
    Checked,
}

impl Weights {
    pub(crate) fn set(&mut self, slot: usize, weight: u32) {
        if self.given.len() <= slot {
            self.given.resize(slot + 1, None);
        }
        self.given[slot] = Some(weight);
    }

    pub(crate) fn drawn(&self, slot: usize) -> u64 {
        self.drawn.borrow().get(slot).copied().unwrap_or(0)
    }

    /// In how much that was run a choice was, in what the engine took, and in what came to a check with rows.
    pub(crate) fn outcome(&self, slot: usize) -> [u64; 3] {
        self.outcomes.borrow().get(slot).copied().unwrap_or_default()
    }

    /// Resets the counts.
    pub(crate) fn forget_drawn(&self) {
        self.drawn.borrow_mut().clear();
        self.outcomes.borrow_mut().clear();
    }

    /// Says what became of all that was drawn since this was last called. A choice counts once, however often it was
    /// drawn.
    pub(crate) fn settle(&self, outcome: Outcome) {
        let (mut pending, mut is_pending) = (self.pending.borrow_mut(), self.is_pending.borrow_mut());
        pending.iter().for_each(|slot| is_pending[*slot as usize] = false);
        if outcome != Outcome::Unused {
            let mut outcomes = self.outcomes.borrow_mut();
            for slot in pending.iter().map(|slot| *slot as usize) {
                if outcomes.len() <= slot {
                    outcomes.resize(slot + 1, [0; 3]);
                }
                let valid = matches!(outcome, Outcome::Valid | Outcome::Checked);
                outcomes[slot][0] += 1;
                outcomes[slot][1] += u64::from(valid);
                outcomes[slot][2] += u64::from(outcome == Outcome::Checked);
            }
        }
        pending.clear();
    }

    #[inline]
    fn weight(&self, slot: usize, default: u32) -> u32 {
        self.given.get(slot).copied().flatten().unwrap_or(default)
    }

    #[inline]
    fn count(&self, slot: usize) {
        let mut drawn = self.drawn.borrow_mut();
        if drawn.len() <= slot {
            drawn.resize(slot + 1, 0);
        }
        drawn[slot] += 1;
        let mut is_pending = self.is_pending.borrow_mut();
        if is_pending.len() <= slot {
            is_pending.resize(slot + 1, false);
        }
        if !std::mem::replace(&mut is_pending[slot], true) {
            self.pending.borrow_mut().push(slot as u32);
        }
    }

    /// Whether it happens.
    #[inline]
    pub fn odds(&self, odds: &Odds, rng: &mut Rng) -> bool {
        self.odds_if(true, odds, rng, |percent| percent)
    }

    #[inline]
    fn odds_if(&self, can: bool, odds: &Odds, rng: &mut Rng, scale: impl FnOnce(u32) -> u32) -> bool {
        let slot = odds.slot.first(1);
        let happens = rng.chance(scale(self.weight(slot, odds.percent)));
        if happens && can {
            self.count(slot);
        }
        happens
    }

    #[inline]
    fn is_given<T>(&self, choice: &Choice<T>) -> bool {
        !self.given.is_empty() && {
            let first = choice.slot.first(choice.options.len());
            self.given.iter().skip(first).take(choice.options.len()).any(Option::is_some)
        }
    }

    /// One of the options by their weights alone; `instead` as below.
    #[inline]
    fn choose<T: Copy>(&self, choice: &Choice<T>, rng: &mut Rng, instead: impl Fn(T) -> Option<usize>) -> T {
        if self.is_given(choice) {
            return self.choose_weighed(choice, rng, |_, weight| weight, instead);
        }
        let mut left = rng.below(choice.total as usize) as u32;
        let mut at = 0;
        while left >= choice.options[at].2 {
            left -= choice.options[at].2;
            at += 1;
        }
        self.take(choice, at, instead)
    }

    #[inline]
    fn take<T: Copy>(&self, choice: &Choice<T>, drawn: usize, instead: impl Fn(T) -> Option<usize>) -> T {
        let taken = instead(choice.options[drawn].0).unwrap_or(drawn);
        self.count(choice.slot.first(choice.options.len()) + taken);
        choice.options[taken].0
    }

    /// One of the options. `weigh` may change weights (0: it does not apply here); `instead` tells which other option
    /// is taken where one does not apply though it has a weight.
    #[inline]
    fn choose_weighed<T: Copy>(
        &self,
        choice: &Choice<T>,
        rng: &mut Rng,
        weigh: impl Fn(T, u32) -> u32,
        instead: impl Fn(T) -> Option<usize>,
    ) -> T {
        let options = choice.options;
        let first = choice.slot.first(options.len());
        let mut room = [0; MOST_OPTIONS];
        let weights = &mut room[..options.len()];
        let tuned = self.is_given(choice);
        for (at, (option, _, default)) in options.iter().enumerate() {
            // Under a profile, options are drawn in proportion among those that apply: 0 means never.
            let applies = !tuned || instead(*option).is_none();
            weights[at] = if applies { weigh(*option, self.weight(first + at, *default)) } else { 0 };
        }
        // A profile may leave nothing that applies here. Something has to be drawn.
        if tuned && weights.iter().all(|weight| *weight == 0) {
            for (at, (option, _, default)) in options.iter().enumerate() {
                weights[at] = weigh(*option, *default);
            }
        }
        let drawn = rng.weighted(weights);
        self.take(choice, drawn, instead)
    }
}

impl Generator<'_> {
    /// Whether something happens that has these odds.
    #[inline]
    pub fn odds(&mut self, odds: &Odds) -> bool {
        self.policy.weights.odds(odds, &mut self.rng)
    }

    /// The same, where the odds are less or more for a reason that only code knows.
    pub fn scaled_odds(&mut self, odds: &Odds, scale: impl FnOnce(u32) -> u32) -> bool {
        self.policy.weights.odds_if(true, odds, &mut self.rng, scale)
    }

    /// Whether something is drawn that has these odds. It counts only if it can happen here.
    pub fn odds_if(&mut self, can: bool, odds: &Odds) -> bool {
        self.policy.weights.odds_if(can, odds, &mut self.rng, |percent| percent)
    }

    /// One of the options.
    #[inline]
    pub fn choose<T: Copy>(&mut self, choice: &Choice<T>) -> T {
        self.policy.weights.choose(choice, &mut self.rng, |_| None)
    }

    /// One of the options that apply here.
    #[inline]
    pub fn choose_where<T: Copy>(&mut self, choice: &Choice<T>, applies: impl Fn(T) -> bool) -> T {
        self.choose_weighed(choice, |option, weight| if applies(option) { weight } else { 0 })
    }

    /// One of the options, where some weights depend on more than a profile.
    #[inline]
    pub fn choose_weighed<T: Copy>(&mut self, choice: &Choice<T>, weigh: impl Fn(T, u32) -> u32) -> T {
        self.policy.weights.choose_weighed(choice, &mut self.rng, weigh, |_| None)
    }

    /// One of the options, or `otherwise` in the place of one that does not apply here.
    #[inline]
    pub fn choose_or<T: Copy + PartialEq>(
        &mut self,
        choice: &Choice<T>,
        otherwise: T,
        applies: impl Fn(T) -> bool,
    ) -> T {
        let stays = |drawn: T| drawn == otherwise || applies(drawn);
        let place = |drawn: T| if stays(drawn) { None } else { choice.place(otherwise) };
        self.policy.weights.choose(choice, &mut self.rng, place)
    }

    /// One of the options, weighed and then perhaps replaced by another one.
    #[inline]
    pub fn choose_instead<T: Copy + PartialEq>(
        &mut self,
        choice: &Choice<T>,
        weigh: impl Fn(T, u32) -> u32,
        instead: impl Fn(T) -> T,
    ) -> T {
        let place = |drawn: T| match instead(drawn) {
            other if other == drawn => None,
            other => choice.place(other),
        };
        self.policy.weights.choose_weighed(choice, &mut self.rng, weigh, place)
    }
}

/// Declares the choices of a file as statics, and `CHOICES`, the list of them: odds in percent, choices among values
/// of a type, and choices for which an enum is made. Options are named after their variants, in kebab case.
///
/// ```text
/// choices! {
///     odds {
///         COMMA = "query.comma": 30,
///     }
///     choose {
///         JOIN_KIND: JoinKind = "query.join.kind" { Inner: 45, Left: 30 },
///     }
///     choose enum {
///         RELATIONS: Relations = "query.relations" { One: 5, Two: 4, Most: 1 },
///     }
/// }
/// ```
macro_rules! choices {
    (
        $(odds { $($(#[$odds_doc:meta])* $odds:ident = $odds_name:literal: $percent:literal),* $(,)? })?
        $(choose {
            $($(#[$of_doc:meta])* $of:ident: $of_type:ident = $of_name:literal
                { $($of_option:ident: $of_weight:literal),* $(,)? }),* $(,)?
        })?
        $(choose enum {
            $($(#[$made_doc:meta])* $made:ident: $made_type:ident = $made_name:literal
                { $($made_option:ident: $made_weight:literal),* $(,)? }),* $(,)?
        })?
    ) => {
        $($($(#[$odds_doc])* pub(crate) static $odds: $crate::generate::Odds =
            $crate::generate::Odds::new($odds_name, $percent);)*)?
        $($($(#[$of_doc])* pub(crate) static $of: $crate::generate::Choice<$of_type> =
            $crate::generate::Choice::new(
                $of_name,
                &[$(($of_type::$of_option, stringify!($of_option), $of_weight)),*],
            );)*)?
        $($(
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub(crate) enum $made_type { $($made_option),* }
            $(#[$made_doc])* pub(crate) static $made: $crate::generate::Choice<$made_type> =
                $crate::generate::Choice::new(
                    $made_name,
                    &[$(($made_type::$made_option, stringify!($made_option), $made_weight)),*],
                );
        )*)?
        /// Every choice of this file.
        pub(crate) static CHOICES: &[&dyn $crate::generate::Named] = &[
            $($(&$odds),*,)?
            $($(&$of),*,)?
            $($(&$made),*,)?
        ];
    };
}
pub(crate) use choices;
