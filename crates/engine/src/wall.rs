//! A wall around this process and all that it starts: the kernel lets it write only where it has to, read only what it
//! needs, and make no connections. It stands behind the engine's own walls, for what an engine overlooks.
//!
//! The kernel's part is Landlock (`man 7 landlock`). Where it is missing, there is no such wall.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::source::{Location, Source};
use crate::{confine::check, interpreter, library, product, server, store};

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
/// The last right of the second version: make, remove and rename everything.
const REFER: u64 = 1 << 13;
/// Since the third version.
const TRUNCATE: u64 = 1 << 14;
/// All that can be asked of something that is not a directory.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;

const BIND_TCP: u64 = 1 << 0;
const CONNECT_TCP: u64 = 1 << 1;

/// Before it, no file can be moved to another directory, which servers do.
const FIRST_VERSION: u32 = 2;
const VERSION_WITH_TRUNCATE: u32 = 3;
const VERSION_WITH_NETWORK: u32 = 4;

/// What programs and libraries read on any machine. Nothing in it is secret.
const SYSTEM: [&str; 26] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/nix/store",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
    "/etc/timezone",
];
/// Of the devices only those that hold nothing.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What a process may reach once the wall stands.
#[derive(Clone, Debug)]
pub struct Wall {
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    network: bool,
}

impl Wall {
    /// For a process that opens these engines and nothing else.
    pub fn around<'a>(sources: impl IntoIterator<Item = &'a Source>) -> Wall {
        let mut readable: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        readable.extend(store::cache_directory());
        let mut wall =
            Wall { readable, writable: DEVICES.iter().map(PathBuf::from).collect(), network: false };
        for source in sources {
            match &source.location {
                Location::Bundled => {}
                Location::Server(url) => {
                    wall.network = true;
                    wall.readable.extend(url.tls().root);
                }
                Location::Local { path, version } => {
                    if let Ok(product) = product::by_name(&source.engine) {
                        let server = product.descriptor.server.as_ref();
                        let by_port = server.is_some_and(|server| server.socket.is_none());
                        let by_name = server.map(|server| server.program.as_str());
                        let by_name = by_name.filter(|program| !program.starts_with('{'));
                        wall.network |= by_port || product.driver.listens(path);
                        let programs = by_name.into_iter().chain(product.driver.interpreter(path));
                        wall.readable.extend(programs.flat_map(interpreter::reads));
                        if version.is_none() && product.driver.runs_programs(path) {
                            // The user's own.
                            wall.readable.push("/".into());
                        }
                    }
                    wall.readable.extend(path.parent().map(Path::to_path_buf));
                    if version.is_none() {
                        // Whatever it needs is loaded with it, from wherever that is.
                        library::preload(path);
                    }
                }
            }
        }
        wall
    }

    /// Also lets it read this file, or what is in this directory.
    pub fn reading(mut self, path: impl Into<PathBuf>) -> Wall {
        self.readable.push(path.into());
        self
    }

    /// Also lets it write to this file, or to this directory, which is there already.
    pub fn writing(mut self, path: impl Into<PathBuf>) -> Wall {
        self.writable.push(path.into());
        self
    }

    /// Raises it around this thread and all that it starts, for good, once there is [room](make_room) behind it. `false`:
    /// the kernel cannot do it.
    pub fn raise(mut self) -> io::Result<bool> {
        // SAFETY: takes numbers only. Programs that are started can gain no rights of others.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
        let Some(version) = kernel_version() else { return Ok(false) };
        let enclosures =
            server::enclosures().ok_or_else(|| io::Error::other("no room was made behind the wall"))?;
        let truncate = if version < VERSION_WITH_TRUNCATE { 0 } else { TRUNCATE };
        let all = ((REFER << 1) - 1) | truncate;
        let network = if version < VERSION_WITH_NETWORK || self.network { 0 } else { BIND_TCP | CONNECT_TCP };
        let rules = Rules::new(all, network)?;
        // Once it is empty a directory of ours can be removed. So can any other one that is empty.
        for base in enclosures.iter().filter_map(|enclosure| enclosure.parent()) {
            rules.allow(base, REMOVE_DIR)?;
        }
        self.writable.extend(enclosures);
        for path in &self.writable {
            rules.allow(path, all)?;
        }
        for path in &self.readable {
            rules.allow(path, EXECUTE | READ_FILE | READ_DIR)?;
        }
        rules.enforce()?;
        Ok(true)
    }
}

/// Makes the directories that are writable behind the wall: for servers, and for temporary files (`TMPDIR`). Whoever ends
/// removes them with [`leave`](crate::leave) or [`remove_homes`](crate::remove_homes). Does nothing if there will be no wall.
///
/// # Safety
///
/// The process has no other thread: one could read the environment while `TMPDIR` changes.
pub unsafe fn make_room() -> io::Result<()> {
    match kernel_version() {
        // SAFETY: as above.
        Some(_) => unsafe { server::enclose() },
        None => Ok(()),
    }
}

/// The version of Landlock that this kernel has; `None`: none that is of use.
fn kernel_version() -> Option<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes no attributes, and returns a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    u32::try_from(version).ok().filter(|version| *version >= FIRST_VERSION)
}

/// Whether [`Wall::raise`] can do anything here.
pub fn is_possible() -> bool {
    kernel_version().is_some()
}

#[repr(C)]
struct Handled {
    files: u64,
    network: u64,
}

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    directory: libc::c_int,
}

/// A set of rules that the kernel keeps.
struct Rules {
    descriptor: OwnedFd,
}

impl Rules {
    /// Everything of these kinds is denied but for what is allowed.
    fn new(files: u64, network: u64) -> io::Result<Rules> {
        let handled = Handled { files, network };
        // SAFETY: the attributes are as long as stated and outlive the call; the descriptor belongs to nobody yet.
        unsafe {
            let made = libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const handled,
                size_of::<Handled>(),
                0 as libc::c_uint,
            );
            check(made as libc::c_int)?;
            Ok(Rules { descriptor: OwnedFd::from_raw_fd(made as libc::c_int) })
        }
    }

    /// Allows something beneath a path; what is not there needs no rule.
    fn allow(&self, path: &Path, rights: u64) -> io::Result<()> {
        const PATH_BENEATH: libc::c_int = 1;
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the name ends in NUL.
        let opened = unsafe { libc::open(name.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if opened == -1 {
            return Ok(());
        }
        // SAFETY: just opened, and nobody else's.
        let place = unsafe { OwnedFd::from_raw_fd(opened) };
        let allowed = if path.is_dir() { rights } else { rights & OF_FILES };
        let beneath = Beneath { allowed, directory: place.as_raw_fd() };
        // SAFETY: the attributes outlive the call; both descriptors are open.
        check(unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.descriptor.as_raw_fd(),
                PATH_BENEATH,
                &raw const beneath,
                0 as libc::c_uint,
            )
        } as libc::c_int)
    }

    fn enforce(&self) -> io::Result<()> {
        // SAFETY: the descriptor is open.
        check(unsafe {
            libc::syscall(libc::SYS_landlock_restrict_self, self.descriptor.as_raw_fd(), 0 as libc::c_uint)
        } as libc::c_int)
    }
}
