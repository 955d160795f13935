//! Everything but the oracles and what every engine must do: what is drawn, read, kept, reduced and printed, on real
//! engines. One program, because linking one is quicker than linking seven.

#[path = "../common/mod.rs"]
mod common;

mod catalog;
mod generation;
mod guided;
mod import;
mod known_bugs;
mod reduction;
mod rendering;
mod statistics;
mod walk;
mod watched;
