//! What a hunt tells others on other machines, and what it hears from them.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::Supervisor;
use crate::record;
use crate::share::{Arrival, Figures, Pulse};

/// How often the corpus is looked through for what workers kept.
const LOOK_PAUSE: Duration = Duration::from_secs(2);
/// What came from elsewhere begins with this; workers' own files begin with their numbers.
const ELSEWHERE: &str = "fleet-";

#[derive(Default)]
pub(super) struct Shared {
    /// When the corpus was looked through.
    looked: Option<Instant>,
    /// The files of it that were told.
    told: BTreeSet<String>,
}

impl Supervisor<'_> {
    /// Takes what came from elsewhere, and tells what is new here.
    pub(super) fn take_news(&mut self) -> anyhow::Result<()> {
        if !self.share.borrow().is_shared() {
            return Ok(());
        }
        self.share.borrow_mut().reduces(self.intake.is_idle() && !self.stopping);
        let arrivals = self.share.borrow_mut().arrivals();
        for arrival in arrivals {
            self.take_in(arrival)?;
        }
        self.tell_corpus()?;
        let figures = || self.figures();
        self.share.borrow_mut().beat(&self.pulse(), &figures);
        Ok(())
    }

    fn take_in(&mut self, arrival: Arrival) -> anyhow::Result<()> {
        match arrival {
            Arrival::Bug(shared) => self.intake.adopt(*shared, self.observer),
            Arrival::Entry(name, entry) => {
                let corpus = self.store.corpus();
                let (name, text) = (format!("{ELSEWHERE}{name}.json"), String::from_utf8_lossy(&entry));
                fs::create_dir_all(&corpus).context("cannot create the corpus")?;
                record::replace(&corpus.join(name), &text)
            }
            Arrival::Reduce(ticket, finding) => self.intake.lend(ticket, *finding, self.observer),
            Arrival::Note(text) => {
                self.observer.note(&text);
                Ok(())
            }
            Arrival::Stop => {
                self.controls.stop.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Offers what workers kept since the last time.
    fn tell_corpus(&mut self) -> anyhow::Result<()> {
        let looked = &mut self.sharing.looked;
        if looked.is_some_and(|looked| looked.elapsed() < LOOK_PAUSE) {
            return Ok(());
        }
        *looked = Some(Instant::now());
        let files = fs::read_dir(self.store.corpus()).into_iter().flatten().filter_map(Result::ok);
        for path in
            files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "json"))
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.starts_with(ELSEWHERE) && self.sharing.told.insert(name.clone()) {
                let entry = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                self.share.borrow_mut().keep(&name, entry);
            }
        }
        Ok(())
    }

    /// The hunt is over: others visit what is left.
    pub(super) fn give_back(&mut self) {
        for slot in &mut self.slots {
            let next = slot.next_database();
            for (at, lease) in slot.leases.iter().enumerate() {
                let rest = if at == 0 { lease.stretch.from(next) } else { lease.stretch };
                self.share.borrow_mut().give_back(lease.ticket, rest);
            }
        }
    }

    pub(super) fn pulse(&self) -> Pulse {
        Pulse {
            seconds: self.clock.elapsed().as_secs_f64(),
            jobs: self.plan.config.jobs,
            databases: self.tally.databases,
            statements: self.tally.counts.statements,
            checks: self.tally.checks(),
            bugs: self.intake.new_bugs(),
            waiting: self.intake.waiting() as u64,
        }
    }

    /// Everything that was counted here.
    pub(super) fn figures(&self) -> anyhow::Result<Vec<u8>> {
        let bugs = self.intake.bugs().iter();
        Ok(serde_json::to_vec(&Figures {
            jobs: self.plan.config.jobs,
            counted: self.counted(),
            bugs: bugs.filter(|bug| bug.count > 0).cloned().collect(),
            waiting: self.intake.left_waiting,
        })?)
    }
}
