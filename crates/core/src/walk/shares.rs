//! How the oracles of a hunt share the engine's time.
//!
//! Each is drawn in proportion to its share and the inverse of what a subject of it costs, so that all come to their
//! part of the time. What a subject costs is data ([`crate::dialect::Costs`]), not measured in the run: a database's
//! cases depend on its number alone, whatever the machine, the other workers and the databases before it did.

use crate::dialect::Costs;
use crate::generate::Policy;
use crate::oracle::Oracle;
use crate::rng::Rng;

/// The largest weight of an oracle in a draw.
const MOST: f64 = 1_000_000.0;

/// The odds of the oracles of a hunt.
pub(super) struct Shares(Vec<u32>);

impl Shares {
    pub fn new(oracles: &[&'static dyn Oracle], policy: &Policy, costs: &Costs) -> Shares {
        let odds = |oracle: &&'static dyn Oracle| {
            f64::from(policy.share(oracle.name())) / costs.subject(oracle.name()) as f64
        };
        let odds: Vec<f64> = oracles.iter().map(odds).collect();
        let most = odds.iter().copied().fold(0.0, f64::max);
        // A profile may leave no oracle anything. Something has to be drawn.
        let weight = |odds: &f64| match most > 0.0 {
            true if *odds > 0.0 => (MOST * odds / most).max(1.0) as u32,
            true => 0,
            false => 1,
        };
        Shares(odds.iter().map(weight).collect())
    }

    /// The place of one of the oracles.
    pub fn draw(&self, rng: &mut Rng) -> usize {
        rng.weighted(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;

    fn drawn(policy: &Policy) -> Vec<usize> {
        let oracles = ["norec", "index", "edc"].map(|name| oracle::by_name(name).unwrap());
        let costs = toml::from_str("[oracles]\nnorec = 10\nindex = 40\nedc = 1000").unwrap();
        let shares = Shares::new(&oracles, policy, &costs);
        let mut rng = Rng::new(1);
        let mut drawn = vec![0; 3];
        (0..100_000).for_each(|_| drawn[shares.draw(&mut rng)] += 1);
        drawn
    }

    /// Draws times costs, in parts of the first one's.
    fn spent(drawn: &[usize]) -> Vec<usize> {
        let spent = |(at, cost): (usize, &usize)| drawn[at] * cost;
        let spent: Vec<usize> = [10, 40, 1000].iter().enumerate().map(spent).collect();
        spent.iter().map(|part| (10 * part + spent[0] / 2) / spent[0]).collect()
    }

    #[test]
    fn oracles_come_to_their_shares_whatever_they_cost() {
        let even = spent(&drawn(&Policy::default()));
        assert!(even.iter().all(|part| (9..=11).contains(part)), "{even:?}");
    }

    #[test]
    fn a_profile_changes_the_shares() {
        let profile = |weights: &[(&str, u32)]| {
            let weights = weights.iter().map(|(name, weight)| (name.to_string(), *weight));
            Policy::profile(&weights.collect()).unwrap()
        };
        let tripled = spent(&drawn(&profile(&[("oracle.edc", 3)])));
        assert!((27..=33).contains(&tripled[2]), "{tripled:?}");
        assert_eq!(drawn(&profile(&[("oracle.edc", 0)]))[2], 0);
        let none = profile(&[("oracle.norec", 0), ("oracle.index", 0), ("oracle.edc", 0)]);
        assert!(drawn(&none).iter().all(|times| *times > 30_000));
    }
}
