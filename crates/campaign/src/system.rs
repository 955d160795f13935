//! What Dissent needs from the operating system beyond the standard library. Linux only.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds since the first call in this process: the clock of a session.
pub fn nanos() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// This moment, for people: `2026-02-03T04:05:06Z`.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// This day: `2026-02-03`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// A file that exists only in memory and only as long as someone holds it: nothing is left behind.
pub fn memory_file(size: u64) -> io::Result<File> {
    // SAFETY: the name is a NUL-terminated string, and a descriptor that was returned belongs to nobody yet.
    let file = unsafe {
        match libc::memfd_create(c"dissent".as_ptr(), libc::MFD_CLOEXEC) {
            -1 => return Err(io::Error::last_os_error()),
            descriptor => File::from_raw_fd(descriptor),
        }
    };
    file.set_len(size)?;
    Ok(file)
}

/// Opens a file, unless it is a link: in a directory that comes from elsewhere it could lead anywhere.
pub fn open_no_link(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Locks a file for as long as it is open here; `false`: somebody else has it locked.
pub fn lock(file: &File) -> io::Result<bool> {
    // SAFETY: the descriptor is open as long as `file` is.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        error => Err(error),
    }
}

/// A path under which a child that inherits the descriptor can open it.
pub fn inherited_path(descriptor: RawFd) -> String {
    format!("/dev/fd/{descriptor}")
}

/// The name that `ps` and `top` show for this process.
pub fn name_process(name: &std::ffi::CStr) {
    // SAFETY: the kernel copies at most 16 bytes of a string that ends with NUL.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Has the C library keep memory that an engine frees, up to some 32 MiB, rather than give it back to the kernel and ask
/// for it again with every database: that costs a hunt of SQLite a twentieth of its time.
pub fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    for (number, bytes) in
        [(libc::M_TRIM_THRESHOLD, 32 << 20), (libc::M_MMAP_THRESHOLD, 32 << 20), (libc::M_TOP_PAD, 8 << 20)]
    {
        // SAFETY: the call sets a number of the allocator, before there is a second thread.
        unsafe { libc::mallopt(number, bytes) };
    }
}

/// Waits for a child to end. Gives how it ended, and its processor time, that of the children it waited for included.
///
/// Whoever calls this must not wait for the child in another way, before or after.
pub fn wait_for(child: u32) -> io::Result<(ExitStatus, f64)> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid, and the call writes no further than the two that it is given.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child as libc::pid_t, &mut status, 0, &mut usage), usage)
    };
    match waited {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => wait_for(child),
            error => Err(error),
        },
        _ => Ok((ExitStatus::from_raw(status), seconds_of(&usage))),
    }
}

/// The CPU time of all children that have ended, user and system.
pub fn ended_children_cpu_seconds() -> f64 {
    cpu_seconds(libc::RUSAGE_CHILDREN)
}

/// Waits for a child to end. Returns the most memory that it or any process below it had at once, in bytes.
pub fn wait_with_memory(child: Child) -> io::Result<u64> {
    // SAFETY: an all-zero rusage is valid, the pointers are to values that outlive the call, and nobody else waits for the
    // child.
    let (ended, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child.id() as libc::pid_t, std::ptr::null_mut(), 0, &mut usage), usage)
    };
    if ended == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(usage.ru_maxrss as u64 * 1024)
}

/// The CPU time of this process, user and system.
pub fn own_cpu_seconds() -> f64 {
    cpu_seconds(libc::RUSAGE_SELF)
}

/// The processor time of this process and of everything that it has started, ended or not.
pub fn tree_cpu_seconds() -> f64 {
    let own = std::process::id();
    own_cpu_seconds() + ended_children_cpu_seconds() + living_cpu_seconds(&|process| process.parent == own)
}

/// The processor time of these processes, which live, and of everything that they have started, ended or not.
pub fn trees_cpu_seconds(roots: &[u32]) -> f64 {
    living_cpu_seconds(&|process| roots.contains(&process.id))
}

/// The processor time of what a process, which lives, has started and not yet waited for.
pub fn offspring_cpu_seconds(process: u32) -> f64 {
    living_cpu_seconds(&|other| other.parent == process)
}

/// Bytes of memory that these processes and those below them hold. What several share counts for each.
pub fn trees_memory(roots: &[u32]) -> u64 {
    let pages: u64 = family(&|process| roots.contains(&process.id)).iter().map(|member| member.pages).sum();
    // SAFETY: the call reads nothing but its argument.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(0) as u64
}

fn living_cpu_seconds(is_root: &dyn Fn(&ProcessStat) -> bool) -> f64 {
    let ticks: u64 = family(is_root).iter().map(|member| member.ticks).sum();
    // SAFETY: the call reads nothing but its argument.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    ticks as f64 / ticks_per_second.max(1) as f64
}

/// What `/proc` says of some processes and those below them.
fn family(is_root: &dyn Fn(&ProcessStat) -> bool) -> Vec<ProcessStat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let mut others: Vec<ProcessStat> = entries
        .filter_map(|entry| ProcessStat::parse(&std::fs::read_to_string(entry.path().join("stat")).ok()?))
        .collect();
    let mut family: Vec<ProcessStat> = others.extract_if(.., |process| is_root(process)).collect();
    let mut at = 0;
    while let Some(parent) = family.get(at).map(|member| member.id) {
        family.extend(others.extract_if(.., |process| process.parent == parent));
        at += 1;
    }
    family
}

/// A line of `/proc/PID/stat`.
struct ProcessStat {
    id: u32,
    parent: u32,
    /// User and system time, its own and that of its ended children.
    ticks: u64,
    /// Of memory, those that are not swapped out.
    pages: u64,
}

impl ProcessStat {
    fn parse(line: &str) -> Option<ProcessStat> {
        // The name of the program is in parentheses and may hold any character.
        let (head, tail) = line.rsplit_once(')')?;
        let id = head.split_once(' ')?.0.parse().ok()?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let parent = fields.get(1)?.parse().ok()?;
        let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        let pages = fields.get(21)?.parse().ok()?;
        Some(ProcessStat { id, parent, ticks, pages })
    }
}

fn cpu_seconds(whose: libc::c_int) -> f64 {
    // SAFETY: an all-zero rusage is valid, and the call writes no further than the struct it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whose, &mut usage);
        usage
    };
    seconds_of(&usage)
}

/// User and system time.
fn seconds_of(usage: &libc::rusage) -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Two directories change places in one step, or in three where the file system cannot do it in one.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
    let (a, b) = (text(one)?, text(other)?);
    // SAFETY: both are NUL-terminated strings that outlive the call.
    let swapped = unsafe {
        libc::renameat2(libc::AT_FDCWD, a.as_ptr(), libc::AT_FDCWD, b.as_ptr(), libc::RENAME_EXCHANGE)
    };
    if swapped == 0 {
        return Ok(());
    }
    let name = one.file_name().unwrap_or_default().to_string_lossy();
    let aside = one.with_file_name(format!(".{name}.aside"));
    std::fs::rename(one, &aside)?;
    std::fs::rename(other, one)?;
    std::fs::rename(&aside, other)
}

/// `SIGSEGV` for 11.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        other => return format!("signal {other}"),
    };
    name.to_string()
}

/// A signal by which a process falls over its own mistake, not one that someone sent.
pub fn is_crash_signal(signal: i32) -> bool {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP].contains(&signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_counts_while_they_live_and_afterwards() {
        let before = tree_cpu_seconds();
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read line";
        let mut child = std::process::Command::new("sh")
            .args(["-c", busy])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let alive = tree_cpu_seconds() - before;
        assert!(trees_memory(&[child.id()]) > 1 << 16);
        drop(child.stdin.take());
        child.wait().unwrap();
        let ended = tree_cpu_seconds() - before;
        // The clock of /proc ticks a hundred times a second.
        assert!(alive > 0.03 && (ended - alive).abs() < 0.25, "{alive} {ended}");
    }
}
