//! A thread beside the supervisor that reduces findings one after the other, so that a hunt never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;

use super::{Allowance, Job, Observer, Place, Reduced};
use crate::store::StoredFinding;

/// A finding on its way; on disk already.
pub struct Pending {
    pub stored: StoredFinding,
    pub finding: Finding,
}

pub struct Done {
    pub pending: Pending,
    /// What came of it, and the processor time it took.
    pub result: anyhow::Result<(Reduced, f64)>,
}

pub struct Queue {
    sender: Sender<Pending>,
    stop: Arc<AtomicBool>,
}

impl Queue {
    /// `deliver` is called for each finding, in the order in which they were handed in.
    pub fn start(
        place: Place,
        dialect: Arc<Dialect>,
        allowance: Allowance,
        deliver: impl Fn(Done) + Send + 'static,
    ) -> Queue {
        let (sender, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        // The processes it starts die with this thread, which lives until nobody hands in any more.
        std::thread::spawn(move || {
            let job = Job { place: &place, dialect: &dialect, allowance };
            work(&job, &receiver, &stopped, deliver);
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

fn work(job: &Job, pending: &Receiver<Pending>, stop: &Arc<AtomicBool>, deliver: impl Fn(Done)) {
    for pending in pending {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let result = job.run(&pending.finding, &mut UntilStopped(stop.clone()));
        deliver(Done { pending, result });
    }
}

struct UntilStopped(Arc<AtomicBool>);

impl Observer for UntilStopped {
    fn goes_on(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}
