//! How a campaign went, moment by moment: a bounded number of samples, however long it runs.

use serde::{Deserialize, Serialize};

/// What a campaign had done by a moment. What an older file lacks is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Since the campaign started; the time between a kill and a resume is left out.
    pub seconds: f64,
    /// Statements that were run.
    pub statements: u64,
    /// Those of them that succeeded.
    pub valid: u64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// Edges or steps of plans that the guide saw.
    pub features: u64,
    /// Bugs that were not known.
    pub bugs: u64,
    /// Bytes of memory that workers and their servers held at that moment.
    pub memory: u64,
}

/// Samples in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timeline(Vec<Sample>);

/// More samples than these are thinned out to about half as many, at even distances.
const MOST: usize = 500;

impl Timeline {
    /// Adds the newest sample, which always stays until a newer one comes.
    pub fn push(&mut self, sample: Sample) {
        let apart = sample.seconds / (MOST / 2) as f64;
        // The one before it was only waiting for a newer one, unless it is far enough from its predecessor.
        if let [.., before, last] = self.0.as_slice()
            && last.seconds - before.seconds < apart
        {
            self.0.pop();
        }
        self.0.push(sample);
        if self.0.len() > MOST {
            let mut kept = f64::MIN;
            self.0.retain(|sample| {
                let keep = sample.seconds - kept >= apart;
                if keep {
                    kept = sample.seconds;
                }
                keep
            });
            if self.0.last() != Some(&sample) {
                self.0.push(sample);
            }
        }
    }

    /// How campaigns went together that ran side by side. What they did is added up; of what they saw and found, which
    /// may be the same, the most that one of them had.
    pub fn side_by_side(timelines: &[&Timeline]) -> Timeline {
        let mut moments: Vec<f64> =
            timelines.iter().flat_map(|line| &line.0).map(|sample| sample.seconds).collect();
        moments.sort_by(f64::total_cmp);
        moments.dedup();
        let mut together = Timeline::default();
        for seconds in moments {
            let mut sample = Sample { seconds, ..Sample::default() };
            for line in timelines {
                let past = line.0.partition_point(|sample| sample.seconds <= seconds);
                let Some(one) = past.checked_sub(1).map(|at| line.0[at]) else { continue };
                sample.statements += one.statements;
                sample.valid += one.valid;
                sample.checks += one.checks;
                sample.memory += one.memory;
                sample.features = sample.features.max(one.features);
                sample.bugs = sample.bugs.max(one.bugs);
            }
            together.push(sample);
        }
        together
    }

    /// All samples.
    pub fn samples(&self) -> &[Sample] {
        &self.0
    }

    /// The newest sample; zeros if there is none.
    pub fn last(&self) -> Sample {
        self.0.last().copied().unwrap_or_default()
    }

    /// Whether nothing was sampled.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(seconds: impl Iterator<Item = u32>) -> Timeline {
        let mut timeline = Timeline::default();
        for second in seconds {
            let sample =
                Sample { seconds: f64::from(second), statements: u64::from(second), ..Sample::default() };
            timeline.push(sample);
        }
        timeline
    }

    #[test]
    fn campaigns_side_by_side_add_up_at_every_moment() {
        let (one, other) = (timeline([2, 4, 6].into_iter()), timeline([3, 4].into_iter()));
        let together = Timeline::side_by_side(&[&one, &other]);
        let statements: Vec<u64> = together.samples().iter().map(|sample| sample.statements).collect();
        assert_eq!(statements, [2, 2 + 3, 4 + 4, 6 + 4]);
    }

    #[test]
    fn a_short_campaign_keeps_every_sample() {
        assert_eq!(timeline((2..=120).step_by(2)).samples().len(), 60);
    }

    #[test]
    fn a_long_campaign_has_a_bounded_number_at_even_distances() {
        for hours in [1, 8, 100] {
            let timeline = timeline((2..=hours * 3600).step_by(2));
            let samples = timeline.samples();
            assert!((200..=MOST).contains(&samples.len()), "{hours} h: {}", samples.len());
            assert_eq!(timeline.last().seconds, f64::from(hours * 3600));
            let gaps = samples.windows(2).map(|pair| pair[1].seconds - pair[0].seconds);
            let widest = gaps.fold(0.0, f64::max);
            assert!(widest <= f64::from(hours * 3600) / 100.0, "{hours} h: a gap of {widest} s");
        }
    }
}
