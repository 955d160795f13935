//! What a running statement has used: SQLite calls back after a number of virtual machine instructions, and the
//! meter says when to stop.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use dissent_core::engine::Limits;

/// Instructions between two calls: most statements end before the first.
pub const EVERY: c_int = 1000;

/// The clock is read on one call of so many.
const TICKS_PER_LOOK: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Steps(u64),
    Time(u64),
}

/// Shared with C by a raw pointer, hence cells and no `&mut`.
#[derive(Default)]
pub struct Meter {
    max_ticks: Cell<u64>,
    max_millis: Cell<u64>,
    ticks: Cell<u64>,
    /// Set by the first tick: short statements never pay for a clock.
    started: Cell<Option<Instant>>,
    over: Cell<Option<Over>>,
}

impl Meter {
    pub fn set(&self, limits: &Limits) {
        self.max_ticks.set(limits.steps / EVERY as u64);
        self.max_millis.set(limits.millis);
    }

    pub fn start(&self) {
        self.ticks.set(0);
        self.started.set(None);
        self.over.set(None);
    }

    /// The limit that stopped the current statement.
    pub fn over(&self) -> Option<Over> {
        self.over.get()
    }

    fn tick(&self) -> bool {
        let ticks = self.ticks.get() + 1;
        self.ticks.set(ticks);
        if ticks > self.max_ticks.get() {
            self.over.set(Some(Over::Steps(self.max_ticks.get() * EVERY as u64)));
        } else if ticks == 1 {
            self.started.set(Some(Instant::now()));
        } else if ticks.is_multiple_of(TICKS_PER_LOOK) {
            let limit = Duration::from_millis(self.max_millis.get());
            if self.started.get().is_some_and(|started| started.elapsed() > limit) {
                self.over.set(Some(Over::Time(self.max_millis.get())));
            }
        }
        self.over.get().is_some()
    }
}

/// The progress handler; its data is a [`Meter`].
pub unsafe extern "C" fn tick(meter: *mut c_void) -> c_int {
    // SAFETY: registered with a pointer to a meter that outlives the connection, used by one thread.
    let meter = unsafe { &*meter.cast::<Meter>() };
    c_int::from(meter.tick())
}
