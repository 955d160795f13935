//! Minimizes a database that is kept: the statements and queries that show what was new about it.

use super::Trail;
use crate::engine::{Reply, Stop};
use crate::guide::{Entry, Feature};
use crate::mutate;
use crate::session::Session;
use crate::sql::{Query, Statement};

/// Runs parts of a database again.
pub(super) struct Rehearsal<'r, 'e> {
    pub trail: &'r mut Trail,
    pub session: &'r mut Session<'e>,
}

impl Rehearsal<'_, '_> {
    /// The statements and queries that show what is new; none if it was an oracle's own question that did.
    pub fn smallest(
        &mut self,
        mut setup: Vec<Statement>,
        asked: Vec<Query>,
        new: Vec<Feature>,
        depth: u32,
    ) -> Result<Option<Entry>, Stop> {
        setup.retain(mutate::is_material);
        let mut missing = new;
        let mut entry = Entry { setup, queries: Vec::new(), depth, features: Vec::new() };
        if !self.rebuild(&entry.setup)? {
            return Ok(None);
        }
        self.take_missing(&mut missing, &mut entry.features);
        for query in asked {
            if missing.is_empty() {
                break;
            }
            self.repeat(&query)?;
            if self.take_missing(&mut missing, &mut entry.features) {
                entry.queries.push(query);
            }
        }
        if entry.features.is_empty() {
            return Ok(None);
        }
        self.leave_out(&mut entry)?;
        Ok(Some(entry))
    }

    /// Leaves statements out as long as the entry still shows what it is kept for: halves first, then single ones.
    fn leave_out(&mut self, entry: &mut Entry) -> Result<(), Stop> {
        let mut chunk = entry.setup.len().div_ceil(2);
        while chunk > 0 {
            // Without its table, what follows would fail.
            let makes_table = |statement: &Statement| matches!(statement, Statement::CreateTable(_));
            let mut spare: Vec<usize> =
                (0..entry.setup.len()).filter(|at| !makes_table(&entry.setup[*at])).collect();
            while !spare.is_empty() {
                let cost = (entry.setup.len() + 2 * entry.queries.len()) as u64;
                if self.trail.allowance < cost {
                    return Ok(());
                }
                self.trail.allowance -= cost;
                // The last ones first: nothing was built on them.
                let out = spare.split_off(spare.len().saturating_sub(chunk));
                let kept = entry.setup.iter().enumerate().filter(|(at, _)| !out.contains(at));
                let fewer: Vec<Statement> = kept.map(|(_, statement)| statement.clone()).collect();
                if self.shows(&fewer, entry)? {
                    entry.setup = fewer;
                }
            }
            chunk /= 2;
        }
        Ok(())
    }

    /// Whether an entry shows what it is kept for without some of its statements.
    fn shows(&mut self, setup: &[Statement], entry: &Entry) -> Result<bool, Stop> {
        if !self.rebuild(setup)? {
            return Ok(false);
        }
        for query in &entry.queries {
            self.repeat(query)?;
        }
        let mut missing = entry.features.clone();
        self.take_missing(&mut missing, &mut Vec::new());
        Ok(missing.is_empty())
    }

    /// `false`: a statement failed; others were about what it left out.
    fn rebuild(&mut self, setup: &[Statement]) -> Result<bool, Stop> {
        self.session.reset()?;
        self.trail.take_seen(self.session);
        for statement in setup {
            if let Reply::Failed(_) = self.session.build(statement)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn repeat(&mut self, query: &Query) -> Result<(), Stop> {
        self.session.query(query)?;
        match &mut self.trail.guide {
            Some(guide) => Ok(guide.asked(query, self.session)?),
            None => Ok(()),
        }
    }

    /// Moves what was seen since the last time from one list to the other; `true` if there was anything.
    fn take_missing(&mut self, missing: &mut Vec<Feature>, found: &mut Vec<Feature>) -> bool {
        let mut seen = self.trail.take_seen(self.session);
        seen.sort_unstable();
        let before = found.len();
        missing.retain(|feature| {
            let shown = seen.binary_search(feature).is_ok();
            if shown {
                found.push(*feature);
            }
            !shown
        });
        found.len() > before
    }
}
