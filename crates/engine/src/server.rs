//! Private servers: each has its own data directory and a process that always ends when ours does, and leaves
//! nothing behind.
//!
//! A [`Home`] is the directory, a [`Server`] the process; whatever else needs a temporary directory has a home, too. Both belong to the engine that uses them, in the worker's
//! only thread: the kernel ends the process with the *thread* that started it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::EngineError;
use crate::confine::{Confinement, User, check};
use crate::process::process_start;

/// What homes are called: `dissent-server-ENGINE-PID-RANDOM`.
const PREFIX: &str = "dissent-server-";
/// A file system in memory.
const MEMORY: &str = "/dev/shm";
/// Held locked by the process that owns the home: whose lock can be taken is dead.
const LOCK: &str = "lock";
/// A home without a lock is being made, or a remnant of one that was being removed: by a process that is not there any
/// more, or that this one cannot see.
const REMNANT_AGE: Duration = Duration::from_secs(60);
const REMNANT_AGE_OF_DEAD: Duration = Duration::from_secs(2);
/// How long the processes of a dead server may go on writing to its home.
const AFTERLIFE: Duration = Duration::from_secs(3);
/// How long a server may take to obey the signal that ends it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A directory for one server, in memory if there is room: databases spend their time on syncing. Or one for what is
/// needed only for a while.
///
/// Removed with the value; if our process is killed, by the next one that makes a home.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    _lock: File,
}

impl Home {
    /// `room`: what the server may come to need, in bytes.
    pub fn create(engine: &str, room: u64) -> Result<Home, EngineError> {
        let [memory, disk] = bases();
        sweep(&memory);
        sweep(&disk);
        let base = if free_space(&memory) >= room { memory } else { disk };
        let prefix = match ENCLOSURES.get() {
            Some(_) => format!("{engine}-"),
            None => prefix(engine),
        };
        let home = Home::create_in(&base, &prefix).and_then(Home::open_to_servers);
        home.map_err(|error| EngineError::NotWritable { path: base, error })
    }

    /// A temporary directory on disk that needs no server. `purpose` is one word.
    pub fn scratch(purpose: &str) -> Result<Home, EngineError> {
        let [_, disk] = bases();
        sweep(&disk);
        Home::create_in(&disk, &prefix(purpose))
            .map_err(|error| EngineError::NotWritable { path: disk, error })
    }

    fn create_in(base: &Path, prefix: &str) -> io::Result<Home> {
        let path = tempfile::Builder::new().prefix(prefix).tempdir_in(base)?.keep();
        homes().push(path.clone());
        let lock = File::create(path.join("lock.new"))?;
        try_lock(&lock)?;
        // Under its name it is locked from the first moment on.
        fs::rename(path.join("lock.new"), path.join(LOCK))?;
        Ok(Home { path, _lock: lock })
    }

    /// A server that runs as another user has to pass through.
    fn open_to_servers(self) -> io::Result<Home> {
        fs::set_permissions(&self.path, fs::Permissions::from_mode(0o711))?;
        Ok(self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A server that was just ended may still have children that write their last.
        for _ in 0..20 {
            match remove(&self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => sleep(Duration::from_millis(10)),
                _ => break,
            }
        }
        homes().retain(|home| *home != self.path);
    }
}

/// The homes that this process has.
fn homes() -> MutexGuard<'static, Vec<PathBuf>> {
    static HOMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    HOMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The start of a home's name.
fn prefix(engine: &str) -> String {
    format!("{PREFIX}{engine}-{}-", std::process::id())
}

/// Where the homes of a confined process are, in memory and on disk.
static ENCLOSURES: OnceLock<[Home; 2]> = OnceLock::new();

/// From now on, homes and temporary files are made inside of these directories, so that nothing else need be writable.
///
/// # Safety
///
/// The process has no other thread: one could read the environment while `TMPDIR` changes.
pub(crate) unsafe fn enclose() -> io::Result<()> {
    let [memory, disk] = bases();
    sweep(&memory);
    sweep(&disk);
    let here = |base: &Path| Home::create_in(base, &prefix("worker")).and_then(Home::open_to_servers);
    // Not every machine has the first.
    let enclosures = [here(&memory).or_else(|_| here(&disk))?, here(&disk)?];
    // Engines that are libraries look for it themselves.
    // SAFETY: the caller has made sure that nobody reads the environment.
    unsafe { std::env::set_var("TMPDIR", &enclosures[1].path) };
    let _ = ENCLOSURES.set(enclosures);
    Ok(())
}

/// The directories that [`enclose`] made.
pub(crate) fn enclosures() -> Option<[PathBuf; 2]> {
    ENCLOSURES.get().map(|enclosures| enclosures.each_ref().map(|home| home.path.clone()))
}

/// Removes the homes of this process, which is about to end without dropping them; their servers are dead.
pub fn remove_homes() {
    homes().drain(..).for_each(|home| {
        persist(AFTERLIFE, || remove(&home).is_ok() || !home.exists());
    });
}

/// Removes the homes whose owners are dead; waits for servers that are about to be.
pub fn sweep_all() {
    persist(AFTERLIFE, || bases().iter().map(|base| sweep(base)).sum::<usize>() == 0);
}

/// Where homes are: in memory, or on disk.
fn bases() -> [PathBuf; 2] {
    enclosures().unwrap_or_else(|| [PathBuf::from(MEMORY), std::env::temp_dir()])
}

fn persist(limit: Duration, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() && start.elapsed() < limit {
        sleep(Duration::from_millis(10));
    }
}

/// Removes the homes whose owners are dead. Gives how many are still there, to be removed by the next sweep.
fn sweep(base: &Path) -> usize {
    // SAFETY: takes nothing and cannot fail.
    let me = unsafe { libc::geteuid() };
    let mut left = 0;
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let ours = |meta: &fs::Metadata| name.starts_with(PREFIX) && meta.is_dir() && meta.uid() == me;
        // Not followed if it is a link: anybody may put one here.
        let Some(meta) = path.symlink_metadata().ok().filter(ours) else { continue };
        let abandoned = match File::open(path.join(LOCK)) {
            Ok(lock) => try_lock(&lock).is_ok(),
            Err(_) => {
                let age = meta.modified().ok().and_then(|at| at.elapsed().ok()).unwrap_or_default();
                age > if has_living_owner(&name) { REMNANT_AGE } else { REMNANT_AGE_OF_DEAD }
            }
        };
        let stays = match abandoned {
            true => remove(&path).is_err() && path.exists(),
            // Its owner is dead, and its server, which has the lock too, is dying.
            false => !has_living_owner(&name),
        };
        left += usize::from(stays);
    }
    left
}

/// Whether the process is running whose number is in a home's name.
fn has_living_owner(name: &str) -> bool {
    let process = name.rsplit('-').nth(1).and_then(|process| process.parse().ok());
    process.and_then(process_start).is_some()
}

/// Removes a home, or several in one directory, and what their servers have outside of it: PostgreSQL keeps a segment of
/// shared memory, which stays if it is killed.
fn remove(home: &Path) -> io::Result<()> {
    remove_segment(home);
    fs::read_dir(home).into_iter().flatten().flatten().for_each(|entry| remove_segment(&entry.path()));
    fs::remove_dir_all(home)
}

fn remove_segment(home: &Path) {
    let note = fs::read_to_string(home.join("data/postmaster.pid")).unwrap_or_default();
    if let Some((process, key, segment)) = segment_in(&note) {
        // SAFETY: an all-zero shmid_ds is valid to be written to, and a segment is only removed if it is the one that
        // the note is about.
        unsafe {
            let mut found: libc::shmid_ds = std::mem::zeroed();
            if libc::shmctl(segment, libc::IPC_STAT, &mut found) == 0
                && (found.shm_perm.__key, found.shm_cpid) == (key, process)
            {
                libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut());
            }
        }
    }
}

/// Out of PostgreSQL's `postmaster.pid`: its process, and the key and number of its segment.
fn segment_in(note: &str) -> Option<(libc::pid_t, libc::key_t, libc::c_int)> {
    let mut lines = note.lines();
    let process = lines.next()?.trim().parse().ok()?;
    let mut words = lines.nth(5)?.split_whitespace();
    let key: u32 = words.next()?.parse().ok()?;
    Some((process, key as libc::key_t, words.next()?.parse().ok()?))
}

fn try_lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as the file.
    check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) })
}

/// Where homes are in memory, and how many bytes are free there.
pub fn free_memory() -> (&'static str, u64) {
    (MEMORY, free_space(Path::new(MEMORY)))
}

fn free_space(path: &Path) -> u64 {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()) else { return 0 };
    // SAFETY: the path ends in NUL, and an all-zero statvfs is valid to be written to.
    unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(path.as_ptr(), &mut stat) == -1 {
            return 0;
        }
        stat.f_bavail.saturating_mul(stat.f_frsize)
    }
}

/// A running server. Ended with the value, and by the kernel if our process dies first.
#[derive(Debug)]
pub struct Server {
    child: Child,
    end: libc::c_int,
    log: PathBuf,
}

impl Server {
    /// Starts it; what it prints goes to the file `log`. The signal that ends it must end all its processes.
    pub fn start(mut command: Command, confinement: Confinement, log: &Path) -> io::Result<Server> {
        let out = File::create(log)?;
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        // Ctrl-C at the terminal is for us alone.
        command.process_group(0);
        confinement.apply(&mut command);
        Ok(Server { child: command.spawn()?, end: confinement.end, log: log.to_path_buf() })
    }

    #[cfg(test)]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Everything it has printed.
    pub fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Tries until it works. Otherwise says why not: the server's last words, if it has ended, or the last
    /// failure.
    pub fn until_ready<T>(
        &mut self,
        limit: Duration,
        mut attempt: impl FnMut() -> Result<T, String>,
    ) -> Result<T, String> {
        let start = Instant::now();
        loop {
            let failure = match attempt() {
                Ok(ready) => return Ok(ready),
                Err(failure) => failure,
            };
            if let Some(status) = self.ended() {
                let log = self.log();
                let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
                // Programs in Go and Java say why, and then where.
                let says_why = |line: &&str| line.starts_with("panic: ") || line.starts_with("Exception in ");
                let why = lines.clone().find(says_why);
                let words = why.or_else(|| lines.next_back());
                return Err(words.map_or_else(|| status.to_string(), |words| format!("{words} ({status})")));
            }
            if start.elapsed() > limit {
                return Err(format!("not ready after {} s ({failure})", limit.as_secs()));
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits a little for it to end by itself.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.ended() {
                None if start.elapsed() < limit => sleep(Duration::from_millis(2)),
                status => return status,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        // SAFETY: the child has not been waited for, so its number is still its own.
        unsafe { libc::kill(self.child.id() as libc::pid_t, self.end) };
        if self.wait(PATIENCE).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Copies a directory with everything in it, permissions and links included, and gives it to `owner`.
pub fn copy_tree(from: &Path, to: &Path, owner: Option<User>) -> io::Result<()> {
    let kind = from.symlink_metadata()?;
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()), owner)?;
        }
        fs::set_permissions(to, kind.permissions())?;
    } else {
        fs::copy(from, to)?;
    }
    match owner {
        Some(user) => user.own_link(to),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Command {
        let mut command = Command::new("sleep");
        command.arg("600");
        command
    }

    fn alive(pid: u32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn a_server_ends_with_its_value_and_its_home_is_removed() {
        let home = Home::create("test", 0).unwrap();
        let path = home.path().to_path_buf();
        let server = Server::start(sleeper(), Confinement::default(), &path.join("log")).unwrap();
        let pid = server.pid();
        assert!(alive(pid) && path.is_dir());
        drop((server, home));
        assert!(!alive(pid) && !path.exists());
    }

    #[test]
    fn a_server_is_ended_by_a_signal_that_we_were_started_to_ignore() {
        // SAFETY: nothing here depends on what the signal does to this process.
        unsafe { libc::signal(libc::SIGQUIT, libc::SIG_IGN) };
        let home = Home::create("test", 0).unwrap();
        let conduct = Confinement { end: libc::SIGQUIT, ..Confinement::default() };
        let server = Server::start(sleeper(), conduct, &home.path().join("log")).unwrap();
        let start = Instant::now();
        drop(server);
        assert!(start.elapsed() < PATIENCE, "it had to be killed");
    }

    #[test]
    fn only_the_homes_of_the_dead_are_swept() {
        let base = tempfile::tempdir().unwrap();
        let living = Home::create_in(base.path(), &prefix("test")).unwrap();
        let dead = base.path().join(format!("{PREFIX}test-1-x"));
        fs::create_dir_all(dead.join("data")).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let unfinished = base.path().join(format!("{PREFIX}test-2-y"));
        let other = base.path().join("other");
        fs::create_dir(&unfinished).unwrap();
        fs::create_dir(&other).unwrap();
        sweep(base.path());
        assert!(living.path().is_dir() && unfinished.is_dir() && other.is_dir());
        assert!(!dead.exists());
    }

    /// As `postgres` writes it.
    #[test]
    fn a_segment_is_found_in_the_note_of_its_server() {
        let note = "4711\n/home/data\n1790000000\n5432\n/home/data\n\n 1057284    196614\nready   \n";
        assert_eq!(segment_in(note), Some((4711, 1057284, 196614)));
        assert_eq!(segment_in("4711\n/home/data\n"), None);
    }

    #[test]
    fn a_server_that_does_not_start_says_why() {
        let home = Home::create("test", 0).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such option >&2; exit 3"]);
        let mut server = Server::start(command, Confinement::default(), &home.path().join("log")).unwrap();
        let attempt = || Err::<(), _>("refused".to_string());
        let told = server.until_ready(Duration::from_secs(20), attempt).unwrap_err();
        assert_eq!(told, "no such option (exit status: 3)");
    }

    #[test]
    fn a_tree_is_copied_with_its_links() {
        let work = tempfile::tempdir().unwrap();
        let (from, to) = (work.path().join("from"), work.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::write(from.join("a/file"), "text").unwrap();
        symlink("a/file", from.join("link")).unwrap();
        copy_tree(&from, &to, None).unwrap();
        assert_eq!(fs::read_to_string(to.join("link")).unwrap(), "text");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("a/file"));
    }
}
