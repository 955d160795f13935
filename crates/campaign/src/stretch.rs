//! Which databases a worker visits. All of a campaign's are numbered; shards and workers share them out by arithmetic.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// Databases to visit: the first, and every `step`th behind it, before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The number of the first database.
    pub first: u64,
    /// How far it is to the next.
    pub step: u64,
    /// Where it ends; none: never.
    pub end: Option<u64>,
}

impl Stretch {
    /// Databases that follow each other, before `end`.
    pub fn between(first: u64, end: u64) -> Stretch {
        Stretch { first, step: 1, end: Some(end) }
    }

    /// Whether nothing is left of it.
    pub fn is_empty(&self) -> bool {
        self.end.is_some_and(|end| self.first >= end)
    }

    /// The part from a database on.
    pub(crate) fn from(self, first: u64) -> Stretch {
        Stretch { first, ..self }
    }

    pub(crate) fn contains(&self, database: u64) -> bool {
        database >= self.first && self.end.is_none_or(|end| database < end)
    }
}

impl Iterator for Stretch {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let database = (!self.is_empty()).then_some(self.first)?;
        self.first += self.step;
        Some(database)
    }
}

/// One of several parts of a campaign, each for another machine: together they visit every database, and each database
/// belongs to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 0.
    pub index: u64,
    /// How many there are.
    pub count: u64,
}

/// Where services that start one command several times write which of them it is: the variables with the number and the
/// count, and the number of the first.
const SERVICES: [(&str, Option<&str>, u64); 4] = [
    // GitLab
    ("CI_NODE_INDEX", Some("CI_NODE_TOTAL"), 1),
    ("CIRCLE_NODE_INDEX", Some("CIRCLE_NODE_TOTAL"), 0),
    ("BUILDKITE_PARALLEL_JOB", Some("BUILDKITE_PARALLEL_JOB_COUNT"), 0),
    // A Kubernetes Job with completionMode: Indexed
    ("JOB_COMPLETION_INDEX", None, 0),
];

impl Shard {
    /// Reads `2/8` (the second of eight), `auto` or `auto/8`: the latter ask the environment.
    pub fn read(text: &str, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
        match text.split_once('/').map_or((text, None), |(index, count)| (index, Some(count))) {
            ("auto", count) => Shard::of_service(count, variable),
            _ => text.parse(),
        }
    }

    fn of_service(count: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
        let set = SERVICES.iter().find_map(|service| Some((service, variable(service.0)?)));
        let Some(((name, total, first), index)) = set else {
            let names: Vec<&str> = SERVICES.iter().map(|service| service.0).collect();
            bail!("none of {} is set; name the shard: --shard 2/8", names.join(", "));
        };
        let count = count.map(str::to_string).or_else(|| variable((*total)?));
        let count = count.with_context(|| {
            format!("{name} says which shard this is, but not how many there are: use --shard auto/8")
        })?;
        let index: u64 = index.parse().with_context(|| format!("{name} is '{index}', not a number"))?;
        let number =
            (index + 1).checked_sub(*first).with_context(|| format!("{name} is less than {first}"))?;
        format!("{number}/{count}").parse()
    }
}

impl FromStr for Shard {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Shard> {
        let numbers =
            text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { index: number - 1, count }),
            Some((_, count)) => bail!("there is no shard '{text}': shards are 1/{count} to {count}/{count}"),
            None => bail!("invalid shard '{text}'; the second of eight is 2/8"),
        }
    }
}

impl Shard {
    /// Whether there are databases that belong to both.
    pub(crate) fn overlaps(self, other: Shard) -> bool {
        let (mut common, mut rest) = (self.count, other.count);
        while rest > 0 {
            (common, rest) = (rest, common % rest);
        }
        self.index % common == other.index % common
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_overlap_if_a_database_belongs_to_both() {
        let databases = |shard: Shard| (0..60).filter(move |database| database % shard.count == shard.index);
        let all = || (1..=6).flat_map(|count| (0..count).map(move |index| Shard { index, count }));
        for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
            let have_common = databases(one).any(|database| databases(other).any(|its| its == database));
            assert_eq!(one.overlaps(other), have_common, "{one} and {other}");
        }
    }

    #[test]
    fn shards_are_counted_from_one_and_refused_beyond_the_last() {
        assert_eq!("2/8".parse::<Shard>().unwrap(), Shard { index: 1, count: 8 });
        assert_eq!(Shard { index: 7, count: 8 }.to_string(), "8/8");
        let refusal = |text: &str| text.parse::<Shard>().unwrap_err().to_string();
        assert_eq!(refusal("9/8"), "there is no shard '9/8': shards are 1/8 to 8/8");
        assert_eq!(refusal("0/8"), "there is no shard '0/8': shards are 1/8 to 8/8");
        assert_eq!(refusal("half"), "invalid shard 'half'; the second of eight is 2/8");
    }

    #[test]
    fn services_say_which_shard_this_is() {
        let read = |text: &str, set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.to_string());
            Shard::read(text, value).map(|shard| shard.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(read("auto", &[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")]).unwrap(), "1/4");
        assert_eq!(read("auto", &[("CIRCLE_NODE_INDEX", "3"), ("CIRCLE_NODE_TOTAL", "4")]).unwrap(), "4/4");
        assert_eq!(read("auto/16", &[("JOB_COMPLETION_INDEX", "0")]).unwrap(), "1/16");
        let unknown = read("auto", &[("JOB_COMPLETION_INDEX", "0")]).unwrap_err();
        assert_eq!(
            unknown,
            "JOB_COMPLETION_INDEX says which shard this is, but not how many there are: use --shard auto/8"
        );
        assert!(read("auto", &[]).unwrap_err().starts_with("none of CI_NODE_INDEX, "));
        assert!(read("auto/4", &[("JOB_COMPLETION_INDEX", "4")]).is_err());
    }

    #[test]
    fn a_stretch_is_its_databases() {
        assert_eq!(Stretch { first: 1, step: 3, end: Some(10) }.collect::<Vec<_>>(), [1, 4, 7]);
        assert_eq!(Stretch::between(4, 4).count(), 0);
    }
}
