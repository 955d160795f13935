//! The terminal while the live view has it: taken over as a whole, and given back whatever happens.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGQUIT;
use signal_hook::low_level;

/// The alternate screen, and no cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
/// Colours off, the cursor and the screen as they were.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// Whether the terminal is ours at present.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// How it was set when the program started.
static SETTINGS: OnceLock<libc::termios> = OnceLock::new();

/// Whether there is a terminal to draw on: one that understands cursor movement, and in which this process is in the
/// foreground. A job in the background that changed its settings would be stopped by the system.
pub fn is_fit() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    // SAFETY: both calls only read, and report a file that is no terminal by -1.
    let foreground = unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() };
    !dumb && foreground && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Has the terminal as long as it lives.
pub struct Guard(());

impl Guard {
    /// Takes the terminal over. It is given back when this is dropped, on a panic, and before a signal ends the process.
    pub fn enter() -> io::Result<Guard> {
        if SETTINGS.get().is_none() {
            let _ = SETTINGS.set(settings()?);
            restore_before_the_end()?;
        }
        take()?;
        Ok(Guard(()))
    }

    /// A panic somewhere gave the terminal back, to be read.
    pub fn is_lost(&self) -> bool {
        !ACTIVE.load(Ordering::Relaxed)
    }

    /// Stops the process as Ctrl-Z does in a shell, with the terminal as it was; returns when it goes on.
    pub fn suspend(&self) -> io::Result<()> {
        restore();
        // SAFETY: sends a signal to this very process, as the terminal itself would.
        unsafe { libc::raise(libc::SIGSTOP) };
        take()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

fn settings() -> io::Result<libc::termios> {
    let mut settings = std::mem::MaybeUninit::uninit();
    // SAFETY: the call fills the structure, and is asked whether it did before that is read.
    unsafe {
        match libc::tcgetattr(libc::STDIN_FILENO, settings.as_mut_ptr()) {
            0 => Ok(settings.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn take() -> io::Result<()> {
    let mut raw = settings()?;
    // SAFETY: both calls get a structure that the system itself filled.
    unsafe {
        libc::cfmakeraw(&mut raw);
        if libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    ACTIVE.store(true, Ordering::SeqCst);
    io::stderr().write_all(ENTER)?;
    io::stderr().flush()
}

/// Gives the terminal back, if it is ours. May be called from a signal handler: nothing here allocates or locks.
pub fn restore() {
    let Some(settings) = SETTINGS.get() else { return };
    if ACTIVE.swap(false, Ordering::SeqCst) {
        // SAFETY: the settings live for ever, the bytes too; both calls may be made in a signal handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, LEAVE.as_ptr().cast(), LEAVE.len());
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, settings);
        }
    }
}

/// A panic is told on the screen that the user keeps; signals that end the process find the terminal as it was.
fn restore_before_the_end() -> io::Result<()> {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        tell(panic);
    }));
    let end = move || {
        restore();
        let _ = low_level::emulate_default_handler(SIGQUIT);
    };
    // SAFETY: all that the handler calls may be called in one.
    unsafe { low_level::register(SIGQUIT, end) }?;
    Ok(())
}
