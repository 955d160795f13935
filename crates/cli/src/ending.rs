//! How the program ends when it is told to: by Ctrl-C, SIGTERM, or SIGHUP when its terminal is closed.
//!
//! A hunt is first asked to end by itself, with its summary. Everything else, and a hunt that is asked again, breaks off:
//! workers are killed, and what they left is removed. Who cannot wait for that asks once more.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::screen;

/// How long a command may take to end in an orderly way once it is to break off.
const PATIENCE: Duration = Duration::from_secs(3);

/// The flag of a hunt that would rather be asked.
static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// The signal by which the program breaks off; none yet: 0.
static BROKEN_OFF: AtomicI32 = AtomicI32::new(0);

/// From now on the first signal sets this flag, and only the next one ends the program.
pub fn ask_first(flag: Arc<AtomicBool>) {
    let _ = ASKED.set(flag);
}

/// Waits for the first signal.
pub fn wait() {
    let asked = Arc::new(AtomicBool::new(false));
    ask_first(asked.clone());
    while !asked.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Hears signals, in a thread of its own.
pub fn listen() -> anyhow::Result<()> {
    let heard: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    let mut signals = Signals::new(heard).context("cannot listen for signals")?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            hear(signal);
        }
    });
    Ok(())
}

/// `nohup` has a program ignore SIGHUP; that is for whoever starts it to say.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero sigaction is valid to be written to, and nothing is changed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        signal == SIGHUP
            && libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

fn hear(signal: i32) {
    if ASKED.get().is_some_and(|asked| !asked.swap(true, Ordering::Relaxed)) {
        return;
    }
    if BROKEN_OFF.swap(signal, Ordering::Relaxed) != 0 {
        end_by(signal);
    }
    dissent_campaign::interrupt();
    // Usually the program is over before this is.
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        screen::restore();
        let _ = dissent_engine::leave();
        end_by(signal);
    });
}

/// At the end of a command: removes what is left, and ends as the signal would have done if there was one.
pub fn leave() {
    // What still reduces or probes beside us.
    dissent_campaign::interrupt();
    if let Err(error) = dissent_engine::leave()
        && BROKEN_OFF.load(Ordering::Relaxed) == 0
    {
        let _ = writeln!(std::io::stderr(), "dissent: {error}");
    }
    match BROKEN_OFF.load(Ordering::Relaxed) {
        0 => {}
        signal => end_by(signal),
    }
}

/// Whoever started us sees what we died of. A hunt said that it would end, so that is what it does.
fn end_by(signal: i32) {
    screen::restore();
    if ASKED.get().is_none() {
        let _ = low_level::emulate_default_handler(signal);
    }
    low_level::exit(i32::from(crate::TROUBLE));
}
