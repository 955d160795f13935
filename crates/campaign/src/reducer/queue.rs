//! A thread beside the supervisor that reduces findings one after the other, so that a hunt never waits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;

use super::{Job, Reduced, Watcher};
use crate::config::Allowance;
use crate::pool::Workplace;

/// A finding on its way; on disk already.
pub struct Pending {
    pub directory: PathBuf,
    pub finding: Finding,
}

/// A finding that the reducer has done with.
pub struct Done {
    pub pending: Pending,
    pub result: anyhow::Result<Reduced>,
    pub cpu_seconds: f64,
}

pub struct Queue {
    sender: Sender<Pending>,
    stop: Arc<AtomicBool>,
}

impl Queue {
    /// What is done comes back in the order in which it was handed in.
    pub fn start(place: Workplace, dialect: Arc<Dialect>, allowance: Allowance, done: Sender<Done>) -> Queue {
        let (sender, pending) = channel::<Pending>();
        let stop = Arc::new(AtomicBool::new(false));
        let mut until_stopped = UntilStopped(stop.clone());
        // The processes it starts die with this thread, which lives until nobody hands in any more.
        std::thread::spawn(move || {
            let job = Job { place: &place, dialect: &dialect, allowance };
            for pending in pending {
                if !until_stopped.goes_on() {
                    return;
                }
                let (result, cpu_seconds) = job.run(&pending.finding, &mut until_stopped);
                let _ = done.send(Done { pending, result, cpu_seconds });
            }
        });
        Queue { sender, stop }
    }

    pub fn push(&self, pending: Pending) {
        // The other end lives as long as this one.
        let _ = self.sender.send(pending);
    }

    /// What is under way ends with what it has; what waits stays as it is.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct UntilStopped(Arc<AtomicBool>);

impl Watcher for UntilStopped {
    fn goes_on(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}
