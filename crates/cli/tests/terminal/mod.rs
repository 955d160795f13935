//! A pseudo-terminal with a program in it, and the screen that a user would see.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The binary, in a directory where it may leave things.
pub fn dissent(directory: &Path, args: &[&str]) -> Command {
    std::fs::create_dir_all(directory).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dissent"));
    command.args(args).current_dir(directory).env("TERM", "xterm-256color").env_remove("NO_COLOR");
    command
}

/// A hunt with its findings in `out`.
pub fn hunt(directory: &Path, args: &[&str]) -> Command {
    let mut command = dissent(directory, &["hunt", "--out", "out"]);
    command.args(args);
    command
}

pub struct Terminal {
    child: Child,
    keyboard: File,
    /// Kept open, so that what was printed last can still be read.
    line: OwnedFd,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
}

struct Seen {
    parser: vt100::Parser,
    output: Vec<u8>,
}

impl Terminal {
    /// Starts a program as the foreground job of a terminal of its own.
    pub fn start(mut command: Command, rows: u16, columns: u16) -> Terminal {
        let (master, slave) = open(rows, columns);
        let stdio = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        // SAFETY: both are plain system calls, which may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                let session = libc::setsid() >= 0 && libc::ioctl(0, libc::TIOCSCTTY, 0) == 0;
                if session { Ok(()) } else { Err(std::io::Error::last_os_error()) }
            });
        }
        let child = command.spawn().unwrap();
        let parser = vt100::Parser::new(cells(rows), cells(columns), 500);
        let seen = Arc::new(Mutex::new(Seen { parser, output: Vec::new() }));
        let keyboard = File::from(master);
        let (mut output, watching) = (keyboard.try_clone().unwrap(), seen.clone());
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                let mut seen = watching.lock().unwrap();
                seen.parser.process(&bytes[..length]);
                seen.output.extend_from_slice(&bytes[..length]);
            }
        });
        Terminal { child, keyboard, line: slave, seen, reader: Some(reader) }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: the process is our own child and has not been waited for, so the number is still its.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    pub fn resize(&mut self, rows: u16, columns: u16) {
        self.seen.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(columns));
        let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the call reads a structure that lives here.
        assert_eq!(unsafe { libc::ioctl(self.keyboard.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
    }

    /// What is on the screen, line by line.
    pub fn screen(&self) -> String {
        let seen = self.seen.lock().unwrap();
        format!("\n{}", seen.parser.screen().contents())
    }

    /// Everything that was ever written.
    pub fn output(&self) -> Vec<u8> {
        self.seen.lock().unwrap().output.clone()
    }

    /// Looks at the screen until it shows this.
    #[track_caller]
    pub fn wait(&mut self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if shows(&screen) {
                return screen;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && start.elapsed() < Duration::from_secs(90),
                "{what}: {ended:?}{screen}"
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Whether the alternate screen is shown, the cursor hidden, or keys are handed over one by one.
    pub fn is_taken_over(&self) -> bool {
        let mut settings = std::mem::MaybeUninit::<libc::termios>::uninit();
        // SAFETY: the call fills the structure, and is asked whether it did before that is read.
        let settings = unsafe {
            assert_eq!(libc::tcgetattr(self.line.as_raw_fd(), settings.as_mut_ptr()), 0);
            settings.assume_init()
        };
        let cooked = libc::ICANON | libc::ECHO | libc::ISIG;
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        screen.alternate_screen() || screen.hide_cursor() || settings.c_lflag & cooked != cooked
    }

    pub fn has_colour(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        let screen = seen.parser.screen();
        let (rows, columns) = screen.size();
        let mut cells = (0..rows.get())
            .flat_map(|row| (0..columns.get()).filter_map(move |column| screen.cell(row, column)));
        cells.any(|cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default)
    }

    /// Waits for the end of the program, and until all that it wrote is on the screen; gives its exit code.
    pub fn finish(&mut self) -> Option<i32> {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(90), "it does not end:{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        };
        let mut length = usize::MAX;
        while length != self.output().len() {
            length = self.output().len();
            std::thread::sleep(Duration::from_millis(200));
        }
        status.code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The reader ends when the last end of the line is closed, which nobody has to wait for.
        drop(self.reader.take());
    }
}

fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has some")
}

fn open(rows: u16, columns: u16) -> (OwnedFd, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call writes two numbers and reads a structure, all of which live here; the numbers are files that
    // nobody else owns.
    unsafe {
        let opened =
            libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null_mut(), &size);
        assert_eq!(opened, 0, "there is no pseudo-terminal: {}", std::io::Error::last_os_error());
        (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    }
}
