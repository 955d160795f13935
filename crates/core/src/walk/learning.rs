//! What is learned from a database: while it is walked, what each of its cases shows; when it is over, what is kept of it.

use super::keeping::{Asked, Rehearsal, entry_of};
use super::{Lesson, Visit};
use crate::engine::Stop;
use crate::guide::Feature;
use crate::session::Purpose;
use crate::sql::{Query, Statement};

/// A database that is over, as far as something can be learned from it. Confirming a failure builds another one.
pub(super) struct Ended {
    setup: Vec<Statement>,
    /// Its statements, and those of them that failed.
    ran: u64,
    failed: u64,
}

impl Visit<'_, '_, '_> {
    /// A query was asked of this database: looks at it if it may show something new and there is time for that.
    pub(super) fn remember(&mut self, query: Query) -> Result<(), Stop> {
        let Some(guide) = &mut self.trail.guide else { return Ok(()) };
        if !guide.looks_at_queries() {
            self.current = Some(query);
            return Ok(());
        }
        let price = self.dialect.costs.explain;
        if self.trail.allowance < price || !guide.is_promising(&query, self.session.database().state()) {
            return Ok(());
        }
        self.trail.allowance -= price;
        let purpose = self.session.spend_on(Purpose::Guide);
        let shown = guide.look(&query, self.session);
        self.session.spend_on(purpose);
        let shown = shown?;
        let is_new = |feature: &Feature| self.trail.corpus.is_new(*feature) && !self.seen.contains(feature);
        let features: Vec<Feature> = shown.iter().copied().filter(is_new).collect();
        if !features.is_empty() {
            self.asked.push(Asked { query, features });
        }
        self.seen.extend(shown);
        Ok(())
    }

    /// A case is over: a query that made the engine show something new is worth keeping.
    pub(super) fn end_case(&mut self) {
        let features = self.newly_seen();
        if let Some(query) = self.current.take().filter(|_| !features.is_empty()) {
            self.asked.push(Asked { query, features });
        }
    }

    /// What the engine showed for the first time since this was asked last; nothing if that is as little as it shows
    /// whatever is run. All of it is counted.
    pub(super) fn newly_seen(&mut self) -> Vec<Feature> {
        let before = self.seen.len();
        self.trail.take_seen(&mut self.seen);
        let new = &self.seen[before..];
        if new.len() < self.trail.least() { Vec::new() } else { new.to_vec() }
    }

    /// Counts what the engine showed while nothing was asked that could be kept: when it was opened or emptied, or by a
    /// case that failed.
    pub(super) fn count_rest(&mut self) {
        if self.trail.looks_at_queries() {
            return;
        }
        let mut seen = std::mem::take(&mut self.seen);
        self.trail.take_seen(&mut seen);
        if seen.is_empty() {
            return;
        }
        let new = self.trail.corpus.see(&mut seen);
        if !new.is_empty() {
            self.watcher.learned(&Lesson { new, ..Lesson::default() });
        }
    }

    /// A failure ends this database: what the cases before it showed is still to be learned. The query that failed is
    /// not kept, or its changes would fail in the same way again and again.
    pub(super) fn end(&mut self) {
        self.current = None;
        self.ended = Some(self.as_it_is());
    }

    fn as_it_is(&self) -> Ended {
        let keeps = self.trail.guide.is_some() && self.trail.keeps;
        let setup = if keeps { self.session.database().setup().to_vec() } else { Vec::new() };
        let (statements, failures) = self.began_at;
        let ran = self.session.counts.statements - statements;
        Ended { setup, ran, failed: self.session.failures() - failures }
    }

    /// Sees what the database showed that none before it did, and keeps the part of it that does.
    pub(super) fn take_lesson(&mut self, goes_on: bool) -> Result<(), Stop> {
        // Finding out again what a plan shows would only keep a hunt from its end.
        if !goes_on && self.trail.looks_at_queries() {
            return Ok(());
        }
        let Ended { setup, ran, failed } = self.ended.take().unwrap_or_else(|| self.as_it_is());
        let (asked, built) = (std::mem::take(&mut self.asked), std::mem::take(&mut self.built));
        let new = self.trail.corpus.note(&mut std::mem::take(&mut self.seen));
        self.trail.earn(self.spent);
        let news = match self.trail.looks_at_queries() {
            true => new.len(),
            false => built.len() + asked.iter().map(|asked| asked.features.len()).sum::<usize>(),
        };
        self.trail.note(news, self.is_changed, ran);
        let changed = self.is_changed.then_some((ran, ran - failed));
        let lesson = Lesson { new, depth: self.depth, changed };
        self.watcher.learned(&lesson);
        // Otherwise it was an oracle's own question that showed it.
        if news == 0 || !self.trail.keeps {
            return Ok(());
        }
        let kept = match self.trail.looks_at_queries() {
            true => self.session.rehearsed(|session| {
                let mut rehearsal = Rehearsal { trail: self.trail, session };
                rehearsal.smallest(setup, asked, lesson.new)
            })?,
            false => Some(entry_of(setup, built, asked)),
        };
        if let Some(mut entry) = kept {
            (entry.depth, entry.found) = (self.depth, self.trail.corpus.databases());
            self.watcher.kept(&entry);
            self.trail.corpus.add(entry);
        }
        Ok(())
    }
}
