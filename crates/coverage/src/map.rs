//! The memory that all processes of a campaign share: which places of a build were seen, and in which order.
//!
//! One file: a header, the places, a byte for each of them (seen or not), and the log: the places in the order in which
//! they were first seen, each with the worker whose engine it was. The header counts the log's entries, so whether
//! anything is new is one load. `preload.c` knows the same layout.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};

use crate::scan::replace;
use crate::{Code, CoverageError};

const MAGIC: u64 = u64::from_le_bytes(*b"dsntmap1");
const HEADER_BYTES: usize = 4096;
const MOST_ID_BYTES: usize = 128;
const HEADER_NUMBERS: usize = HEADER_BYTES / 8;
/// Where the counters of workers begin in the header, and how many there are: workers beyond share them.
const FIRST_COUNTER: usize = HEADER_NUMBERS / 2;
const COUNTERS: usize = HEADER_NUMBERS - FIRST_COUNTER;

/// What a map begins with, as numbers of 64 bits. Behind the id only counters follow; they and `hits` ever change.
#[repr(C)]
struct Header {
    magic: u64,
    /// How many places there are.
    places: u64,
    /// How many of them were seen: the length of the log.
    hits: AtomicU64,
    id_length: u64,
    id: [u8; MOST_ID_BYTES],
    /// How many breakpoints were met, again and again by processes that are copies of one another.
    traps: AtomicU64,
    /// How long it took engines to set their breakpoints, all together.
    arming_nanos: AtomicU64,
    spare: [u64; FIRST_COUNTER - 4 - MOST_ID_BYTES / 8 - 2],
    /// How many engines of each worker set their breakpoints.
    armed: [AtomicU64; COUNTERS],
}

const _: () = assert!(size_of::<Header>() == HEADER_BYTES);

/// The map of a campaign, shared with other processes. It is there as long as somebody has it open.
pub struct Map {
    memory: MmapRaw,
    file: File,
    places: usize,
}

/// Where the parts of a map are.
struct Layout {
    flags: usize,
    log: usize,
    size: usize,
}

impl Layout {
    fn of(places: usize) -> Layout {
        let flags = HEADER_BYTES + 4 * places;
        let log = (flags + places).next_multiple_of(8);
        Layout { flags, log, size: log + 8 * places }
    }
}

impl Map {
    /// Makes a map in which nothing was seen, unless there is one for the same places. One for others is not replaced:
    /// what a campaign has kept names places by their numbers in it.
    pub fn create(path: &Path, code: &Code) -> Result<(), CoverageError> {
        if path.exists() {
            return match Map::open(path)?.is_of(code) {
                true => Ok(()),
                false => Err(CoverageError::OtherBuild),
            };
        }
        let places = code.places.len();
        let id = &code.id.as_bytes()[..code.id.len().min(MOST_ID_BYTES)];
        let mut bytes = Vec::with_capacity(HEADER_BYTES + 4 * places);
        for number in [MAGIC, places as u64, 0, id.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(id);
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend(code.places.iter().flat_map(|place| place.to_le_bytes()));
        let unfinished = path.with_extension("unfinished");
        // Flags and log are zero, and take no room until they are written.
        let make = || -> io::Result<()> {
            replace(&unfinished, &bytes)?;
            OpenOptions::new().write(true).open(&unfinished)?.set_len(Layout::of(places).size as u64)?;
            std::fs::rename(&unfinished, path)
        };
        make().map_err(CoverageError::file(path))
    }

    /// Opens a map that was made.
    pub fn open(path: &Path) -> Result<Map, CoverageError> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "not a map of code coverage");
        let open = || -> io::Result<Map> {
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            let size = file.metadata()?.len() as usize;
            if size < HEADER_BYTES {
                return Err(wrong());
            }
            let memory = MmapOptions::new().map_raw(&file)?;
            let mut map = Map { memory, file, places: 0 };
            let places = map.header().places as usize;
            if map.header().magic != MAGIC || places > size || Layout::of(places).size != size {
                return Err(wrong());
            }
            map.places = places;
            Ok(map)
        };
        open().map_err(CoverageError::file(path))
    }

    fn header(&self) -> &Header {
        // SAFETY: the memory is longer than a header, page-aligned, and lives as long as `self`. What others may change
        // of it is atomic.
        unsafe { &*self.memory.as_ptr().cast::<Header>() }
    }

    /// Whether it is about these places of this build.
    pub fn is_of(&self, code: &Code) -> bool {
        let header = self.header();
        let id = header.id.get(..header.id_length as usize).unwrap_or_default();
        code.id.as_bytes().starts_with(id) && !id.is_empty() && self.places() == code.places
    }

    /// The places, sorted.
    pub fn places(&self) -> &[u32] {
        // SAFETY: the layout has so many numbers there (checked when it was opened), and nobody writes to them.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(HEADER_BYTES).cast(), self.places) }
    }

    /// For each place whether it was seen.
    fn flags(&self) -> &[AtomicU8] {
        // SAFETY: the layout has a byte for each place there. They are atomic here and in `preload.c`.
        unsafe {
            let start = self.memory.as_ptr().add(Layout::of(self.places).flags);
            std::slice::from_raw_parts(start.cast(), self.places)
        }
    }

    fn log(&self) -> &[AtomicU64] {
        // SAFETY: the layout has an aligned number for each place there; atomic as above.
        unsafe {
            let start = self.memory.as_ptr().add(Layout::of(self.places).log);
            std::slice::from_raw_parts(start.cast(), self.places)
        }
    }

    /// How many places were seen.
    pub fn hits(&self) -> u64 {
        self.header().hits.load(Ordering::Acquire).min(self.places as u64)
    }

    /// How many engines of a worker have set their breakpoints since the map was made.
    pub fn armed(&self, worker: u32) -> u64 {
        self.header().armed[worker as usize % COUNTERS].load(Ordering::Acquire)
    }

    /// How long it took an engine to set its breakpoints, on average.
    pub fn arming(&self) -> Option<Duration> {
        let engines: u64 = self.header().armed.iter().map(|count| count.load(Ordering::Acquire)).sum();
        self.header().arming_nanos.load(Ordering::Acquire).checked_div(engines).map(Duration::from_nanos)
    }

    /// Counts that an engine of this worker has set its breakpoints, and how long that took.
    pub fn count_armed(&self, worker: u32, took: Duration) {
        self.header().arming_nanos.fetch_add(took.as_nanos() as u64, Ordering::AcqRel);
        self.header().armed[worker as usize % COUNTERS].fetch_add(1, Ordering::AcqRel);
    }

    /// How many breakpoints were met: more than places were seen if processes met the same ones.
    pub fn traps(&self) -> u64 {
        self.header().traps.load(Ordering::Acquire)
    }

    /// Whether the place of this number was seen.
    pub fn is_seen(&self, number: usize) -> bool {
        self.flags().get(number).is_some_and(|flag| flag.load(Ordering::Relaxed) != 0)
    }

    /// The number of the place at this address. Allocates nothing: a signal handler calls it.
    pub(crate) fn number_of(&self, address: u32) -> Option<usize> {
        self.places().binary_search(&address).ok()
    }

    /// Notes that a worker's engine was at a place. Allocates nothing: a signal handler calls it.
    pub(crate) fn note(&self, number: usize, worker: u32) {
        let Some(flag) = self.flags().get(number) else { return };
        self.header().traps.fetch_add(1, Ordering::Relaxed);
        if flag.swap(1, Ordering::Relaxed) == 0 {
            let at = self.header().hits.fetch_add(1, Ordering::AcqRel);
            // Each place is logged once, so there is room.
            if let Some(entry) = self.log().get(at as usize) {
                entry.store(entry_of(number, worker), Ordering::Release);
            }
        }
    }

    /// The file, for a process that inherits it.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Zero is an entry that is not written yet.
fn entry_of(number: usize, worker: u32) -> u64 {
    (u64::from(worker) + 1) << 32 | number as u64
}

/// Reads what engines show for the first time.
pub struct Reader {
    map: Map,
    /// Whose; none: everybody's.
    worker: Option<u32>,
    /// How much of the log was read.
    at: u64,
    /// Entries that were counted and not written yet when they were read. Whoever was to write one may have died.
    missing: Vec<u64>,
}

impl Reader {
    /// What this worker's engine shows from now on.
    pub fn new(map: Map, worker: u32) -> Reader {
        let at = map.hits();
        Reader { map, worker: Some(worker), at, missing: Vec::new() }
    }

    /// What was and will be seen at all.
    pub fn of_all(map: Map) -> Reader {
        Reader { map, worker: None, at: 0, missing: Vec::new() }
    }

    /// Names the places that nobody had seen before, since the last time.
    pub fn take(&mut self, new: &mut dyn FnMut(u32)) {
        let hits = self.map.hits();
        if hits == self.at && self.missing.is_empty() {
            return;
        }
        let mut missing = std::mem::take(&mut self.missing);
        missing.extend(self.at..hits);
        self.at = hits;
        missing.retain(|at| {
            let entry = self.map.log().get(*at as usize).map_or(0, |entry| entry.load(Ordering::Acquire));
            let is_read = self.worker.is_none_or(|worker| entry >> 32 == u64::from(worker) + 1);
            if entry != 0 && is_read {
                new(entry as u32);
            }
            entry == 0
        });
        // Nobody writes that late.
        missing.retain(|at| at + MOST_LATE > hits);
        self.missing = missing;
    }
}

/// So many entries later, one that is still missing is given up.
const MOST_LATE: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn code(id: &str) -> Code {
        Code { id: id.to_string(), functions: vec![16, 64], places: vec![16, 20, 64, 70, 90] }
    }

    #[test]
    fn each_worker_reads_what_it_was_first_to_see() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("coverage.map");
        Map::create(&path, &code("a")).unwrap();
        let open = || Map::open(&path).unwrap();
        let (mut first, mut second) = (Reader::new(open(), 0), Reader::new(open(), 1));
        let taken = |reader: &mut Reader| {
            let mut taken = Vec::new();
            reader.take(&mut |number| taken.push(number));
            taken
        };
        let map = open();
        assert_eq!((map.number_of(64), map.number_of(65)), (Some(2), None));
        map.note(2, 0);
        map.note(4, 1);
        map.note(2, 1);
        assert_eq!((taken(&mut first), taken(&mut second)), (vec![2], vec![4]));
        assert_eq!((taken(&mut first), map.hits()), (vec![], 2));
        // One that died between counting and writing is waited for, and loses nothing of the others.
        map.header().hits.fetch_add(1, Ordering::AcqRel);
        map.note(0, 0);
        assert_eq!((taken(&mut first), taken(&mut first)), (vec![0], vec![]));
        map.log()[2].store(entry_of(3, 0), Ordering::Release);
        assert_eq!(taken(&mut first), [3]);
        // Whoever comes later begins behind it all.
        assert!(taken(&mut Reader::new(open(), 0)).is_empty());
        assert!(open().is_seen(0) && !open().is_seen(1));
        assert_eq!(open().traps(), 4);
        assert_eq!(taken(&mut Reader::of_all(open())), [2, 4, 3, 0]);
    }

    #[test]
    fn servers_are_counted_by_worker() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("coverage.map");
        Map::create(&path, &code("a")).unwrap();
        let map = Map::open(&path).unwrap();
        assert_eq!(map.arming(), None);
        map.count_armed(1, Duration::from_millis(20));
        assert_eq!(map.arming(), Some(Duration::from_millis(20)));
        assert_eq!([0, 1, 2, COUNTERS as u32].map(|worker| map.armed(worker)), [0, 1, 0, 0]);
    }

    #[test]
    fn a_map_goes_on_for_the_same_build_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("coverage.map");
        Map::create(&path, &code("a")).unwrap();
        Map::open(&path).unwrap().note(1, 0);
        Map::create(&path, &code("a")).unwrap();
        assert_eq!(Map::open(&path).unwrap().hits(), 1);
        assert!(matches!(Map::create(&path, &code("b")), Err(CoverageError::OtherBuild)));
        assert_eq!(Map::open(&path).unwrap().hits(), 1);
        std::fs::write(&path, "something else").unwrap();
        assert!(Map::open(&path).is_err() && Map::create(&path, &code("a")).is_err());
    }
}
