//! ROWID: compares a table with its WITHOUT ROWID twin, whose rows are stored by primary
//! key (Liang, Liu and Hu, "Detecting Logical Bugs of DBMS with Coverage-based Guidance", 2022).
//!
//! ```sql
//! CREATE TABLE t0(c0 INT NOT NULL PRIMARY KEY, c1 INT); INSERT INTO t0 …;
//! CREATE TABLE twin0(c0 INT NOT NULL PRIMARY KEY, c1 INT) WITHOUT ROWID; INSERT INTO twin0 …;
//! SELECT * FROM t0 WHERE c0 = 9 OR c1 = 5;
//! SELECT * FROM twin0 WHERE c0 = 9 OR c1 = 5;
//! ```
//!
//! Conditions (SOUNDNESS 6), besides those of every [`twin`]: the key is declared NOT NULL, every INSERT has a value
//! for each column, and the key is not a single `INTEGER PRIMARY KEY`, which is an alias of the rowid and accepts
//! other values.

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::engine::Stop;
use crate::finding::{Switch, Verdict};
use crate::generate::Generator;
use crate::oracle::Oracle;
use crate::oracle::kit::twin;
use crate::session::Session;
use crate::subject::{Proposal, Subject, TestCase};

/// See [the module](self).
pub struct Rowid;

impl Oracle for Rowid {
    fn name(&self) -> &'static str {
        "rowid"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows from a table and from its WITHOUT ROWID twin"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        dialect.table_options.iter().any(|option| option.keyed)
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        twin::propose(self.name(), generator, |option| option.keyed)
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        twin::check(subject, session)
    }

    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        twin::features(case, true)
    }

    fn switch(&self, case: &TestCase, _: &Dialect) -> Option<Switch> {
        twin::switch(case)
    }

    fn complaint(&self, case: &TestCase) -> String {
        twin::complaint(case)
    }
}
