//! Findings become bugs: the list of them, each with its smallest example on disk. A hunt fills it, and so does whoever
//! puts campaigns together.

use std::path::Path;

use dissent_core::finding::Finding;
use dissent_core::report;
use dissent_core::triage::known::{Known, explains};

use crate::bugs::{Bug, Bugs, Sorted, id};
use crate::observer::{Observer, Stage, Staged};
use crate::share::{SharedBug, Sharing};
use crate::store::Store;

pub struct Sorter<'a> {
    pub known: &'a [Known],
    pub store: &'a Store,
    pub share: Sharing,
    pub keep_duplicates: bool,
    pub bugs: Bugs,
}

impl Sorter<'_> {
    /// Decides whether a finding on disk is a listed bug; if so, the smaller example is kept.
    pub fn sort(
        &mut self,
        finding: &Finding,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        self.sort_as(self.bug(finding, directory), finding, directory, observer)
    }

    /// The same for what was listed before, elsewhere.
    pub fn sort_as(
        &mut self,
        bug: Bug,
        finding: &Finding,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let sorted = self.bugs.sort(&bug);
        if let Sorted::Smaller(at) | Sorted::Again(at) = sorted {
            let listed = &self.bugs.list()[at];
            let stage = listed.known.as_deref().map_or(Stage::Duplicate(&listed.id), Stage::Known);
            self.tell(finding, directory, stage, observer);
        }
        match sorted {
            Sorted::New => return self.show(bug, finding, directory, observer),
            Sorted::Smaller(at) => {
                let kept = self.bugs.count(at, bug.count, Some(&bug)).clone();
                // The name that was shown stays; what is in it gets smaller.
                self.store.exchange(&kept.directory, directory)?;
                self.publish(kept, finding);
            }
            Sorted::Again(at) => {
                self.bugs.count(at, bug.count, None);
            }
        }
        match self.keep_duplicates {
            true => self.store.move_to_duplicates(directory)?,
            false => self.store.discard(directory)?,
        }
        self.store.write_bugs(self.bugs.list())
    }

    /// Takes a bug that was found and printed elsewhere; findings of it are counted here from now on.
    pub fn adopt(&mut self, shared: SharedBug, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let SharedBug { bug, finding } = shared;
        match self.bugs.sort(&bug) {
            Sorted::New => {
                let Some(directory) = self.store.add_finding(&finding)? else { return Ok(()) };
                if bug.known.is_none() {
                    observer.note(&format!("found on another machine: {}", bug.title));
                }
                self.bugs.add(Bug { id: id(&directory), directory, count: 0, ..bug });
            }
            Sorted::Smaller(at) => {
                self.store.rewrite(&self.bugs.list()[at].directory, &finding)?;
                self.bugs.count(at, 0, Some(&bug));
            }
            Sorted::Again(_) => return Ok(()),
        }
        self.store.write_bugs(self.bugs.list())
    }

    pub fn bug(&self, finding: &Finding, directory: &Path) -> Bug {
        Bug::of(finding, directory, self.store.dialect(), self.known)
    }

    /// Whether an unreduced finding has the features of a known bug, or everything that a new bug of this campaign
    /// needs. (A finding that merely looks like the example of a known bug is not known.)
    pub fn is_explained(&self, finding: &Finding) -> bool {
        let found = |bug: &Bug| bug.signature.as_ref().is_some_and(|signature| explains(signature, finding));
        self.known.iter().any(|known| known.marks(finding)) || self.bugs.new_ones().any(found)
    }

    pub fn tell(&self, finding: &Finding, directory: &Path, stage: Stage, observer: &mut dyn Observer) {
        observer.stage(&Staged {
            id: &id(directory),
            directory,
            oracle: &finding.case.subject.oracle,
            class: finding.evidence.class,
            title: &report::title(finding, self.store.dialect()),
            stage,
        });
    }

    /// On disk first, then with the others, then in print: a finding that was printed is never lost.
    pub fn show(
        &mut self,
        bug: Bug,
        finding: &Finding,
        directory: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        self.bugs.add(bug.clone());
        self.store.write_bugs(self.bugs.list())?;
        let first = self.publish(bug.clone(), finding);
        let stage = match &bug.known {
            Some(known) => Stage::Known(known),
            None if first => Stage::New,
            None => Stage::Duplicate(&bug.id),
        };
        self.tell(finding, directory, stage, observer);
        if bug.known.is_none() && first {
            observer.found(&bug, finding);
        }
        Ok(())
    }

    /// `false`: others had it first.
    pub fn publish(&self, bug: Bug, finding: &Finding) -> bool {
        self.share.borrow_mut().publish(&SharedBug { bug, finding: finding.clone() })
    }
}
