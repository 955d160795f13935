//! Minimizes a database that is kept: the statements and queries that show what was new about it.

use super::Trail;
use crate::engine::{Reply, Stop};
use crate::guide::{Entry, Feature};
use crate::mutate;
use crate::session::Session;
use crate::sql::{Query, Statement};

/// Queries of an entry that was not made small.
const MOST_QUERIES: usize = 20;

/// A query, and what it was the first to show.
pub(super) struct Asked {
    pub query: Query,
    pub features: Vec<Feature>,
}

/// The entry of a database whose queries are known to have shown something, with those of them that showed most.
pub(super) fn entry_of(mut setup: Vec<Statement>, built: Vec<Feature>, mut asked: Vec<Asked>) -> Entry {
    setup.retain(mutate::is_material);
    asked.sort_by_key(|asked| std::cmp::Reverse(asked.features.len()));
    asked.truncate(MOST_QUERIES);
    let mut entry = Entry { setup, features: built, ..Entry::default() };
    for Asked { query, features } in asked {
        entry.queries.push(query);
        entry.features.extend(features);
    }
    entry
}

/// Runs parts of a database again.
pub(super) struct Rehearsal<'r, 'e> {
    pub trail: &'r mut Trail,
    pub session: &'r mut Session<'e>,
}

impl Rehearsal<'_, '_> {
    /// The statements and queries that show what is new; none if it was an oracle's own question that did. Where there is
    /// no time to find out, all of them are kept.
    pub fn smallest(
        &mut self,
        mut setup: Vec<Statement>,
        asked: Vec<Asked>,
        new: Vec<Feature>,
    ) -> Result<Option<Entry>, Stop> {
        setup.retain(mutate::is_material);
        if !self.afford(setup.len(), asked.len()) {
            return Ok(Some(entry_of(setup, Vec::new(), asked)));
        }
        let mut entry = Entry { setup, ..Entry::default() };
        if !self.rebuild(&entry.setup)? {
            return Ok(None);
        }
        let mut missing = new;
        for Asked { query, .. } in asked {
            if missing.is_empty() {
                break;
            }
            let seen = self.repeat(&query)?;
            if found(&mut missing, seen, &mut entry.features) {
                entry.queries.push(query);
            }
        }
        if entry.features.is_empty() {
            return Ok(None);
        }
        self.leave_out(&mut entry)?;
        Ok(Some(entry))
    }

    /// Whether so many statements and queries can be run again; if so, they are paid for.
    fn afford(&mut self, statements: usize, queries: usize) -> bool {
        let price = self.session.dialect().costs.rehearsal(statements, queries);
        let affordable = self.trail.allowance >= price;
        if affordable {
            self.trail.allowance -= price;
        }
        affordable
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
                if !self.afford(entry.setup.len(), entry.queries.len()) {
                    return Ok(());
                }
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
        let mut seen = Vec::new();
        for query in &entry.queries {
            seen.append(&mut self.repeat(query)?);
        }
        let mut missing = entry.features.clone();
        found(&mut missing, seen, &mut Vec::new());
        Ok(missing.is_empty())
    }

    /// `false`: a statement failed; others were about what it left out.
    fn rebuild(&mut self, setup: &[Statement]) -> Result<bool, Stop> {
        self.session.reset()?;
        for statement in setup {
            if let Reply::Failed(_) = self.session.build(statement)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks a query again; gives what it shows.
    fn repeat(&mut self, query: &Query) -> Result<Vec<Feature>, Stop> {
        self.session.query(query)?;
        let Some(guide) = &mut self.trail.guide else { return Ok(Vec::new()) };
        guide.look(query, self.session)
    }
}

/// Moves what was seen from one list to the other; `true` if there was anything.
fn found(missing: &mut Vec<Feature>, mut seen: Vec<Feature>, found: &mut Vec<Feature>) -> bool {
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
