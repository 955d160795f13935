//! Where a NATS server saturates. Machines here are only their messages: each has a connection, watches three buckets, and
//! sends what `dissent-fleet` sends, at the pace that it is told, then at twice that pace, and so on, until the server
//! answers too late. All run in one thread, so that the server has the other cores.
//!
//! ```sh
//! nats-server -js -sd /tmp/store -a 127.0.0.1 -m 8222
//! cargo run --release -p dissent-fleet --example saturation -- nats://127.0.0.1 127.0.0.1:8222 1000 21.4 0.1 13700
//! ```
//!
//! The last three numbers are the databases that a machine visits in a second, the entries that the whole fleet adds
//! to the corpus in a second, and the bytes of one.

#[path = "support/traffic.rs"]
mod traffic;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::{self, kv, stream};
use futures_util::StreamExt;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant as Moment, sleep, sleep_until};
use traffic::Traffic;

/// As in `dissent-fleet`.
const RANGE: f64 = 64.0;
const BEAT_PAUSE: f64 = 5.0;
const FETCH_PAUSE: f64 = 5.0;
const FIGURES_PAUSE: f64 = 60.0;
const BEAT_BYTES: usize = 250;
const FIGURES_BYTES: usize = 20 << 10;
/// A step takes so long.
const STEP: Duration = Duration::from_secs(10);
/// The server keeps up while it does so much of what is asked, and answers so soon in all but one of a hundred cases.
const KEEPS_UP: f64 = 0.95;
const SOON: Duration = Duration::from_millis(500);
/// The fastest pace that is tried.
const FASTEST: f64 = 1024.0;

/// What one machine has on the server.
#[derive(Clone)]
struct Machine {
    name: String,
    jetstream: jetstream::Context,
    machines: kv::Store,
    corpus: kv::Store,
    fresh: stream::Stream,
    reductions: PullConsumer,
}

/// What a step came to.
#[derive(Default)]
struct Step {
    asked: u64,
    answers: Vec<Duration>,
    failed: u64,
    /// Entries that reached machines, in all.
    delivered: u64,
}

type Shared<T> = Rc<RefCell<T>>;

#[derive(Clone)]
struct Pace {
    databases: f64,
    entries: f64,
    entry_bytes: usize,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, monitor, machines, databases, entries, bytes] = &arguments[..] else {
        bail!("usage: saturation nats://HOST MONITOR MACHINES DATABASES/S ENTRIES/S ENTRY-BYTES");
    };
    let pace = Pace { databases: databases.parse()?, entries: entries.parse()?, entry_bytes: bytes.parse()? };
    let count: usize = machines.parse()?;
    let runtime = Builder::new_current_thread().enable_all().build().context("no runtime")?;
    // Watches that are dropped in the end need it as well.
    let _entered = runtime.enter();
    let ran = LocalSet::new().block_on(&runtime, run(server, monitor, count, pace));
    ran.map_err(|error| anyhow!("{error}"))
}

async fn run(server: &str, monitor: &str, count: usize, pace: Pace) -> Result<(), async_nats::Error> {
    let now: Shared<Step> = Shared::default();
    let mut machines = Vec::new();
    for number in 0..count {
        let machine = Machine::open(server, number).await?;
        for bucket in ["bugs", "corpus", "campaign"] {
            let store = machine.jetstream.get_key_value(format!("saturation-{bucket}")).await?;
            let now = now.clone();
            spawn_local(async move {
                let Ok(mut watch) = store.watch_all().await else { return };
                while let Some(Ok(_)) = watch.next().await {
                    now.borrow_mut().delivered += 1;
                }
            });
        }
        machines.push(machine);
    }
    sleep(Duration::from_secs(2)).await;
    println!("{count} machines, each with {:.1} databases/s", pace.databases);
    let mut speed = 1.0;
    while speed <= FASTEST {
        *now.borrow_mut() = Step::default();
        let before = Traffic::read(monitor)?;
        let started = Instant::now();
        let until = Moment::now() + STEP;
        for (number, machine) in machines.iter().enumerate() {
            machine.start(number, count, speed, &pace, until, &now);
        }
        sleep_until(until).await;
        let (told, seconds) = (Traffic::read(monitor)?.since(&before), started.elapsed().as_secs_f64());
        let step = std::mem::take(&mut *now.borrow_mut());
        let keeps_up = step.tell(speed, seconds, &told);
        if !keeps_up {
            return Ok(());
        }
        speed *= 2.0;
        // What is still under way does not count for the next step.
        sleep(Duration::from_secs(2)).await;
    }
    Ok(())
}

impl Machine {
    async fn open(server: &str, number: usize) -> Result<Machine, async_nats::Error> {
        let client = async_nats::connect(server).await.context("cannot reach the server")?;
        let jetstream = jetstream::new(client);
        let mut stores = Vec::new();
        for bucket in ["bugs", "corpus", "campaign", "machines"] {
            let config =
                kv::Config { bucket: format!("saturation-{bucket}"), history: 1, ..kv::Config::default() };
            let there = jetstream.get_key_value(&config.bucket).await;
            stores.push(match there {
                Ok(store) => store,
                Err(_) => jetstream.create_key_value(config).await?,
            });
        }
        let stream = |name: &str, retention| stream::Config {
            name: format!("saturation-{name}"),
            subjects: vec![format!("saturation.{name}.*")],
            retention,
            ..stream::Config::default()
        };
        let fresh = jetstream.get_or_create_stream(stream("fresh", stream::RetentionPolicy::Limits)).await?;
        let reduce =
            jetstream.get_or_create_stream(stream("reduce", stream::RetentionPolicy::WorkQueue)).await?;
        let consumer = pull::Config {
            durable_name: Some("reducers".to_string()),
            ack_policy: AckPolicy::Explicit,
            ..pull::Config::default()
        };
        let reductions = reduce.get_or_create_consumer("reducers", consumer).await?;
        let (machines, corpus) = (stores.remove(3), stores.remove(1));
        Ok(Machine { name: format!("m{number}"), jetstream, machines, corpus, fresh, reductions })
    }

    /// All that it does, until the step is over. Not all machines at the same moment.
    fn start(&self, number: usize, count: usize, speed: f64, pace: &Pace, until: Moment, now: &Shared<Step>) {
        let part = number as f64 / count as f64;
        let every = |seconds: f64| (Duration::from_secs_f64(seconds / speed), part);
        let machine = self.clone();
        repeat(every(BEAT_PAUSE), until, now, move || {
            let machine = machine.clone();
            async move { machine.put(format!("beat.{}", machine.name), BEAT_BYTES).await }
        });
        let machine = self.clone();
        repeat(every(FIGURES_PAUSE), until, now, move || {
            let machine = machine.clone();
            async move { machine.put(format!("figures.{}", machine.name), FIGURES_BYTES).await }
        });
        let machine = self.clone();
        repeat(every(RANGE / pace.databases), until, now, move || {
            let machine = machine.clone();
            async move { machine.walk().await }
        });
        let machine = self.clone();
        repeat(every(FETCH_PAUSE), until, now, move || {
            let machine = machine.clone();
            async move {
                let mut fetched = machine.reductions.fetch().max_messages(1).messages().await?;
                while let Some(message) = fetched.next().await {
                    message?;
                }
                Ok(())
            }
        });
        // The whole fleet's entries, each from another machine.
        let (machine, bytes) = (self.clone(), pace.entry_bytes);
        let mut kept = 0;
        repeat(every(count as f64 / pace.entries), until, now, move || {
            let machine = machine.clone();
            kept += 1;
            let key = format!("{}-{speed}-{kept}", machine.name);
            async move {
                machine.corpus.put(key, vec![b' '; bytes].into()).await?;
                Ok(())
            }
        });
    }

    async fn put(&self, key: String, bytes: usize) -> Result<(), async_nats::Error> {
        self.machines.put(key, vec![b' '; bytes].into()).await?;
        Ok(())
    }

    /// Begins a range and says that it is walked.
    async fn walk(&self) -> Result<(), async_nats::Error> {
        let subject = format!("saturation.fresh.{}", self.name);
        let sequence = self.jetstream.publish(subject, "".into()).await?.await?.sequence;
        self.fresh.delete_message(sequence).await?;
        Ok(())
    }
}

/// Does something again and again, each time whether or not the last one is answered, as many machines would.
fn repeat<F: Future<Output = Result<(), async_nats::Error>> + 'static>(
    (pause, part): (Duration, f64),
    until: Moment,
    now: &Shared<Step>,
    mut ask: impl FnMut() -> F + 'static,
) {
    let now = now.clone();
    spawn_local(async move {
        let mut next = Moment::now() + pause.mul_f64(part);
        loop {
            sleep_until(next.min(until)).await;
            if next >= until {
                return;
            }
            next += pause;
            now.borrow_mut().asked += 1;
            let (asked, answer, now) = (Instant::now(), ask(), now.clone());
            spawn_local(async move {
                let answer = answer.await;
                let mut now = now.borrow_mut();
                match answer {
                    Ok(()) => now.answers.push(asked.elapsed()),
                    Err(_) => now.failed += 1,
                }
            });
        }
    });
}

impl Step {
    /// Prints a line; gives whether the server keeps up.
    fn tell(mut self, speed: f64, seconds: f64, told: &str) -> bool {
        self.answers.sort_unstable();
        let at = |part: f64| {
            let index = (self.answers.len() as f64 * part) as usize;
            self.answers.get(index.min(self.answers.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        let done = self.answers.len() as f64 / self.asked.max(1) as f64;
        println!(
            "{speed} times: {:.0} requests/s asked, {:.0} answered, {} failed, half within {:.1} ms, 99 % within {:.0} ms; \
             {:.0} entries/s delivered; {told}",
            self.asked as f64 / seconds,
            self.answers.len() as f64 / seconds,
            self.failed,
            at(0.5).as_secs_f64() * 1e3,
            at(0.99).as_secs_f64() * 1e3,
            self.delivered as f64 / seconds,
        );
        done >= KEEPS_UP && at(0.99) <= SOON
    }
}
