//! Shared memory where a worker writes what it is about to run, so that the supervisor knows the exact statement,
//! and the state it ran in, after the process is gone.
//!
//! Writing is a copy and a few stores, with no system call per statement. The header consists of atomics and may be
//! read at any time; the texts may be read only after the worker has ended.

use std::fs::{File, OpenOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use dissent_core::oracle;
use dissent_core::session::Purpose;
use memmap2::{MmapOptions, MmapRaw};

use crate::system;

const HEADER_BYTES: usize = 4096;
/// A longer statement is cut in the journal (and known to be).
const SQL_BYTES: usize = 1 << 20;
/// Pages nobody writes cost nothing, so this is generous.
const SETUP_BYTES: usize = 16 << 20;
pub const BYTES: usize = HEADER_BYTES + SQL_BYTES + SETUP_BYTES;
/// How often a worker that waits looks whether it may go on.
const PAUSE_LOOK: Duration = Duration::from_millis(20);

/// New memory is zero: no statement yet, nothing begun.
#[repr(C)]
struct Header {
    /// Set by the supervisor: end at the next case.
    stop: AtomicU64,
    /// Set and taken back by the supervisor: wait before the next case.
    pause: AtomicU64,
    /// 1 while the worker waits because it was asked to.
    paused: AtomicU64,
    /// Changes whenever the worker moves on; a number that stays is a worker that is stuck.
    sequence: AtomicU64,
    /// 1 while the engine runs a statement.
    running: AtomicU64,
    database: AtomicU64,
    case: AtomicU64,
    /// Cases begun by this process.
    cases: AtomicU64,
    statements: AtomicU64,
    /// What the statements are run for, as a number of [`number_of`].
    purpose: AtomicU64,
    /// The first eight bytes of the statement: what may be shown of it while it runs.
    sql_start: AtomicU64,
    /// The whole length, even if the text was cut.
    sql_length: AtomicU64,
    setup_length: AtomicU64,
    /// 1 until the first statement of a new database: the old one is still being taken down.
    fresh: AtomicU64,
    /// Setup statements that found no room.
    setup_lost: AtomicU64,
}

pub struct Journal {
    map: MmapRaw,
}

/// A look at a living worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    pub sequence: u64,
    pub running: bool,
    pub paused: bool,
    pub database: u64,
    pub case: u64,
    pub statements: u64,
    pub purpose: &'static str,
    pub statement: [u8; 8],
}

/// What a worker that has ended left behind.
#[derive(Debug)]
pub struct Remains {
    /// The last statement, if there was one.
    pub statement: Option<String>,
    pub statement_cut: bool,
    /// It ended inside that statement, not after it.
    pub running: bool,
    pub setup: Vec<String>,
    pub setup_cut: bool,
    pub database: u64,
    pub case: u64,
    pub cases: u64,
}

impl Journal {
    /// The supervisor's side: maps the memory it will share.
    pub fn new(file: &File) -> anyhow::Result<Journal> {
        let map = MmapOptions::new().len(BYTES).map_raw(file).context("cannot map a worker's journal")?;
        Ok(Journal { map })
    }

    /// The worker's side.
    pub fn open(path: &str) -> anyhow::Result<Journal> {
        let file = OpenOptions::new().read(true).write(true).open(path).context("cannot open the journal")?;
        Journal::new(&file)
    }

    fn header(&self) -> &Header {
        // SAFETY: the map is page-aligned, longer than the header, and lives as long as `self`. Atomics
        // are valid for every bit pattern and may be shared with another process.
        unsafe { &*self.map.as_ptr().cast::<Header>() }
    }

    /// Copies as much as fits in the `size` bytes at `start`; gives how much that was.
    fn write(&self, start: usize, size: usize, bytes: &[u8]) -> usize {
        let fits = bytes.len().min(size);
        // SAFETY: the callers' areas lie inside the map; the worker has one thread, and the supervisor
        // reads these bytes only after the worker has ended, so nobody reads while this writes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.map.as_mut_ptr().add(start), fits);
        }
        fits
    }

    fn read(&self, start: usize, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        // SAFETY: the callers' areas lie inside the map and the worker that wrote them has ended.
        unsafe {
            std::ptr::copy_nonoverlapping(self.map.as_ptr().add(start), bytes.as_mut_ptr(), size);
        }
        bytes
    }

    // The worker writes.

    pub fn begin_statement(&self, sql: &str) {
        let header = self.header();
        if header.fresh.load(Ordering::Relaxed) != 0 {
            header.fresh.store(0, Ordering::Relaxed);
            header.setup_length.store(0, Ordering::Relaxed);
            header.setup_lost.store(0, Ordering::Relaxed);
        }
        self.write(HEADER_BYTES, SQL_BYTES, sql.as_bytes());
        header.sql_length.store(sql.len() as u64, Ordering::Relaxed);
        header.sql_start.store(start_of(sql), Ordering::Relaxed);
        header.statements.store(header.statements.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        header.running.store(1, Ordering::Relaxed);
        self.move_on();
    }

    pub fn end_statement(&self) {
        self.header().running.store(0, Ordering::Relaxed);
        self.move_on();
    }

    /// What the statements that follow are run for.
    pub fn spend_on(&self, purpose: Purpose) {
        self.header().purpose.store(number_of(purpose), Ordering::Relaxed);
    }

    /// A case begins; case 0 builds a new database.
    pub fn begin_case(&self, database: u64, case: u64) {
        let header = self.header();
        if case == 0 {
            header.fresh.store(1, Ordering::Relaxed);
        } else {
            header.cases.store(header.cases.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        header.database.store(database, Ordering::Relaxed);
        header.case.store(case, Ordering::Relaxed);
        self.move_on();
    }

    /// The state of the current database is built again from here on.
    pub fn start_over(&self) {
        self.header().fresh.store(1, Ordering::Relaxed);
        self.move_on();
    }

    /// A statement became part of the state.
    pub fn add_setup(&self, sql: &str) {
        let header = self.header();
        let used = header.setup_length.load(Ordering::Relaxed) as usize;
        let needed = sql.len() + 4;
        if used + needed > SETUP_BYTES {
            header.setup_lost.store(header.setup_lost.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return;
        }
        let at = HEADER_BYTES + SQL_BYTES + used;
        self.write(at, 4, &(sql.len() as u32).to_le_bytes());
        self.write(at + 4, sql.len(), sql.as_bytes());
        header.setup_length.store((used + needed) as u64, Ordering::Relaxed);
    }

    pub fn cases(&self) -> u64 {
        self.header().cases.load(Ordering::Relaxed)
    }

    pub fn position(&self) -> (u64, u64) {
        (self.header().database.load(Ordering::Relaxed), self.header().case.load(Ordering::Relaxed))
    }

    pub fn asked_to_stop(&self) -> bool {
        self.header().stop.load(Ordering::Relaxed) != 0
    }

    /// Waits as long as the supervisor wants that; gives for how long, in nanoseconds. Its pulse goes on meanwhile: a
    /// worker that waits is not stuck.
    pub fn wait_while_paused(&self) -> u64 {
        let header = self.header();
        if header.pause.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let began = system::nanos();
        header.paused.store(1, Ordering::Relaxed);
        while header.pause.load(Ordering::Relaxed) != 0 && !self.asked_to_stop() {
            std::thread::sleep(PAUSE_LOOK);
            self.move_on();
        }
        header.paused.store(0, Ordering::Relaxed);
        system::nanos() - began
    }

    fn move_on(&self) {
        let sequence = &self.header().sequence;
        sequence.store(sequence.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    // The supervisor reads.

    pub fn ask_to_stop(&self) {
        self.header().stop.store(1, Ordering::Relaxed);
    }

    pub fn ask_to_pause(&self, pause: bool) {
        self.header().pause.store(u64::from(pause), Ordering::Relaxed);
    }

    pub fn pulse(&self) -> Pulse {
        let header = self.header();
        let sequence = header.sequence.load(Ordering::Acquire);
        let number = |field: &AtomicU64| field.load(Ordering::Relaxed);
        Pulse {
            sequence,
            running: number(&header.running) != 0,
            paused: number(&header.paused) != 0,
            database: number(&header.database),
            case: number(&header.case),
            statements: number(&header.statements),
            purpose: word_for(number(&header.purpose)),
            statement: number(&header.sql_start).to_le_bytes(),
        }
    }

    /// Only after the worker has ended.
    pub fn remains(&self) -> Remains {
        let header = self.header();
        let number = |field: &AtomicU64| field.load(Ordering::Acquire);
        let length = number(&header.sql_length) as usize;
        let sql = self.read(HEADER_BYTES, length.min(SQL_BYTES));
        let setup_length = (number(&header.setup_length) as usize).min(SETUP_BYTES);
        Remains {
            statement: (number(&header.statements) > 0).then(|| String::from_utf8_lossy(&sql).into_owned()),
            statement_cut: length > SQL_BYTES,
            running: number(&header.running) != 0,
            setup: split_entries(&self.read(HEADER_BYTES + SQL_BYTES, setup_length)),
            setup_cut: number(&header.setup_lost) > 0,
            database: number(&header.database),
            case: number(&header.case),
            cases: number(&header.cases),
        }
    }
}

/// Purposes that are no check, by their numbers; oracles come behind.
const OTHER_PURPOSES: [&str; 4] = ["building", "learning", "trimming", "confirming"];

fn number_of(purpose: Purpose) -> u64 {
    let at = match purpose {
        Purpose::Build | Purpose::Reset => 0,
        Purpose::Guide => 1,
        Purpose::Rehearsal => 2,
        Purpose::Confirm => 3,
        Purpose::Arm(name) | Purpose::Scaffold(name) => {
            let at = oracle::all().iter().position(|oracle| oracle.name() == name);
            at.map_or(0, |at| OTHER_PURPOSES.len() + at)
        }
    };
    at as u64
}

/// A crash that scribbled over the memory may have left any number.
fn word_for(purpose: u64) -> &'static str {
    let at = usize::try_from(purpose).unwrap_or(usize::MAX);
    let oracle = || oracle::all().get(at - OTHER_PURPOSES.len()).map_or("", |oracle| oracle.name());
    OTHER_PURPOSES.get(at).copied().unwrap_or_else(oracle)
}

/// The first bytes of a text as a number.
fn start_of(text: &str) -> u64 {
    let mut start = [0; 8];
    let length = text.len().min(start.len());
    start[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_le_bytes(start)
}

/// Entries of four bytes of length and that many of text. A crash that scribbled over the memory may
/// have left nonsense: what does not fit ends the list.
fn split_entries(mut bytes: &[u8]) -> Vec<String> {
    let mut entries = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let Some(text) = rest.get(..u32::from_le_bytes(*length) as usize) else { break };
        entries.push(String::from_utf8_lossy(text).into_owned());
        bytes = &rest[text.len()..];
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        Journal::new(&crate::system::memory_file(BYTES as u64).unwrap()).unwrap()
    }

    #[test]
    fn remains_hold_the_statement_and_the_state_it_ran_in() {
        let journal = journal();
        assert_eq!(journal.remains().statement, None);
        journal.begin_case(3, 0);
        journal.begin_statement("CREATE TABLE old0 (c0)");
        journal.end_statement();
        journal.add_setup("CREATE TABLE old0 (c0)");
        journal.begin_case(4, 0);
        assert_eq!(journal.remains().setup, ["CREATE TABLE old0 (c0)"]);
        for sql in ["CREATE TABLE t0 (c0)", "INSERT INTO t0 VALUES ('ü')"] {
            journal.begin_statement(sql);
            journal.end_statement();
            journal.add_setup(sql);
        }
        journal.begin_case(4, 1);
        journal.begin_statement("SELECT 1");
        let remains = journal.remains();
        assert_eq!(remains.statement.as_deref(), Some("SELECT 1"));
        assert!(remains.running && !remains.statement_cut && !remains.setup_cut);
        assert_eq!(remains.setup, ["CREATE TABLE t0 (c0)", "INSERT INTO t0 VALUES ('ü')"]);
        assert_eq!((remains.database, remains.case, remains.cases), (4, 1, 1));
    }

    #[test]
    fn what_is_too_long_is_cut_and_known_to_be() {
        let journal = journal();
        journal.add_setup(&"x".repeat(SETUP_BYTES));
        journal.add_setup("CREATE TABLE t0 (c0)");
        journal.begin_statement(&"y".repeat(SQL_BYTES + 1));
        let remains = journal.remains();
        assert!(remains.statement_cut && remains.setup_cut);
        assert_eq!(remains.statement.map(|sql| sql.len()), Some(SQL_BYTES));
        assert_eq!(remains.setup, ["CREATE TABLE t0 (c0)"]);
    }

    #[test]
    fn a_worker_waits_with_a_pulse_until_it_may_go_on() {
        let journal = journal();
        assert_eq!(journal.wait_while_paused(), 0);
        journal.ask_to_pause(true);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| journal.wait_while_paused());
            while !journal.pulse().paused {
                std::thread::yield_now();
            }
            let first = journal.pulse();
            std::thread::sleep(5 * PAUSE_LOOK);
            assert!(journal.pulse().sequence > first.sequence && journal.pulse().paused);
            journal.ask_to_pause(false);
            assert!(worker.join().unwrap() >= 5 * PAUSE_LOOK.as_nanos() as u64);
        });
        assert!(!journal.pulse().paused);
    }

    #[test]
    fn the_oracle_that_statements_are_run_for_can_be_seen() {
        let journal = journal();
        assert_eq!(journal.pulse().purpose, "building");
        for oracle in oracle::all() {
            journal.spend_on(Purpose::Arm(oracle.name()));
            assert_eq!(journal.pulse().purpose, oracle.name());
        }
        assert_eq!(word_for(u64::MAX), "");
    }

    #[test]
    fn a_worker_that_moves_on_has_another_pulse() {
        let journal = journal();
        journal.begin_statement("SELECT 1");
        let first = journal.pulse();
        assert!(first.running);
        assert_eq!(&first.statement, b"SELECT 1");
        assert_eq!(first, journal.pulse());
        journal.end_statement();
        assert_ne!(first, journal.pulse());
    }

    #[test]
    fn entries_that_were_scribbled_over_end_the_list() {
        let mut bytes = vec![2, 0, 0, 0, b'o', b'k'];
        bytes.extend_from_slice(&[255, 255, 255, 255, b'?']);
        assert_eq!(split_entries(&bytes), ["ok"]);
    }
}
