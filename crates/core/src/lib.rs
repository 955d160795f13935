//! The pure part of Dissent: no I/O, no clock, no ambient randomness.
//!
//! A test case goes through these modules in order: [`generate`] builds statements over the trees of [`sql`] for a
//! [`dialect`]; an [`oracle`] proposes a subject and checks it in a [`session`] over an [`engine`]. A failure is a
//! [`finding`]: [`mod@reduce`] makes it small, [`triage`] groups it with others, and [`report`] writes it down. [`walk`]
//! does all of that for one database after another.
//!
//! There are three ways to use this crate:
//!
//! - Test your own engine: implement [`engine::Engine`], and pass a [`session::Session`] over it to
//!   [`walk::Walk::database`].
//! - Write your own oracle: implement [`oracle::Oracle`] and add it to [`walk::Walk::oracles`].
//! - Work with findings: read a [`finding::Finding`] from JSON, [`walk::replay`] it, write it with [`report`].
//!
//! The crate `dissent-engine` has the real databases and examples of the first two. `dissent-campaign` runs many walks at
//! once, each in its own process.

#![warn(missing_docs)]

pub mod catalog;
pub mod check;
pub mod confine;
pub mod database;
pub mod dialect;
mod embedded;
pub mod engine;
pub mod features;
pub mod finding;
pub mod generate;
pub mod guide;
pub mod hash;
pub mod import;
pub mod mutate;
pub mod oracle;
pub mod probe;
pub mod profile;
pub mod reduce;
pub mod render;
pub mod report;
pub mod rng;
pub mod seeds;
pub mod session;
pub mod sql;
pub mod state;
pub mod subject;
pub mod triage;
pub mod walk;

/// The example in there compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;
