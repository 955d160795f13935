//! Finds arguments if the engine does not list types.
//!
//! Combinations of types are tried in an order that finds most functions soon: common combinations, one type for
//! all arguments, then whatever is nearest to the front of the list of types, and what worked with fewer arguments
//! plus one or two more. If the engine converts operands, a combination that works is widened one argument at a
//! time. Otherwise each combination that works is a signature of its own.

use super::{Candidate, Found, MOST_SIGNATURES, Outcome, Prober, Tried, constant_tries, is_constant};
use crate::catalog::{Operation, Signature, Why};
use crate::dialect::Feature;
use crate::engine::Trouble;
use crate::sql::Value;

impl Prober<'_, '_> {
    /// An operation for each number of arguments that is accepted.
    pub(super) fn search(
        &mut self,
        candidate: &Candidate,
        least: usize,
        most: usize,
    ) -> Result<Vec<Operation>, Trouble> {
        let mut operations = Vec::new();
        let mut working: Vec<Vec<u16>> = Vec::new();
        let mut failure = Found::default();
        for arity in least..=most {
            let mut found = Found::default();
            let started = working.len();
            self.search_arity(candidate, arity, &mut working, &mut found)?;
            // A name that only our own list has is nothing of the engine.
            let unknown =
                found.error.as_ref().is_some_and(|error| self.plan.unknown_name.contains(&error.code));
            if unknown && operations.is_empty() && found.signatures.is_empty() {
                return Ok(Vec::new());
            }
            let done = found.fatal;
            if found.signatures.is_empty() {
                if found.reason.is_some() || failure.error.is_none() {
                    failure = found;
                }
            } else {
                working.truncate(started + 4);
                operations.push(self.operation(candidate, found));
            }
            if done {
                break;
            }
        }
        if operations.is_empty() {
            operations.push(self.operation(candidate, failure));
        }
        Ok(operations)
    }

    fn search_arity(
        &mut self,
        candidate: &Candidate,
        arity: usize,
        working: &mut Vec<Vec<u16>>,
        found: &mut Found,
    ) -> Result<(), Trouble> {
        let typed = self.dialect.is_typed();
        let tuples = self.tuples(arity, working);
        let constant_tries = constant_tries(candidate, arity);
        for constants in constant_tries {
            for tuple in &tuples {
                if found.signatures.iter().any(|signature| covers(signature, tuple)) {
                    continue;
                }
                let tried: Vec<Tried> = tuple
                    .iter()
                    .enumerate()
                    .map(|(at, ty)| (*ty, self.is_fixed(*ty) || is_constant(*constants, at, tuple)))
                    .collect();
                if self.note(candidate, &tried, found)? {
                    working.push(tuple.clone());
                    if !typed && let Some(signature) = found.signatures.pop() {
                        match self.widen(candidate, signature)? {
                            Some(widened) => found.signatures.push(widened),
                            None => {
                                found.reason = Some((Why::OrderDependent, String::new()));
                                found.fatal = true;
                            }
                        }
                    }
                }
                // Neither a name nor a number of arguments gets better with other types.
                let wrong_arity = found.error.as_ref().is_some_and(|error| {
                    self.plan.wrong_arity.contains(&error.code)
                        || self.plan.unknown_name.contains(&error.code)
                });
                let enough = if typed { MOST_SIGNATURES / 2 } else { 3 };
                if found.fatal || found.signatures.len() >= enough {
                    return Ok(());
                }
                if wrong_arity && found.signatures.is_empty() {
                    return Ok(());
                }
            }
            if !found.signatures.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn tuples(&self, arity: usize, working: &[Vec<u16>]) -> Vec<Vec<u16>> {
        let count = self.types.len() as u16;
        let mut tuples: Vec<Vec<u16>> = Vec::new();
        for shape in self.plan.shapes.iter().filter(|shape| shape.len() == arity) {
            tuples.extend(shape.iter().map(|name| self.type_named(name)).collect::<Option<Vec<u16>>>());
        }
        tuples.extend((0..count).map(|ty| vec![ty; arity]));
        for shorter in working.iter().rev().filter(|shorter| shorter.len() + 1 == arity) {
            tuples.extend((0..count).map(|ty| [&shorter[..], &[ty]].concat()));
        }
        for shorter in working.iter().rev().filter(|shorter| shorter.len() + 2 == arity && arity > 2).take(2)
        {
            let pairs = (0..count).flat_map(|a| (0..count).map(move |b| [a, b]));
            tuples.extend(pairs.map(|pair| [&shorter[..], &pair].concat()));
        }
        let mut sum = 0;
        while arity > 1 && tuples.len() < 2 * self.plan.tries && sum <= arity as u16 * (count - 1) {
            with_sum(arity, sum, count, &mut Vec::new(), &mut tuples);
            sum += 1;
        }
        let mut seen = std::collections::BTreeSet::new();
        tuples.retain(|tuple| tuple.len() == arity && seen.insert(tuple.clone()));
        tuples.truncate(self.plan.tries);
        tuples
    }

    /// Other types that each argument takes, as far as they also go with what the others take. None: it
    /// depends on the order of rows for some type, and where types are dynamic any column may hold that.
    fn widen(&mut self, candidate: &Candidate, signature: Signature) -> Result<Option<Signature>, Trouble> {
        let mut wide = signature;
        let told = wide.returns.filter(|ty| self.types[*ty as usize].pseudo);
        // What the first tuple gives may be NULL throughout, or of one kind by chance.
        let mut answers: Vec<Value> = Vec::new();
        let base: Vec<u16> = wide.args.iter().map(|arg| arg.types[0]).collect();
        for at in 0..base.len() {
            for ty in 0..self.types.len() as u16 {
                if ty == base[at] {
                    continue;
                }
                let last: Vec<u16> = wide.args.iter().map(|arg| *arg.types.last().unwrap_or(&0)).collect();
                let mut accepted = true;
                for others in [&base, &last] {
                    let constant = |at: usize| wide.args[at].constant;
                    let mut tuple: Vec<Tried> =
                        others.iter().enumerate().map(|(at, ty)| (*ty, constant(at))).collect();
                    tuple[at].0 = ty;
                    match self.attempt(candidate, &tuple)? {
                        Outcome::Works { fragile, rows } => {
                            accepted &= wide.fragile || !fragile;
                            answers.extend(rows.values.into_iter().filter(|value| !value.is_null()));
                        }
                        Outcome::Fails(_) => accepted = false,
                        Outcome::Unusable(Why::OrderDependent, _)
                            if self.dialect.can(Feature::DynamicTyping) =>
                        {
                            return Ok(None);
                        }
                        Outcome::Unusable(..) => accepted = false,
                    }
                    if !accepted || base == last {
                        break;
                    }
                }
                if accepted {
                    wide.args[at].types.push(ty);
                }
            }
            wide.args[at].types.sort_unstable();
        }
        if told.is_none() && !answers.is_empty() {
            let first = wide.returns.map(|ty| self.types[ty as usize].kind);
            let told = self.by_kind(&answers);
            wide.returns = told.filter(|ty| first.is_none_or(|kind| kind == self.types[*ty as usize].kind));
        }
        Ok(Some(wide))
    }
}

/// All tuples whose numbers add up to `sum`.
fn with_sum(left: usize, sum: u16, count: u16, begun: &mut Vec<u16>, tuples: &mut Vec<Vec<u16>>) {
    if left == 1 {
        if sum < count {
            tuples.push([&begun[..], &[sum]].concat());
        }
        return;
    }
    for first in 0..=sum.min(count - 1) {
        begun.push(first);
        with_sum(left - 1, sum - first, count, begun, tuples);
        begun.pop();
    }
}

fn covers(signature: &Signature, tuple: &[u16]) -> bool {
    signature.args.len() == tuple.len()
        && std::iter::zip(&signature.args, tuple).all(|(arg, ty)| arg.types.contains(ty))
}
