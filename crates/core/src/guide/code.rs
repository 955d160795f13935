//! Code coverage: the edges of an instrumented engine.

use super::{FEATURES, Feature, Guide};
use crate::session::Session;

/// The guide that reads the counters of an instrumented engine.
pub struct Code;

impl Guide for Code {
    fn take(&mut self, session: &mut Session, seen: &mut Vec<Feature>) {
        session.take_coverage(&mut |edge| {
            if (edge as usize) < FEATURES {
                seen.push(edge);
            }
        });
    }
}
