//! How far a campaign is: `position.json`, from which a campaign that was killed goes on.

use serde::{Deserialize, Serialize};

/// Written after each finding and now and then in between. Every finding that is on disk comes from a
/// database before these, so none is found twice; what a kill loses is work without findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// For each worker the database it comes to next.
    pub next_databases: Vec<u64>,
    /// For each worker the cases it may still run, if that is limited.
    pub cases_left: Vec<Option<u64>>,
}
