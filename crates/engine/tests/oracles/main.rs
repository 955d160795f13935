//! The oracles on real engines: each catches what it was made for, speaks only under its conditions, and finds an engine
//! that has no bug at one with itself. One file per oracle; what several of them share has a file of its own, named by
//! the part of `oracle::kit` that has it.
//!
//! A condition is tested by a case that violates only it: the engine is made to answer wrongly wherever an arm differs
//! from the other, so nothing but the condition stands between the difference and a finding.

#[path = "../common/mod.rs"]
mod common;

mod across;
mod again;
mod atomic;
mod constraints;
mod crash;
mod dml;
mod edc;
mod eet;
mod epsc;
mod gate;
mod identities;
mod index;
mod joinequiv;
mod materialise;
mod norec;
mod order;
mod plan;
mod roundtrip;
mod rowid;
mod storage;
mod tlp;
mod valscope;
mod versions;
