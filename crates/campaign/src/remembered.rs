//! What builds did with a finding, kept beside it: a bisection that was interrupted goes on where it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dissent_core::finding::Finding;
use dissent_core::hash::fnv1a;
use dissent_core::triage::Status;
use serde::{Deserialize, Serialize};

use crate::record;

const FILE: &str = "bisect.json";

/// The results so far, by the names of builds.
pub struct Remembered {
    file: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// The test case that was checked: another form of the finding may do something else.
    case: u64,
    builds: BTreeMap<String, Status>,
}

impl Remembered {
    /// What is kept in the directory of a finding.
    pub fn of(finding: &Finding, directory: &Path) -> anyhow::Result<Remembered> {
        let case = fnv1a(serde_json::to_string(&finding.case)?.as_bytes());
        let file = directory.join(FILE);
        let read: Option<Kept> = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let kept = read.filter(|kept| kept.case == case);
        let kept = kept.unwrap_or(Kept { case, builds: BTreeMap::new() });
        Ok(Remembered { file, kept: Mutex::new(kept) })
    }

    /// How many builds were checked.
    pub fn count(&self) -> usize {
        self.lock().builds.len()
    }

    pub(crate) fn status(&self, build: &str) -> Option<Status> {
        self.lock().builds.get(build).copied()
    }

    pub(crate) fn note(&self, build: &str, status: Status) -> anyhow::Result<()> {
        let mut kept = self.lock();
        kept.builds.insert(build.to_string(), status);
        record::replace(&self.file, &record::pretty(&*kept)?)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
