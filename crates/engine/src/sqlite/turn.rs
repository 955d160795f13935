//! One thread at a time. SQLite is used without mutexes, which is sound only if no two threads are
//! inside it; a process that runs engines on several threads (the tests do) takes turns.

use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

static HOLDER: Mutex<Holder> = Mutex::new(Holder { thread: None, turns: 0 });
static RELEASED: Condvar = Condvar::new();

struct Holder {
    thread: Option<ThreadId>,
    turns: usize,
}

/// Held by every open engine. A thread may hold several; other threads wait until it has none.
/// One turn for all libraries together: turns per library could wait for each other forever.
pub struct Turn {
    /// Belongs to the thread that took it.
    _not_send: PhantomData<*const ()>,
}

impl Turn {
    pub fn take() -> Turn {
        let me = thread::current().id();
        let mut holder = HOLDER.lock().unwrap_or_else(PoisonError::into_inner);
        while holder.turns > 0 && holder.thread != Some(me) {
            holder = RELEASED.wait(holder).unwrap_or_else(PoisonError::into_inner);
        }
        holder.thread = Some(me);
        holder.turns += 1;
        Turn { _not_send: PhantomData }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut holder = HOLDER.lock().unwrap_or_else(PoisonError::into_inner);
        holder.turns -= 1;
        if holder.turns == 0 {
            RELEASED.notify_one();
        }
    }
}
