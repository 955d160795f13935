//! Where findings arrive: they are saved to disk at once, then reduced while the hunt goes on, grouped into bugs,
//! and shown.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report::numbers::counted;
use dissent_core::triage::known::Known;

use crate::bugs::{Bug, Bugs, id};
use crate::config::{Allowance, Config};
use crate::observer::{Observer, Stage};
use crate::pool::Meter;
use crate::record;
use crate::reducer::{Baseline, Job, Reduced, Watcher};
use crate::share::{SharedBug, Sharing};
use crate::sorter::Sorter;
use crate::store::{self, Store};
use crate::tested::Tested;
use crate::worker::protocol::Difference;

/// A target that fails all the time fills the queue faster than it empties. Beyond this many, findings
/// are counted but not saved: they are very likely bugs that already wait in it.
const MOST_WAITING: usize = 500;

/// More findings than these that wait here are offered to others who have nothing to reduce.
const MOST_OWN: usize = 4;

pub struct Intake<'a> {
    tested: &'a Tested,
    sorter: Sorter<'a>,
    max_findings: Option<u64>,
    /// None if findings are shown as they are.
    queue: Option<Queue>,
    reduced: Receiver<News>,
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
    reducing: Meter,
}

impl<'a> Intake<'a> {
    pub fn new(
        config: &Config,
        tested: &'a Tested,
        known: &'a [Known],
        store: &'a Store,
        share: Sharing,
    ) -> Intake<'a> {
        let (sender, reduced) = channel();
        let reducing = Meter::default();
        let start =
            |allowance| Queue::start(tested, store.dialect().clone(), allowance, reducing.clone(), sender);
        let queue = config.reduce.map(start);
        Intake {
            tested,
            sorter: Sorter {
                known,
                store,
                share,
                keep_duplicates: config.keep_duplicates,
                bugs: Bugs::default(),
            },
            max_findings: config.max_findings,
            queue,
            reduced,
            waiting: Vec::new(),
            under_way: None,
            paused: false,
            unstable: 0,
            not_kept: 0,
            left_waiting: 0,
            reducing,
        }
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len() + usize::from(self.under_way.is_some())
    }

    /// What the processes of all reductions have used, once they have ended.
    pub fn reducer_cpu_seconds(&self) -> f64 {
        self.reducing.cpu_seconds()
    }

    pub fn has_all_findings(&self) -> bool {
        self.max_findings.is_some_and(|most| self.new_bugs() >= most)
    }

    /// The bugs so far, also those that were known.
    pub fn bugs(&self) -> &[Bug] {
        self.sorter.bugs.list()
    }

    /// How many of them nobody knew.
    pub fn new_bugs(&self) -> u64 {
        self.sorter.bugs.new_ones().count() as u64
    }

    /// Continues an earlier run of the campaign: bugs that were shown are known, findings that were
    /// not reduced wait again.
    pub fn reopen(&mut self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let listed = store::read_bugs(self.sorter.store.root())?;
        let mut unlisted = Vec::new();
        for directory in store::finding_directories(self.sorter.store.root())? {
            let finding = record::read(&directory)?;
            let reduced = finding.triage.signature.is_some();
            match (listed.iter().find(|bug| bug.id == id(&directory)), &self.queue) {
                // What was shown stays, also if it could not be reduced.
                (Some(bug), _) => {
                    let bug = Bug { directory, ..bug.clone() };
                    self.sorter.publish(bug.clone(), &finding);
                    self.sorter.bugs.add(bug);
                }
                (None, Some(_)) if !reduced => {
                    self.waiting.push(Pending { directory, finding, ticket: None })
                }
                _ => unlisted.push((directory, finding)),
            }
        }
        observer.note(&format!(
            "{} so far; still to reduce: {}",
            counted(self.sorter.bugs.list().len() as u64, "bug"),
            counted(self.waiting.len() as u64, "finding")
        ));
        for (directory, finding) in unlisted {
            self.sorter.sort(&finding, &directory, observer)?;
        }
        self.feed(observer);
        Ok(())
    }

    /// Holds back what waits, or goes on with it. What the reducer is at, it finishes.
    pub fn pause(&mut self, pause: bool, observer: &mut dyn Observer) {
        self.paused = pause;
        self.feed(observer);
    }

    /// Whether it may be a bug of its own, as far as that can be seen: no bug known so far explains it, and the baseline
    /// does not show it.
    fn is_urgent(&self, pending: &Pending) -> bool {
        pending.finding.triage.also_on.is_none() && !self.sorter.is_explained(&pending.finding)
    }

    /// Gives the reducer its next finding: one that may be a bug of its own, if there is any; what the baseline shows comes
    /// last.
    fn feed(&mut self, observer: &mut dyn Observer) {
        let Some(queue) = &self.queue else { return };
        if self.paused || self.under_way.is_some() || self.waiting.is_empty() {
            return;
        }
        let is_new = |pending: &Pending| pending.finding.triage.also_on.is_none();
        let next = self.waiting.iter().position(|pending| self.is_urgent(pending));
        let next = next.or_else(|| self.waiting.iter().position(is_new));
        let pending = self.waiting.remove(next.unwrap_or(0));
        self.sorter.tell(&pending.finding, &pending.directory, Stage::Confirming, observer);
        queue.push(pending.finding.clone());
        self.under_way = Some(pending);
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
        let Some(directory) = self.sorter.store.add_finding(&finding)? else { return Ok(()) };
        if self.queue.is_some() {
            self.sorter.tell(&finding, &directory, Stage::Waiting, observer);
            self.waiting.push(Pending { directory, finding, ticket: None });
            self.feed(observer);
            return self.hand_over();
        }
        self.list(&finding, &directory, observer)
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
        if let Some(directory) = self.sorter.store.add_unstable(&finding)? {
            self.sorter.tell(&finding, &directory, Stage::Unstable, observer);
        }
        Ok(())
    }

    /// Takes back what the reducer has done, waiting for it this long.
    pub fn collect(&mut self, patience: Duration, observer: &mut dyn Observer) -> anyhow::Result<()> {
        match self.reduced.recv_timeout(patience) {
            Ok(News::Confirmed) => {
                if let Some(Pending { directory, finding, .. }) = &self.under_way {
                    self.sorter.tell(finding, directory, Stage::Reducing, observer);
                }
                Ok(())
            }
            Ok(News::Done(result)) => {
                let Some(pending) = self.under_way.take() else { return Ok(()) };
                let ticket = pending.ticket;
                if self.take_back(pending, result, observer)?
                    && let Some(ticket) = ticket
                {
                    self.sorter.share.borrow_mut().reduced(ticket);
                }
                self.feed(observer);
                Ok(())
            }
            Err(_) => Ok(()),
        }
    }

    /// `false`: it waits again.
    fn take_back(
        &mut self,
        pending: Pending,
        result: anyhow::Result<Reduced>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<bool> {
        let Pending { directory, finding, ticket } = pending;
        if self.has_all_findings() {
            return self.sorter.store.discard(&directory).map(|()| true);
        }
        match result {
            Ok(Reduced::Old(marked)) => {
                self.sorter.tell(&marked, &directory, Stage::Waiting, observer);
                self.waiting.push(Pending { directory, finding: *marked, ticket });
                return Ok(false);
            }
            Ok(Reduced::Confirmed(reduced)) => {
                self.sorter.store.rewrite(&directory, &reduced)?;
                self.sorter.sort(&reduced, &directory, observer)
            }
            Ok(Reduced::Unstable(_)) => {
                self.unstable += 1;
                self.sorter.tell(&finding, &directory, Stage::Unstable, observer);
                self.sorter.store.move_to_unstable(&directory)
            }
            Err(error) => {
                observer.note(&format!("cannot reduce {}: {error:#}", id(&directory)));
                self.list(&finding, &directory, observer)
            }
        }
        .map(|()| true)
    }

    /// Ends the reducer. What still waits is listed as it is, unless a bug that is listed explains it: that
    /// waits on disk for the campaign to be resumed.
    pub fn close(&mut self) -> anyhow::Result<()> {
        if let Some(queue) = self.queue.take() {
            queue.stop();
        }
        let left: Vec<Pending> = self.under_way.take().into_iter().chain(self.waiting.drain(..)).collect();
        for Pending { directory, ticket, .. } in left {
            let finding = record::read(&directory)?;
            if self.has_all_findings() || ticket.is_some() {
                self.sorter.store.discard(&directory)?;
            } else if self.sorter.is_explained(&finding) || self.tested.baseline.is_some() {
                self.left_waiting += 1;
            } else {
                let bug = self.sorter.bug(&finding, &directory);
                self.sorter.bugs.add(bug.clone());
                self.sorter.publish(bug, &finding);
            }
        }
        if !self.sorter.bugs.list().is_empty() {
            self.sorter.store.write_bugs(self.sorter.bugs.list())?;
        }
        Ok(())
    }

    /// Lists a finding as a bug of its own.
    fn list(
        &mut self,
        finding: &Finding,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        self.sorter.show(self.sorter.bug(finding, directory), finding, directory, observer)
    }

    /// Takes a bug that was found elsewhere.
    pub fn adopt(&mut self, shared: SharedBug, observer: &mut dyn Observer) -> anyhow::Result<()> {
        self.sorter.adopt(shared, observer)
    }

    /// Takes a finding from elsewhere to reduce it here.
    pub fn lend(&mut self, ticket: u64, finding: Finding, observer: &mut dyn Observer) -> anyhow::Result<()> {
        match self.sorter.store.add_finding(&finding)? {
            Some(directory) => {
                self.waiting.push(Pending { directory, finding, ticket: Some(ticket) });
                self.feed(observer);
            }
            None => self.sorter.share.borrow_mut().reduced(ticket),
        }
        Ok(())
    }

    /// Whether the reducer has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.queue.is_some() && !self.paused && self.waiting() == 0
    }

    /// Gives others what they can do sooner. What is explained can wait: it is hardly ever a bug of its own.
    fn hand_over(&mut self) -> anyhow::Result<()> {
        while self.waiting.len() > MOST_OWN {
            let own = |pending: &Pending| pending.ticket.is_none() && self.is_urgent(pending);
            let Some(at) = self.waiting.iter().rposition(own) else { return Ok(()) };
            if !self.sorter.share.borrow_mut().hand_over(&self.waiting[at].finding) {
                return Ok(());
            }
            let pending = self.waiting.remove(at);
            self.sorter.store.discard(&pending.directory)?;
        }
        Ok(())
    }

    pub fn into_bugs(self) -> Vec<Bug> {
        self.sorter.bugs.into_list()
    }
}

/// A finding on its way; on disk already.
struct Pending {
    directory: PathBuf,
    finding: Finding,
    /// Of one that came from elsewhere.
    ticket: Option<u64>,
}

/// What the reducer says of the finding it was given.
enum News {
    /// It fails in a process of its own, too.
    Confirmed,
    Done(anyhow::Result<Reduced>),
}

/// A thread that reduces findings one after the other, so that a hunt never waits.
struct Queue {
    sender: Sender<Finding>,
    stop: Arc<AtomicBool>,
}

impl Queue {
    /// What is done comes back in the order in which it was handed in.
    fn start(
        tested: &Tested,
        dialect: Arc<Dialect>,
        allowance: Allowance,
        meter: Meter,
        news: Sender<News>,
    ) -> Queue {
        let (place, baseline) = (tested.place.clone(), Baseline::of(tested));
        let (sender, findings) = channel::<Finding>();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        // The processes it starts die with this thread, which lives until no more findings come.
        std::thread::spawn(move || {
            let job = Job { place: &place, baseline, dialect: &dialect, allowance, meter };
            for finding in findings {
                let mut telling = Telling { stopped: &stopped, confirmed: false, news: &news };
                if telling.is_stopped() {
                    return;
                }
                let _ = news.send(News::Done(job.run(&finding, &mut telling)));
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
