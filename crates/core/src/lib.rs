//! The pure part of Dissent: no I/O, no clock, no ambient randomness.
//!
//! A test case walks through these modules in order: [`gen`](mod@generate) builds statements over [`sql`] for a
//! [`dialect`]; an [`oracle`] proposes a subject and checks it in a [`session`] over an [`engine`].

pub mod catalog;
pub mod check;
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
