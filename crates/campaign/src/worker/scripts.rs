//! A worker that runs scripts and gives their queries to the oracles.

use anyhow::anyhow;
use dissent_core::check;
use dissent_core::confine::{Confinement, Place};
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::import;
use dissent_core::subject::TestCase;
use dissent_core::walk::Watcher;

use super::journal::Journal;
use super::protocol::{Difference, Event, Events, Label, ScriptsTask, Tally};
use super::{Engines, JournalWriter, hunt};

pub fn run(
    task: &ScriptsTask,
    place: Place,
    mut engines: Engines,
    dialect: &Dialect,
    mut writer: JournalWriter,
    events: &mut Events,
) -> anyhow::Result<()> {
    let oracles = hunt::oracles(&task.oracles)?;
    let confinement = Confinement::new(dialect, place);
    let journal = writer.journal.clone();
    let mut session = engines.session(dialect, &mut writer);
    for (number, script) in task.scripts.iter().enumerate().skip(task.skip) {
        let mut reporter =
            Reporter { journal: &journal, events: &mut *events, tally: Tally::default(), lost: None };
        let import::File { mut statements, left_out } = import::read(&script.name, &script.text, dialect);
        let confined = confinement.take_refused(&mut statements);
        let queries = statements.iter().filter(|imported| imported.query().is_some()).count();
        reporter.send(&Event::ScriptRead { statements: statements.len(), queries });
        let read = check::script(number as u64, statements, &oracles, &mut session, &mut reporter);
        let mut read = read.map_err(|trouble| anyhow!("{}: {trouble}", script.name))?;
        read.statements += confined.len();
        (read.confined, read.left_out) = (confined, left_out);
        let mut tally = reporter.tally;
        if let Some(error) = reporter.lost {
            return Err(error.into());
        }
        tally.counts = std::mem::take(&mut session.counts);
        events.send(&Event::Progress(Box::new(tally)))?;
        events.send(&Event::ScriptChecked(read))?;
    }
    Ok(())
}

/// Counts verdicts and passes findings on.
struct Reporter<'a> {
    journal: &'a Journal,
    events: &'a mut Events,
    tally: Tally,
    /// Whoever started us no longer listens.
    lost: Option<std::io::Error>,
}

impl Reporter<'_> {
    fn send(&mut self, event: &Event) {
        if let Err(error) = self.events.send(event) {
            self.lost = Some(error);
        }
    }
}

impl Watcher for Reporter<'_> {
    fn case(&mut self, database: u64, case: u64) -> bool {
        self.journal.begin_case(database, case);
        true
    }

    fn verdict(&mut self, oracle: &'static str, verdict: &Verdict) {
        self.tally.oracles.entry(Label::Borrowed(oracle)).or_default().count(verdict);
    }

    fn finding(&mut self, origin: Origin, case: TestCase, evidence: Evidence) {
        self.send(&Event::Finding(Box::new(Difference { origin, case, evidence })));
    }

    fn unstable(&mut self, origin: Origin, case: TestCase, evidence: Evidence) {
        self.send(&Event::Unstable(Box::new(Difference { origin, case, evidence })));
    }
}
