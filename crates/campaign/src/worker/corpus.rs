//! The corpus of a campaign on disk: every worker writes its entries and reads those of the others.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use anyhow::Context;
use dissent_core::confine::{Confinement, Place};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Reply;
use dissent_core::guide::Entry;
use dissent_core::import::{self, Imported};
use dissent_core::session::Session;
use dissent_core::sql::Statement;

use super::protocol::HuntTask;
use crate::{record, system};

/// How often a worker looks for what others kept.
const PAUSE_NANOS: u64 = 2_000_000_000;

/// The place of one worker in the corpus: its files begin with its number.
pub struct CorpusStore<'a> {
    task: &'a HuntTask,
    place: Place,
    /// The files that are known, by name.
    known: BTreeSet<String>,
    /// The number of this worker's next file.
    next: u64,
    looked: u64,
}

impl<'a> CorpusStore<'a> {
    /// Its directory is there.
    pub fn open(task: &'a HuntTask, place: Place) -> CorpusStore<'a> {
        let mut store = CorpusStore { task, place, known: BTreeSet::new(), next: 0, looked: 0 };
        // Behind what a predecessor kept.
        let own = format!("{}-", task.worker);
        let number = |name: &String| name.strip_prefix(&own)?.strip_suffix(".json")?.parse().ok();
        store.next = store.names().iter().filter_map(number).max().map_or(0, |last: u64| last + 1);
        store
    }

    /// The entries on disk, by name.
    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.task.corpus).into_iter().flatten().filter_map(Result::ok);
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".json")).collect();
        names.sort();
        names
    }

    /// Writes an entry: it is there whole or not at all.
    pub fn keep(&mut self, entry: &Entry) -> io::Result<()> {
        let name = format!("{}-{:06}.json", self.task.worker, self.next);
        let path = self.task.corpus.join(&name);
        record::replace(&path, &serde_json::to_string(entry)?).map_err(io::Error::other)?;
        self.next += 1;
        self.known.insert(name);
        Ok(())
    }

    /// What was kept since the last time, by this worker's predecessors and by others; nothing if that was just now.
    /// A campaign may come from elsewhere, so what might reach beyond the database is left out.
    pub fn arrivals(&mut self, dialect: &Dialect) -> Vec<Entry> {
        let now = system::nanos();
        let alone = self.task.config.jobs == 1 && !self.task.shares;
        if self.looked > 0 && (alone || now - self.looked < PAUSE_NANOS) {
            return Vec::new();
        }
        self.looked = now;
        let names: Vec<String> = self.names().into_iter().filter(|name| !self.known.contains(name)).collect();
        let confinement = Confinement::new(dialect, self.place);
        let read = |name: &String| {
            let text = fs::read(self.task.corpus.join(name)).ok()?;
            let entry: Entry = serde_json::from_slice(&text).ok()?;
            confinement.refusal_of_entry(&entry).is_none().then_some(entry)
        };
        let arrived = names.iter().filter_map(read).collect();
        self.known.extend(names);
        arrived
    }

    /// Reads this worker's share of the seeds that are not read yet. A seed that crashes the engine is not read
    /// again by the worker that follows.
    pub fn read_seeds(
        &mut self,
        dialect: &Dialect,
        session: &mut Session,
        refused: &mut dyn FnMut(String) -> io::Result<()>,
    ) -> anyhow::Result<Vec<Entry>> {
        let confinement = Confinement::new(dialect, self.place);
        let marker = self.task.corpus.join(format!("{}-seeds", self.task.worker));
        let begun = fs::read_to_string(&marker).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let mut entries = Vec::new();
        let task = self.task;
        let share = task.config.share_of_seeds(task.worker, &dialect.name);
        for (at, script) in share.iter().enumerate().skip(begun) {
            record::replace(&marker, &format!("{}\n", at + 1)).context("cannot write to the corpus")?;
            let (name, text) = (script.name(), script.text()?);
            for script in import::scripts(&name, &text) {
                let mut statements = import::file(&name, &script, dialect);
                for (line, why) in confinement.take_refused(&mut statements) {
                    refused(format!("not run: {name}:{line}: {why}"))?;
                }
                if let Some(entry) = seed(statements, dialect, session)? {
                    self.keep(&entry).context("cannot write to the corpus")?;
                    entries.push(entry);
                }
            }
        }
        Ok(entries)
    }
}

/// A script as an entry: what the engine does not answer alike for the script and for our rendering stays text, and
/// of text only what builds state.
fn seed(
    mut statements: Vec<Imported>,
    dialect: &Dialect,
    session: &mut Session,
) -> anyhow::Result<Option<Entry>> {
    let replies = import::verify(&mut statements, session).map_err(|trouble| anyhow::anyhow!(trouble))?;
    let mut entry = Entry::default();
    for (imported, reply) in statements.into_iter().zip(replies) {
        match imported.statement {
            _ if matches!(reply, Reply::Failed(_)) => {}
            Statement::Query(query) => entry.queries.push(*query),
            Statement::Raw(text) if !import::builds_state(&text) => {}
            // Some would have others depend on them, or switch the engine's own checks off.
            Statement::Set { name, .. } if !dialect.settings.iter().any(|known| known.name == name) => {}
            statement => entry.setup.push(statement),
        }
    }
    Ok((!entry.setup.is_empty()).then_some(entry))
}
