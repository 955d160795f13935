//! What many machines put on a NATS server. Every machine is a thread here that does nothing but share: it takes ranges
//! and keeps entries as fast as one real machine did, which `CAMPAIGN`, the directory of a hunt that ended, tells.
//!
//! ```sh
//! nats-server -js -sd /tmp/store -a 127.0.0.1 -m 8222
//! dissent hunt sqlite --jobs 1 --time 2m --out measured
//! cargo run --release -p dissent-fleet --example load -- measured nats://127.0.0.1/load 127.0.0.1:8222 100 60
//! ```

#[path = "support/traffic.rs"]
mod traffic;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use dissent_campaign::store::{CampaignFile, read_campaign, read_summary};
use dissent_campaign::{Lease, Next, Pulse, Share};
use dissent_core::rng::Rng;
use dissent_fleet::Fleet;
use traffic::Traffic;

const TICK: Duration = Duration::from_millis(100);

/// How one real machine worked.
#[derive(Clone)]
struct Pace {
    file: CampaignFile,
    databases_per_second: f64,
    entries_per_second: f64,
    /// The entries that it kept.
    entries: Vec<Vec<u8>>,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [campaign, fleet, monitor, machines, seconds] = &arguments[..] else {
        bail!("usage: load CAMPAIGN nats://HOST/CAMPAIGN MONITOR MACHINES SECONDS");
    };
    let pace = Pace::read(Path::new(campaign))?;
    let (machines, seconds): (u32, u64) = (machines.parse()?, seconds.parse()?);
    println!(
        "a machine: {:.1} databases/s, {:.2} entries/s of {} bytes",
        pace.databases_per_second,
        pace.entries_per_second,
        pace.entries.iter().map(Vec::len).sum::<usize>() / pace.entries.len().max(1)
    );
    let until = Instant::now() + Duration::from_secs(seconds);
    let running: Vec<_> = (0..machines)
        .map(|number| {
            let (pace, fleet) = (pace.clone(), fleet.clone());
            std::thread::spawn(move || hunt(pace, &fleet, number, until))
        })
        .collect();
    let mut before = Traffic::read(monitor)?;
    while Instant::now() < until {
        std::thread::sleep(Duration::from_secs(10).min(until - Instant::now()));
        let now = Traffic::read(monitor)?;
        println!("{}", now.since(&before));
        before = now;
    }
    let mut late = Duration::ZERO;
    for machine in running {
        late = late.max(machine.join().expect("a machine panicked")?);
    }
    println!("the longest time that a machine waited for a range: {:.1} s", late.as_secs_f64());
    Ok(())
}

impl Pace {
    fn read(campaign: &Path) -> anyhow::Result<Pace> {
        let (file, summary) = (read_campaign(campaign)?, read_summary(campaign)?);
        let mut entries = Vec::new();
        for file in fs::read_dir(campaign.join("corpus")).into_iter().flatten() {
            let path = file?.path();
            if path.extension().is_some_and(|end| end == "json") {
                entries.push(fs::read(path)?);
            }
        }
        Ok(Pace {
            file,
            databases_per_second: summary.databases as f64 / summary.wall_seconds,
            entries_per_second: entries.len() as f64 / summary.wall_seconds,
            entries,
        })
    }
}

/// One machine. It comes across the same entries as all others, in an order of its own. Gives how long it waited for a
/// range at most.
fn hunt(mut pace: Pace, fleet: &str, number: u32, until: Instant) -> anyhow::Result<Duration> {
    // Not all at the same moment.
    std::thread::sleep(Duration::from_millis(5) * number);
    Rng::new(u64::from(number)).shuffle(&mut pace.entries);
    pace.file.id = number;
    let mut share = Fleet::connect(fleet)?.enter(&pace.file)?;
    let mut entries = pace.entries.into_iter();
    let (mut lease, mut left): (Option<Lease>, f64) = (None, 0.0);
    let (mut found, mut waits, mut longest) = (0.0, Instant::now(), Duration::ZERO);
    let mut pulse = Pulse { jobs: 1, ..Pulse::default() };
    while Instant::now() < until {
        std::thread::sleep(TICK);
        left -= pace.databases_per_second * TICK.as_secs_f64();
        if left <= 0.0 {
            if let Some(lease) = lease.take() {
                share.walked(lease.ticket);
                waits = Instant::now();
            }
            if let Next::Visit(next) = share.next() {
                longest = longest.max(waits.elapsed());
                left += next.stretch.count() as f64;
                lease = Some(next);
            }
        }
        found += pace.entries_per_second * TICK.as_secs_f64();
        while found >= 1.0 {
            found -= 1.0;
            entries.next().into_iter().for_each(|entry| share.keep("", entry));
        }
        share.arrivals();
        pulse.seconds += TICK.as_secs_f64();
        // A summary of a real machine is about so large.
        share.beat(&pulse, &|| Ok(vec![b' '; 20 << 10]));
    }
    leave(share, lease, &pulse)?;
    Ok(longest)
}

fn leave(mut share: Box<dyn Share>, lease: Option<Lease>, pulse: &Pulse) -> anyhow::Result<()> {
    if let Some(Lease { ticket, stretch }) = lease {
        share.give_back(ticket, stretch);
    }
    share.leave(pulse, Vec::new())
}
