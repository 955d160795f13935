//! `dissent stats`: tables of what campaigns, reductions and oracles achieve.

mod compare;
mod counters;
mod coverage;
mod drawn;
mod found_bugs;
mod growth;
mod known_bugs;
mod oracles;
mod reduction;
mod validity;

use crate::args::{StatsArgs, StatsTable};

pub fn run(args: StatsArgs) -> anyhow::Result<u8> {
    match args.table {
        StatsTable::Oracles { campaigns } => oracles::run(campaigns)?,
        StatsTable::Skips { campaigns } => oracles::skips(campaigns)?,
        StatsTable::Counters { campaigns } => counters::run(campaigns)?,
        StatsTable::Validity { campaigns } => validity::run(&campaigns)?,
        StatsTable::Drawn { campaigns } => drawn::run(&campaigns)?,
        StatsTable::Compare { campaigns } => compare::run(&campaigns)?,
        StatsTable::Growth { campaigns, out } => growth::run(&campaigns, out.as_deref())?,
        StatsTable::Coverage { campaign, target, group } => {
            coverage::run(&campaign, target.as_deref(), group.as_deref())?
        }
        StatsTable::Reduction { campaigns } => reduction::run(campaigns)?,
        StatsTable::FoundBugs { scripts, out } => found_bugs::run(&scripts, &out)?,
        StatsTable::KnownBugs { scripts, oracles, limits } => known_bugs::run(&scripts, &oracles, &limits)?,
    }
    Ok(crate::NOTHING_FOUND)
}
