//! Campaigns of Dissent: worker processes hunt for logic bugs in one database. Findings are saved to disk, reduced,
//! grouped into bugs and compared with the known bugs.
//!
//! ```no_run
//! use std::time::Duration;
//! use dissent_campaign::Campaign;
//!
//! fn main() -> anyhow::Result<()> {
//!     // Workers are processes of this very program: this has to come first.
//!     dissent_campaign::run_worker_if_asked();
//!     let outcome = Campaign::builder().target("sqlite").time(Duration::from_secs(60)).run()?;
//!     println!("{} new bugs", outcome.new_bugs().count());
//!     Ok(())
//! }
//! ```
//!
//! Start with [`Campaign`]. [`Config`] has all its options, and an [`Observer`] sees everything it reports. For a single
//! finding there are [`replay`], [`reduce`], [`date`] (in which versions it fails) and [`add_known`]. [`ScriptCheck`] runs
//! the oracles on queries that a user wrote. [`store`] and [`record`] read what is on disk.
//!
//! Errors are [`anyhow::Error`]s: sentences for the user. Only their text is part of the interface.

#![warn(missing_docs)]

mod bench;
mod bugs;
mod builds;
mod campaign;
mod catalog;
mod check;
mod config;
mod counted;
mod covered;
mod crash;
mod dating;
mod intake;
mod known;
mod merge;
mod observer;
mod pool;
mod profile;
pub mod record;
mod reducer;
mod regroup;
mod remembered;
mod replay;
mod rerun;
mod scripts;
mod share;
mod sorter;
pub mod store;
mod stretch;
mod summary;
mod supervisor;
mod system;
mod tested;
mod worker;

pub use bench::{Against, Bench, Measured, Round, Scanned, Way, bench_config, scan};
pub use bugs::Bug;
pub use builds::{Build, own_builds, released_versions};
pub use campaign::{Builder, Campaign, Join, Outcome};
pub use catalog::{KeptCatalog, obtain as obtain_catalog};
pub use check::{ScriptCheck, read_scripts};
pub use config::{Allowance, Config};
pub use covered::{Covered, Seen};
pub use dating::{date, date_builds};
pub use known::{
    KnownEntry, NewEntry, add_known, all_known_of, is_dialect, known_dialects, known_entries, known_of,
    remove_known,
};
pub use merge::{Told, gather, merge};
pub use observer::{Doing, Observer, Phase, Progress, Stage, Staged, Step, WorkerView};
pub use pool::interrupt;
pub use profile::read_profile;
pub use reducer::{Reduced, Watcher, reduce};
pub use regroup::regroup;
pub use remembered::Remembered;
pub use replay::{Replay, replay};
pub use rerun::run_scripts;
pub use share::{Arrival, Lease, Next, Pulse, Share, SharedBug};
pub use stretch::{Shard, Stretch};
pub use summary::{
    FindingLine, GuideFigures, OperationFigures, OracleFigures, PredicateFigures, Running, Summary,
    TimeFigures,
};
pub use system::now;
pub use tested::{Tested, target_in_file};
pub use worker::protocol::{CheckOutcome, Difference, Label, OracleTally, Replayed, Script};
pub use worker::{report_panics, run_worker_if_asked};
