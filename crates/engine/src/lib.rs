//! Real databases behind Dissent's `Engine` trait: obtained, started, spoken to.
//!
//! A user names a [`Target`] (`sqlite@3.30.1`); obtaining it gives a [`Source`], which can be handed to
//! another process; opening that gives an engine.

mod error;
mod source;
pub mod sqlite;
mod target;

pub use error::EngineError;
pub use source::Source;
pub use target::{Step, Target};
