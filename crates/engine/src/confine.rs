//! The limits of a child process, set between fork and exec. It always ends when we end.

use std::ffi::{CStr, c_int};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::{MetadataExt, chown, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// How a child process is confined. By default it is killed when we end, and otherwise as free as we are.
///
/// The kernel ties "when we end" to the *thread* that starts the child: only one that lives as long as the child
/// may spawn the command.
#[derive(Clone, Copy, Debug)]
pub struct Confinement {
    /// The signal that the child gets when we end.
    pub end: c_int,
    /// Bytes of address space; absent: as many as we may have. Children of the child may ask for more.
    pub memory_bytes: Option<u64>,
    /// As whom it runs; absent: as ourselves.
    pub user: Option<User>,
    /// It leaves no core dump when it crashes.
    pub without_core: bool,
    /// It ignores Ctrl-C at the terminal.
    pub without_interrupt: bool,
    /// An open descriptor that it inherits under the same number.
    pub inherited: Option<RawFd>,
    /// The same: a map of code coverage.
    pub map: Option<RawFd>,
}

impl Default for Confinement {
    fn default() -> Confinement {
        Confinement {
            end: libc::SIGKILL,
            memory_bytes: None,
            user: None,
            without_core: false,
            without_interrupt: false,
            inherited: None,
            map: None,
        }
    }
}

impl Confinement {
    /// Confines whatever this command starts.
    pub fn apply(self, command: &mut Command) {
        let parent = std::process::id() as libc::pid_t;
        // SAFETY: between fork and exec only async-signal-safe calls are made, on plain values (see `enter`).
        unsafe { command.pre_exec(move || self.enter(parent)) };
    }

    /// What happens in the child's process before its program does.
    fn enter(self, parent: libc::pid_t) -> io::Result<()> {
        // SAFETY: only async-signal-safe calls, on plain values; nothing is allocated. The limits outlive the calls
        // that use them.
        unsafe {
            let mut memory = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            check(libc::getrlimit(libc::RLIMIT_AS, &mut memory))?;
            memory.rlim_cur = self.memory_bytes.unwrap_or(memory.rlim_max).min(memory.rlim_max);
            check(libc::setrlimit(libc::RLIMIT_AS, &memory))?;
            if self.without_core {
                check(libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 }))?;
            }
            for descriptor in [self.inherited, self.map].into_iter().flatten() {
                check(libc::fcntl(descriptor, libc::F_SETFD, 0))?;
            }
            if self.without_interrupt {
                libc::signal(libc::SIGINT, libc::SIG_IGN);
            }
            if let Some(user) = self.user {
                check(libc::setgroups(0, std::ptr::null()))?;
                check(libc::setgid(user.gid))?;
                check(libc::setuid(user.uid))?;
            }
            // What we were started with may ignore it (a shell's background job ignores SIGQUIT), and until
            // the program has a handler of its own the signal that ends it would be lost.
            libc::signal(self.end, libc::SIG_DFL);
            // Last, because changing the user forgets it.
            check(libc::prctl(libc::PR_SET_PDEATHSIG, self.end))?;
            // We may have died before the line above: then no signal will ever come.
            if libc::getppid() != parent {
                libc::_exit(1);
            }
        }
        Ok(())
    }
}

/// A user of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    uid: libc::uid_t,
    gid: libc::gid_t,
}

impl User {
    /// Whom to run a server as that refuses to run as root: nobody. `None`: we are not root ourselves.
    pub fn unprivileged() -> Option<User> {
        const NOBODY: &CStr = c"nobody";
        // SAFETY: the name ends in NUL; the entry is read before anything else could ask for one.
        unsafe {
            if libc::geteuid() != 0 {
                return None;
            }
            let entry = libc::getpwnam(NOBODY.as_ptr());
            Some(match entry.as_ref() {
                Some(entry) => User { uid: entry.pw_uid, gid: entry.pw_gid },
                None => User { uid: 65534, gid: 65534 },
            })
        }
    }

    /// Whether everyone, and so this user, may pass through all directories above `path` and read it.
    pub(crate) fn reaches(self, path: &Path) -> bool {
        let open = |path: &Path, bits: u32| path.metadata().is_ok_and(|meta| meta.mode() & bits == bits);
        open(path, 0o005) && path.ancestors().skip(1).all(|above| open(above, 0o001))
    }

    /// The same for `setpriv`.
    pub(crate) fn options(self) -> [String; 2] {
        [format!("--reuid={}", self.uid), format!("--regid={}", self.gid)]
    }

    /// Gives a file to this user; of a link, what it points to.
    pub(crate) fn own(self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
    }

    /// Gives a file to this user; of a link, the link.
    pub(crate) fn own_link(self, path: &Path) -> io::Result<()> {
        lchown(path, Some(self.uid), Some(self.gid))
    }
}

pub(crate) fn check(returned: c_int) -> io::Result<()> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_child_is_allowed_what_it_was_told() {
        let file = File::open("/dev/null").unwrap();
        let confinement = Confinement {
            memory_bytes: Some(1 << 30),
            without_core: true,
            without_interrupt: true,
            inherited: Some(file.as_raw_fd()),
            ..Confinement::default()
        };
        let mut command = Command::new("sh");
        let script =
            format!("ulimit -v; ulimit -c; kill -INT $$; readlink /proc/self/fd/{}", file.as_raw_fd());
        confinement.apply(command.args(["-c", &script]).stdin(Stdio::null()));
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1048576\n0\n/dev/null\n", "{output:?}");
    }
}
