//! STORAGE: the same rows, stored differently, give the same results. Generalises [`rowid`](super::rowid).
//!
//! ```sql
//! CREATE TABLE t0(c0 INT, c1 TEXT) ENGINE=InnoDB; INSERT INTO t0 …;
//! CREATE TABLE twin0(c0 INT, c1 TEXT) ENGINE=MEMORY; INSERT INTO twin0 …;   -- the same statements
//! SELECT c0 FROM t0 WHERE c1 > 'a';
//! SELECT c0 FROM twin0 WHERE c1 > 'a';
//! ```
//!
//! The dialect's `table_options` list the storage options; the conditions are in [`twin`].

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
pub struct Storage;

impl Oracle for Storage {
    fn name(&self) -> &'static str {
        "storage"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows from a table and from a twin that is stored differently"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        dialect.table_options.iter().any(|option| !option.keyed)
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        twin::propose(self.name(), generator, |option| !option.keyed)
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        twin::check(subject, session)
    }

    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        twin::features(case, false)
    }

    fn switch(&self, case: &TestCase, _: &Dialect) -> Option<Switch> {
        twin::switch(case)
    }

    fn complaint(&self, case: &TestCase) -> String {
        twin::complaint(case)
    }
}
