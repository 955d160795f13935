//! Where findings arrive: on disk at once, then reduced beside the hunt, sorted into bugs, and shown.

use std::path::Path;

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::reduce::Weight;
use dissent_core::triage::known::explains;

use super::Plan;
use super::bugs::{Bug, Bugs, Sorted};
use super::observer::Observer;
use super::record;
use super::store::{self, Store, StoredFinding};
use crate::reducer::queue::{Done, Pending, Queue};
use crate::reducer::{Place, Reduced};

/// A target that fails all the time fills the queue faster than it empties. Beyond this many, findings
/// are counted and not kept: they are very likely bugs that wait in it already.
const MOST_WAITING: usize = 500;

pub struct Desk<'a> {
    plan: &'a Plan,
    store: &'a Store,
    dialect: &'a Dialect,
    /// None: findings are shown as they are.
    queue: Option<Queue>,
    bugs: Bugs,
    /// On disk and not reduced yet.
    waiting: Vec<Pending>,
    /// With the reducer, which gets one at a time, so that the next can be chosen by what was learned.
    under_way: Option<StoredFinding>,
    pub unstable: u64,
    /// Findings that came while too many were waiting.
    pub not_kept: u64,
    /// Findings that were left to be reduced at the end.
    pub left_waiting: u64,
    pub reducer_cpu_seconds: f64,
}

impl<'a> Desk<'a> {
    pub fn new(plan: &'a Plan, store: &'a Store, deliver: impl Fn(Done) + Send + 'static) -> Desk<'a> {
        let queue = plan.reduce.map(|allowance| {
            let place = Place {
                source: plan.source.clone(),
                dialect: plan.dialect.clone(),
                memory_bytes: plan.worker_memory,
                hang_limit: plan.hang_limit,
            };
            Queue::start(place, store.dialect().clone(), allowance, deliver)
        });
        Desk {
            plan,
            store,
            dialect: store.dialect(),
            queue,
            bugs: Bugs::default(),
            waiting: Vec::new(),
            under_way: None,
            unstable: 0,
            not_kept: 0,
            left_waiting: 0,
            reducer_cpu_seconds: 0.0,
        }
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len() + usize::from(self.under_way.is_some())
    }

    pub fn has_all_findings(&self) -> bool {
        self.plan.max_findings.is_some_and(|most| self.bugs.new_ones().count() as u64 >= most)
    }

    /// Goes on with what an earlier run of the campaign left: bugs that were shown are known, findings
    /// that were not reduced wait again.
    pub fn reopen(&mut self, progress: &mut dyn Observer) -> anyhow::Result<()> {
        let listed = store::read_bugs(self.store.root())?;
        let mut unlisted = Vec::new();
        for directory in store::finding_directories(self.store.root())? {
            let id = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let finding = record::read(&directory)?;
            let stored = StoredFinding { id, directory };
            let reduced = finding.triage.signature.is_some();
            match (listed.iter().find(|bug| bug.id == stored.id), &self.queue) {
                // What was shown stays, also if it could not be reduced.
                (Some(bug), _) => {
                    self.bugs.add(Bug { directory: stored.directory.clone(), ..bug.clone() });
                }
                (None, Some(_)) if !reduced => self.waiting.push(Pending { stored, finding }),
                _ => unlisted.push((stored, finding)),
            }
        }
        progress.note(&format!(
            "{} bugs are known, {} findings wait to be reduced",
            self.bugs.list().len(),
            self.waiting.len()
        ));
        for (stored, finding) in unlisted {
            self.sort(&finding, &stored, progress)?;
        }
        self.feed();
        Ok(())
    }

    /// Gives the reducer its next finding: one that no bug known so far explains, if there is any.
    fn feed(&mut self) {
        let Some(queue) = &self.queue else { return };
        if self.under_way.is_some() || self.waiting.is_empty() {
            return;
        }
        let next = self.waiting.iter().position(|pending| !self.is_explained(&pending.finding));
        let pending = self.waiting.remove(next.unwrap_or(0));
        self.under_way = Some(pending.stored.clone());
        queue.push(pending);
    }

    /// Whether a finding that is not reduced bears the marks of a known bug, or holds all that a new bug of this
    /// campaign needs. (What merely looks like the example of a known bug is not known.)
    fn is_explained(&self, finding: &Finding) -> bool {
        let found = |bug: &Bug| bug.signature.as_ref().is_some_and(|signature| explains(signature, finding));
        self.plan.known.iter().any(|known| known.marks(finding)) || self.bugs.new_ones().any(found)
    }

    /// A finding of a worker.
    pub fn take_in(&mut self, finding: Finding, progress: &mut dyn Observer) -> anyhow::Result<()> {
        if self.has_all_findings() {
            return Ok(());
        }
        if self.waiting() >= MOST_WAITING {
            self.not_kept += 1;
            return Ok(());
        }
        let Some(stored) = self.store.add_finding(&finding)? else { return Ok(()) };
        match &self.queue {
            Some(_) => {
                self.waiting.push(Pending { stored, finding });
                self.feed();
            }
            None => {
                let bug = self.bug(&finding, &stored);
                self.show(bug, progress)?;
            }
        }
        Ok(())
    }

    /// A difference that was gone when the worker built it anew.
    pub fn take_in_unstable(&mut self, finding: &Finding) -> anyhow::Result<()> {
        self.unstable += 1;
        self.store.add_unstable(finding)?;
        Ok(())
    }

    /// A finding comes back from the reducer.
    pub fn deliver(&mut self, done: Done, progress: &mut dyn Observer) -> anyhow::Result<()> {
        self.under_way = None;
        let delivered = self.take_back(done, progress);
        self.feed();
        delivered
    }

    fn take_back(&mut self, done: Done, progress: &mut dyn Observer) -> anyhow::Result<()> {
        let Done { pending: Pending { stored, finding }, result } = done;
        if self.has_all_findings() {
            return self.store.discard(&stored.directory);
        }
        let reduced = match result {
            Ok((Reduced::Confirmed(reduced), cpu_seconds)) => {
                self.reducer_cpu_seconds += cpu_seconds;
                *reduced
            }
            Ok((Reduced::Unstable(_), cpu_seconds)) => {
                self.reducer_cpu_seconds += cpu_seconds;
                self.unstable += 1;
                return self.store.move_to_unstable(&stored.directory);
            }
            Err(error) => {
                progress.note(&format!("{} could not be reduced: {error:#}", stored.id));
                let bug = self.bug(&finding, &stored);
                return self.show(bug, progress);
            }
        };
        self.store.rewrite(&stored.directory, &reduced)?;
        self.sort(&reduced, &stored, progress)
    }

    /// Tells whether a finding is a bug that is known; if so, the smaller example is kept.
    fn sort(
        &mut self,
        finding: &Finding,
        stored: &StoredFinding,
        progress: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let bug = self.bug(finding, stored);
        match self.bugs.sort(&bug) {
            Sorted::New => return self.show(bug, progress),
            Sorted::Smaller(at) => {
                let kept = self.bugs.count(at, Some(&bug)).directory.clone();
                // The name that was shown stays; what is in it gets smaller.
                self.store.exchange(&kept, &stored.directory)?;
            }
            Sorted::Again(at) => {
                self.bugs.count(at, None);
            }
        }
        self.dispose(&stored.directory)?;
        self.store.write_bugs(self.bugs.list())
    }

    fn dispose(&self, duplicate: &Path) -> anyhow::Result<()> {
        if self.plan.keep_duplicates {
            self.store.move_to_duplicates(duplicate)
        } else {
            self.store.discard(duplicate)
        }
    }

    /// Ends the reducer. What still waits is shown as it is, unless a bug that is listed explains it: that
    /// waits on disk for the campaign to be gone on with.
    pub fn close(&mut self, progress: &mut dyn Observer) -> anyhow::Result<()> {
        if let Some(queue) = self.queue.take() {
            queue.stop();
        }
        let mut left: Vec<StoredFinding> = self.under_way.take().into_iter().collect();
        left.extend(self.waiting.drain(..).map(|pending| pending.stored));
        for stored in left {
            let finding = record::read(&stored.directory)?;
            if self.has_all_findings() {
                self.store.discard(&stored.directory)?;
            } else if self.is_explained(&finding) {
                self.left_waiting += 1;
            } else {
                let bug = self.bug(&finding, &stored);
                self.bugs.add(bug);
            }
        }
        if !self.bugs.list().is_empty() {
            self.store.write_bugs(self.bugs.list())?;
        }
        progress.clear();
        Ok(())
    }

    pub fn into_bugs(self) -> Vec<Bug> {
        self.bugs.into_list()
    }

    fn bug(&self, finding: &Finding, stored: &StoredFinding) -> Bug {
        Bug {
            id: stored.id.clone(),
            oracle: finding.case.subject.oracle.clone(),
            class: finding.evidence.class,
            signature: finding.triage.signature.clone(),
            known: self.known_as(finding),
            versions: None,
            count: 1,
            statements: finding.case.setup.len(),
            tokens: Weight::of(&finding.case, self.dialect).tokens,
            directory: stored.directory.clone(),
        }
    }

    /// Only of a reduced finding it can be said what it is.
    fn known_as(&self, finding: &Finding) -> Option<String> {
        finding.triage.signature.as_ref()?;
        self.plan.known.iter().find(|known| known.marks(finding)).map(|known| known.id.clone())
    }

    /// On disk first, then in print: a finding that was printed is never lost.
    fn show(&mut self, bug: Bug, progress: &mut dyn Observer) -> anyhow::Result<()> {
        self.bugs.add(bug.clone());
        self.store.write_bugs(self.bugs.list())?;
        if bug.known.is_none() {
            progress.finding(&bug);
        }
        Ok(())
    }
}
