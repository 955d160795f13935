//! Figures over time, for drawing.

use std::collections::VecDeque;
use std::time::Duration;

/// How many samples of a rate are kept: two for each column of a wide terminal.
const KEPT: usize = 240;
/// A worker tells what it did when a database is done, so a single second says little.
const SMOOTHED: usize = 5;
const SECOND: Duration = Duration::from_secs(1);

/// How much of something was done in each of the last seconds.
#[derive(Debug, Default)]
pub struct Rate {
    samples: VecDeque<u64>,
    total: u64,
    at: Duration,
}

impl Rate {
    /// So much was done by then.
    pub fn take(&mut self, total: u64, at: Duration) {
        let passed = at.saturating_sub(self.at);
        if passed < SECOND {
            return;
        }
        let done = total.saturating_sub(self.total) as f64 / passed.as_secs_f64();
        self.samples.push_back(done.round() as u64);
        if self.samples.len() > KEPT {
            self.samples.pop_front();
        }
        (self.total, self.at) = (total, at);
    }

    /// In a second, of late.
    pub fn now(&self) -> f64 {
        let last = self.samples.iter().rev().take(SMOOTHED);
        let count = last.len();
        last.sum::<u64>() as f64 / count.max(1) as f64
    }

    /// The last samples, the newest last.
    pub fn last(&self, most: usize) -> Vec<u64> {
        self.samples.iter().skip(self.samples.len().saturating_sub(most)).copied().collect()
    }
}

/// How something grew since the beginning, in samples that get rarer as time goes by.
#[derive(Debug)]
pub struct Growth {
    samples: Vec<u64>,
    pause: Duration,
    next: Duration,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth { samples: Vec::new(), pause: SECOND / 2, next: Duration::ZERO }
    }
}

impl Growth {
    /// It had come to so much by then.
    pub fn take(&mut self, value: u64, at: Duration) {
        if at < self.next {
            return;
        }
        self.samples.push(value);
        if self.samples.len() > KEPT {
            let mut even = false;
            self.samples.retain(|_| {
                even = !even;
                even
            });
            self.pause *= 2;
        }
        self.next = at + self.pause;
    }

    /// The whole of it in at most so many samples.
    pub fn whole(&self, most: usize) -> Vec<u64> {
        let (kept, most) = (self.samples.len(), most.max(1));
        if kept <= most {
            return self.samples.clone();
        }
        (1..=most).map(|column| self.samples[column * kept / most - 1]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_what_was_done_in_a_second() {
        let mut rate = Rate::default();
        for second in 1..=300 {
            rate.take(second * 100, Duration::from_secs(second));
            // Too soon after that to say anything.
            rate.take(second * 100 + 1, Duration::from_millis(second * 1000 + 10));
        }
        assert_eq!(rate.now(), 100.0);
        assert_eq!(rate.last(3), [100, 100, 100]);
        assert_eq!(rate.last(1000).len(), KEPT);
    }

    #[test]
    fn growth_is_kept_as_a_whole() {
        let mut growth = Growth::default();
        for second in 0..100_000 {
            growth.take(second, Duration::from_secs(second));
        }
        assert!(growth.samples.len() <= KEPT);
        let drawn = growth.whole(10);
        assert_eq!(drawn.len(), 10);
        assert!(drawn[0] < 15_000 && drawn[9] > 90_000 && drawn.is_sorted(), "{drawn:?}");
        assert_eq!(Growth::default().whole(10), Vec::<u64>::new());
    }
}
