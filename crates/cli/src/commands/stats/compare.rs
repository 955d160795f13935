//! `dissent stats compare`: hunts side by side.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use dissent_campaign::store::{self, CampaignFile};
use dissent_campaign::{Config, record};
use dissent_core::finding::Finding;
use dissent_core::guide;
use dissent_core::report::compare::{Run, compare};
use dissent_core::report::numbers::counted;

pub fn run(campaigns: &[PathBuf]) -> anyhow::Result<()> {
    let about: Vec<CampaignFile> =
        campaigns.iter().map(|campaign| store::read_campaign(campaign)).collect::<anyhow::Result<_>>()?;
    let ways = names(&about.iter().map(|about| Way::of(&about.config)).collect::<Vec<_>>());
    let runs = campaigns.iter().zip(ways).map(|(campaign, way)| read(campaign, way));
    let runs: Vec<Run> = runs.collect::<anyhow::Result<_>>()?;
    std::io::stdout().lock().write_all(compare(&runs).as_bytes())?;
    Ok(())
}

/// How a campaign hunted: what may tell it from others, the seed left out.
struct Way {
    target: String,
    oracles: String,
    guide: String,
    seeds: String,
    against: String,
    profile: String,
    jobs: String,
}

impl Way {
    fn of(config: &Config) -> Way {
        let guide = match config.guide {
            guide::Kind::Coverage if config.counts_only => "unguided, counted",
            guide::Kind::Coverage => "guided by coverage",
            guide::Kind::Plan => "guided by plans",
            guide::Kind::None => "unguided",
        };
        let seeds = match (config.seeds.is_empty() && !config.built_in_seeds, config.seeds_only) {
            (true, _) => "no seeds",
            (false, false) => "with seeds",
            (false, true) => "seeds only",
        };
        let against = config.against.as_ref().map(|other| format!("against {other}"));
        Way {
            target: config.target.clone(),
            oracles: config.oracles.join(", "),
            guide: guide.to_string(),
            seeds: seeds.to_string(),
            against: against.unwrap_or_else(|| "alone".to_string()),
            profile: match config.profile.is_empty() {
                true => "default profile".to_string(),
                false => {
                    let choices =
                        config.profile.iter().map(|(choice, weight)| format!("{choice} = {weight}"));
                    choices.collect::<Vec<_>>().join(", ")
                }
            },
            jobs: counted(config.jobs, "worker"),
        }
    }

    fn parts(&self) -> Parts<'_> {
        [&self.target, &self.oracles, &self.guide, &self.seeds, &self.against, &self.profile, &self.jobs]
    }
}

type Parts<'a> = [&'a str; 7];

/// Each way by what not all of them have in common.
fn names(ways: &[Way]) -> Vec<String> {
    let parts: Vec<Parts> = ways.iter().map(Way::parts).collect();
    let differs = |at: usize| parts.iter().map(|parts| parts[at]).collect::<BTreeSet<_>>().len() > 1;
    let telling: Vec<usize> =
        (0..ways.first().map_or(0, |way| way.parts().len())).filter(|at| differs(*at)).collect();
    let name = |parts: &Parts| match telling.as_slice() {
        [] => parts[0].to_string(),
        telling => telling.iter().map(|at| parts[*at]).collect::<Vec<_>>().join(", "),
    };
    parts.iter().map(name).collect()
}

fn read(campaign: &Path, way: String) -> anyhow::Result<Run> {
    let summary = store::read_summary(campaign)?;
    let listed = store::read_bugs(campaign)?;
    let new: BTreeSet<&str> =
        listed.iter().filter(|bug| bug.known.is_none()).map(|bug| bug.id.as_str()).collect();
    let directories = store::finding_directories(campaign)?;
    let is_new = |directory: &&PathBuf| {
        directory.file_name().and_then(|name| name.to_str()).is_some_and(|name| new.contains(name))
    };
    let bugs = directories.iter().filter(is_new).map(|directory| record::read(directory));
    Ok(Run {
        way,
        cpu_seconds: summary.worker_cpu_seconds,
        checks: summary.checks.get("total").copied().unwrap_or_default(),
        seen: summary.guide.map(|guide| guide.features),
        bugs: bugs.collect::<anyhow::Result<Vec<Finding>>>()?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn ways_are_named_by_what_tells_them_apart() {
        let config =
            |target: &str, guide| Config { target: target.to_string(), guide, jobs: 1, ..Config::default() };
        let [unguided, plans] = [guide::Kind::None, guide::Kind::Plan];
        let way = |target: &str, guide| Way::of(&config(target, guide));
        let (a, b) = (way("sqlite", unguided), way("sqlite", plans));
        assert_eq!(names(&[a, b]), ["unguided", "guided by plans"]);
        let (a, b) = (way("sqlite", unguided), way("duckdb", plans));
        assert_eq!(names(&[a, b]), ["sqlite, unguided", "duckdb, guided by plans"]);
        let (a, b) = (way("sqlite", unguided), way("sqlite", unguided));
        assert_eq!(names(&[a, b]), ["sqlite", "sqlite"]);
        let profile = BTreeMap::from([("case.change".to_string(), 50), ("oracle.edc".to_string(), 0)]);
        let (a, b) = (way("sqlite", plans), Way::of(&Config { profile, ..config("sqlite", plans) }));
        assert_eq!(names(&[a, b]), ["default profile", "case.change = 50, oracle.edc = 0"]);
        let (a, b) = (way("sqlite", plans), Way::of(&Config { jobs: 4, ..config("sqlite", plans) }));
        assert_eq!(names(&[a, b]), ["1 worker", "4 workers"]);
    }
}
