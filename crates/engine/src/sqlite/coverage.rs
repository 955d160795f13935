//! The counters of an instrumented SQLite (`coverage.c`): one for each edge of its code.

use std::ptr::{self, NonNull};

use super::api::Api;

/// Where the counters are, function by function.
pub struct Counters {
    functions: Vec<Function>,
    edges: u32,
}

struct Function {
    counters: NonNull<u64>,
    count: usize,
}

impl Counters {
    /// `None`: the library does not count.
    pub fn of(api: &Api) -> Option<Counters> {
        let counters_of = api.dissent_counters?;
        let (mut functions, mut edges) = (Vec::new(), 0);
        for number in 0.. {
            let (mut count, mut values) = (0, ptr::null_mut());
            // SAFETY: it writes one number and one pointer to where it is told.
            if unsafe { counters_of(number, &mut count, &mut values) } == 0 {
                break;
            }
            if let (1.., Some(counters)) = (count, NonNull::new(values)) {
                functions.push(Function { counters, count: count as usize });
                edges += count;
            }
        }
        Some(Counters { functions, edges })
    }

    /// Names the edges passed since the last time, and sets all counters to zero.
    pub fn take(&mut self, passed: &mut dyn FnMut(u32)) -> u32 {
        let mut number = 0;
        for function in &self.functions {
            // SAFETY: the library is never unloaded, and the compiler made this many counters there. Only its
            // own code changes them, and none of it runs now: it has one thread, which is this one.
            let counters =
                unsafe { std::slice::from_raw_parts_mut(function.counters.as_ptr(), function.count) };
            for counter in counters {
                if *counter != 0 {
                    *counter = 0;
                    passed(number);
                }
                number += 1;
            }
        }
        self.edges
    }
}
