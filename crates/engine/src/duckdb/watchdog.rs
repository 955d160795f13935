//! Stops a statement that runs too long. DuckDB has no timeout of its own; it can only be interrupted from another
//! thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::api::Handle;

type Interrupt = unsafe extern "C" fn(Handle);

/// How late the end of a statement may be noticed. Waking the thread for each statement would cost more
/// than most statements.
const TICK: Duration = Duration::from_millis(20);

pub struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    watched: Mutex<Watched>,
    ended: Condvar,
}

struct Watched {
    /// The connection whose statement runs, and until when it may.
    running: Option<(Connection, Instant)>,
    interrupted: bool,
    over: bool,
}

struct Connection(Handle);

// SAFETY: only handed to DuckDB's interrupt function, which may be called from any thread; the connection
// is open, since it is interrupted under the lock that its user takes before it goes on.
unsafe impl Send for Connection {}

impl Watchdog {
    pub fn new(interrupt: Interrupt) -> Watchdog {
        let watched = Watched { running: None, interrupted: false, over: false };
        let shared = Arc::new(Shared { watched: Mutex::new(watched), ended: Condvar::new() });
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("watchdog".to_string())
            .spawn(move || theirs.watch(interrupt))
            .ok();
        Watchdog { shared, thread }
    }

    pub fn start(&self, connection: Handle, limit: Duration) {
        let mut watched = self.shared.lock();
        watched.running = Some((Connection(connection), Instant::now() + limit));
        watched.interrupted = false;
    }

    /// The statement has ended; whether it was interrupted.
    pub fn stop(&self) -> bool {
        let mut watched = self.shared.lock();
        watched.running = None;
        watched.interrupted
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, interrupt: Interrupt) {
        let mut watched = self.lock();
        while !watched.over {
            if let Some((connection, until)) = &watched.running
                && Instant::now() >= *until
            {
                // SAFETY: the connection is open: whoever started the statement waits for this lock
                // before it uses or closes it. Again at each tick, should one come too early.
                unsafe { interrupt(connection.0) };
                watched.interrupted = true;
            }
            watched = match self.ended.wait_timeout(watched, TICK) {
                Ok((watched, _)) => watched,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
