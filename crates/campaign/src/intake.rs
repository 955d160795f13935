//! Where findings arrive: they are saved to disk at once, then reduced while the hunt goes on, grouped into bugs,
//! and shown.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report;
use dissent_core::report::numbers::counted;
use dissent_core::triage::known::{Known, explains};

use crate::bugs::{Bug, Bugs, Sorted, id};
use crate::config::{Allowance, Config};
use crate::observer::{Observer, Stage, Staged};
use crate::record;
use crate::reducer::{Baseline, Job, Reduced, Watcher};
use crate::store::{self, Store};
use crate::tested::Tested;
use crate::worker::protocol::Difference;

/// A target that fails all the time fills the queue faster than it empties. Beyond this many, findings
/// are counted but not saved: they are very likely bugs that already wait in it.
const MOST_WAITING: usize = 500;

pub struct Intake<'a> {
    tested: &'a Tested,
    known: &'a [Known],
    store: &'a Store,
    max_findings: Option<u64>,
    keep_duplicates: bool,
    /// None if findings are shown as they are.
    queue: Option<Queue>,
    reduced: Receiver<News>,
    bugs: Bugs,
    /// On disk and not reduced yet.
    waiting: Vec<Pending>,
    /// With the reducer, which gets one at a time, so that the next can be chosen by what was learned.
    under_way: Option<Pending>,
    /// Nothing more goes to the reducer for now.
    paused: bool,
    pub unstable: u64,
    /// Findings that came while too many were waiting.
    pub not_kept: u64,
    /// Findings that were left to be reduced at the end.
    pub left_waiting: u64,
    pub reducer_cpu_seconds: f64,
}

impl<'a> Intake<'a> {
    pub fn new(config: &Config, tested: &'a Tested, known: &'a [Known], store: &'a Store) -> Intake<'a> {
        let (sender, reduced) = channel();
        let queue =
            config.reduce.map(|allowance| Queue::start(tested, store.dialect().clone(), allowance, sender));
        Intake {
            tested,
            known,
            store,
            max_findings: config.max_findings,
            keep_duplicates: config.keep_duplicates,
            queue,
            reduced,
            bugs: Bugs::default(),
            waiting: Vec::new(),
            under_way: None,
            paused: false,
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
        self.max_findings.is_some_and(|most| self.new_bugs() >= most)
    }

    /// The bugs so far, also those that were known.
    pub fn bugs(&self) -> &[Bug] {
        self.bugs.list()
    }

    /// How many of them nobody knew.
    pub fn new_bugs(&self) -> u64 {
        self.bugs.new_ones().count() as u64
    }

    /// Continues an earlier run of the campaign: bugs that were shown are known, findings that were
    /// not reduced wait again.
    pub fn reopen(&mut self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let listed = store::read_bugs(self.store.root())?;
        let mut unlisted = Vec::new();
        for directory in store::finding_directories(self.store.root())? {
            let finding = record::read(&directory)?;
            let reduced = finding.triage.signature.is_some();
            match (listed.iter().find(|bug| bug.id == id(&directory)), &self.queue) {
                // What was shown stays, also if it could not be reduced.
                (Some(bug), _) => self.bugs.add(Bug { directory, ..bug.clone() }),
                (None, Some(_)) if !reduced => self.waiting.push(Pending { directory, finding }),
                _ => unlisted.push((directory, finding)),
            }
        }
        observer.note(&format!(
            "{} so far; still to reduce: {}",
            counted(self.bugs.list().len() as u64, "bug"),
            counted(self.waiting.len() as u64, "finding")
        ));
        for (directory, finding) in unlisted {
            self.sort(&finding, &directory, observer)?;
        }
        self.feed(observer);
        Ok(())
    }

    /// Holds back what waits, or goes on with it. What the reducer is at, it finishes.
    pub fn pause(&mut self, pause: bool, observer: &mut dyn Observer) {
        self.paused = pause;
        self.feed(observer);
    }

    /// Gives the reducer its next finding: one that no bug known so far explains, if there is any.
    fn feed(&mut self, observer: &mut dyn Observer) {
        let Some(queue) = &self.queue else { return };
        if self.paused || self.under_way.is_some() || self.waiting.is_empty() {
            return;
        }
        let next = self.waiting.iter().position(|pending| !self.is_explained(&pending.finding));
        let pending = self.waiting.remove(next.unwrap_or(0));
        self.tell(&pending.finding, &pending.directory, Stage::Confirming, observer);
        queue.push(pending.finding.clone());
        self.under_way = Some(pending);
    }

    /// Whether an unreduced finding has the features of a known bug, or everything that a new bug of this campaign
    /// needs. (A finding that merely looks like the example of a known bug is not known.)
    fn is_explained(&self, finding: &Finding) -> bool {
        let found = |bug: &Bug| bug.signature.as_ref().is_some_and(|signature| explains(signature, finding));
        self.known.iter().any(|known| known.marks(finding)) || self.bugs.new_ones().any(found)
    }

    /// A difference that held, after so many checks.
    pub fn take(
        &mut self,
        difference: Difference,
        checks: u64,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        if self.has_all_findings() {
            return Ok(());
        }
        if self.waiting() >= MOST_WAITING {
            self.not_kept += 1;
            return Ok(());
        }
        let finding = self.tested.finding(difference, checks);
        let Some(directory) = self.store.add_finding(&finding)? else { return Ok(()) };
        if self.queue.is_some() {
            self.tell(&finding, &directory, Stage::Waiting, observer);
            self.waiting.push(Pending { directory, finding });
            self.feed(observer);
            return Ok(());
        }
        self.show(&finding, &directory, observer)
    }

    /// A difference that disappeared when the worker built it again.
    pub fn take_unstable(
        &mut self,
        difference: Difference,
        checks: u64,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        self.unstable += 1;
        let finding = self.tested.finding(difference, checks);
        if let Some(directory) = self.store.add_unstable(&finding)? {
            self.tell(&finding, &directory, Stage::Unstable, observer);
        }
        Ok(())
    }

    /// Takes back what the reducer has done, waiting for it this long.
    pub fn collect(&mut self, patience: Duration, observer: &mut dyn Observer) -> anyhow::Result<()> {
        match self.reduced.recv_timeout(patience) {
            Ok(News::Confirmed) => {
                if let Some(Pending { directory, finding }) = &self.under_way {
                    self.tell(finding, directory, Stage::Reducing, observer);
                }
                Ok(())
            }
            Ok(News::Done { result, cpu_seconds }) => {
                let Some(pending) = self.under_way.take() else { return Ok(()) };
                self.reducer_cpu_seconds += cpu_seconds;
                let taken = self.take_back(pending, result, observer);
                self.feed(observer);
                taken
            }
            Err(_) => Ok(()),
        }
    }

    fn take_back(
        &mut self,
        pending: Pending,
        result: anyhow::Result<Reduced>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let Pending { directory, finding } = pending;
        if self.has_all_findings() {
            return self.store.discard(&directory);
        }
        match result {
            Ok(Reduced::Confirmed(reduced)) => {
                self.store.rewrite(&directory, &reduced)?;
                self.sort(&reduced, &directory, observer)
            }
            Ok(Reduced::Unstable(_)) => {
                self.unstable += 1;
                self.tell(&finding, &directory, Stage::Unstable, observer);
                self.store.move_to_unstable(&directory)
            }
            Err(error) => {
                observer.note(&format!("cannot reduce {}: {error:#}", id(&directory)));
                self.show(&finding, &directory, observer)
            }
        }
    }

    /// Decides whether a finding is a listed bug; if so, the smaller example is kept.
    fn sort(
        &mut self,
        finding: &Finding,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let bug = self.bug(finding, directory);
        let sorted = self.bugs.sort(&bug);
        if let Sorted::Smaller(at) | Sorted::Again(at) = sorted {
            let listed = &self.bugs.list()[at];
            let stage = listed.known.as_deref().map_or(Stage::Duplicate(&listed.id), Stage::Known);
            self.tell(finding, directory, stage, observer);
        }
        match sorted {
            Sorted::New => return self.show(finding, directory, observer),
            Sorted::Smaller(at) => {
                let kept = self.bugs.count(at, Some(&bug)).directory.clone();
                // The name that was shown stays; what is in it gets smaller.
                self.store.exchange(&kept, directory)?;
            }
            Sorted::Again(at) => {
                self.bugs.count(at, None);
            }
        }
        match self.keep_duplicates {
            true => self.store.move_to_duplicates(directory)?,
            false => self.store.discard(directory)?,
        }
        self.store.write_bugs(self.bugs.list())
    }

    /// Ends the reducer. What still waits is listed as it is, unless a bug that is listed explains it: that
    /// waits on disk for the campaign to be resumed.
    pub fn close(&mut self) -> anyhow::Result<()> {
        if let Some(queue) = self.queue.take() {
            queue.stop();
        }
        let left: Vec<Pending> = self.under_way.take().into_iter().chain(self.waiting.drain(..)).collect();
        for Pending { directory, .. } in left {
            let finding = record::read(&directory)?;
            if self.has_all_findings() {
                self.store.discard(&directory)?;
            } else if self.is_explained(&finding) || self.tested.baseline.is_some() {
                self.left_waiting += 1;
            } else {
                self.bugs.add(self.bug(&finding, &directory));
            }
        }
        if !self.bugs.list().is_empty() {
            self.store.write_bugs(self.bugs.list())?;
        }
        Ok(())
    }

    pub fn into_bugs(self) -> Vec<Bug> {
        self.bugs.into_list()
    }

    fn bug(&self, finding: &Finding, directory: &Path) -> Bug {
        Bug::of(finding, directory, self.store.dialect(), self.known)
    }

    fn tell(&self, finding: &Finding, directory: &Path, stage: Stage, observer: &mut dyn Observer) {
        observer.stage(&Staged {
            id: &id(directory),
            directory,
            oracle: &finding.case.subject.oracle,
            class: finding.evidence.class,
            title: &report::title(finding, self.store.dialect()),
            stage,
        });
    }

    /// On disk first, then in print: a finding that was printed is never lost.
    fn show(
        &mut self,
        finding: &Finding,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let bug = self.bug(finding, directory);
        self.bugs.add(bug.clone());
        self.store.write_bugs(self.bugs.list())?;
        self.tell(finding, directory, bug.known.as_deref().map_or(Stage::New, Stage::Known), observer);
        if bug.known.is_none() {
            observer.found(&bug, finding);
        }
        Ok(())
    }
}

/// A finding on its way; on disk already.
struct Pending {
    directory: PathBuf,
    finding: Finding,
}

/// What the reducer says of the finding it was given.
enum News {
    /// It fails in a process of its own, too.
    Confirmed,
    Done {
        result: anyhow::Result<Reduced>,
        cpu_seconds: f64,
    },
}

/// A thread that reduces findings one after the other, so that a hunt never waits.
struct Queue {
    sender: Sender<Finding>,
    stop: Arc<AtomicBool>,
}

impl Queue {
    /// What is done comes back in the order in which it was handed in.
    fn start(tested: &Tested, dialect: Arc<Dialect>, allowance: Allowance, news: Sender<News>) -> Queue {
        let (place, baseline) = (tested.place.clone(), Baseline::of(tested));
        let (sender, findings) = channel::<Finding>();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        // The processes it starts die with this thread, which lives until no more findings come.
        std::thread::spawn(move || {
            let job = Job { place: &place, baseline, dialect: &dialect, allowance };
            for finding in findings {
                let mut telling = Telling { stopped: &stopped, confirmed: false, news: &news };
                if telling.is_stopped() {
                    return;
                }
                let (result, cpu_seconds) = job.run(&finding, &mut telling);
                let _ = news.send(News::Done { result, cpu_seconds });
            }
        });
        Queue { sender, stop }
    }

    fn push(&self, finding: Finding) {
        // The other end lives as long as this one.
        let _ = self.sender.send(finding);
    }

    /// The current reduction ends with what it has; waiting findings stay as they are.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Watches one reduction.
struct Telling<'a> {
    stopped: &'a AtomicBool,
    confirmed: bool,
    news: &'a Sender<News>,
}

impl Telling<'_> {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Watcher for Telling<'_> {
    /// Smaller forms are tried only of what was confirmed.
    fn goes_on(&mut self) -> bool {
        if !self.confirmed {
            self.confirmed = true;
            let _ = self.news.send(News::Confirmed);
        }
        !self.is_stopped()
    }
}
