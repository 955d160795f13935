//! Reaching a fleet, joining it, and looking at it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow, bail};
use async_nats::ConnectErrorKind;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, kv};
use dissent_campaign::store::CampaignFile;
use dissent_campaign::{Config, Observer, Pulse, Share, SharedBug, Stretch, Summary, Told, gather};
use dissent_core::finding::Finding;
use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;

use crate::address::Address;
use crate::member::Member;
use crate::post::{Beat, BugRecord, FULL, Heart, Inbox, Post, is_full};
use crate::ranges::{Cut, Ranges, leased};
use crate::rooms::{Rooms, messages};

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// A machine that has not been heard for so long is dead: its databases go to others.
const SILENCE: Duration = Duration::from_secs(30);
/// Databases that a worker gets at a time; `docs/fleet.md` says what that costs the server.
const RANGE: u64 = 64;

/// A connection to the campaign of a fleet.
pub struct Fleet {
    runtime: Runtime,
    rooms: Rooms,
    address: Address,
}

/// What a fleet is doing.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The campaign's name.
    pub campaign: String,
    /// What is tested.
    pub target: String,
    /// Its version.
    pub engine_version: String,
    /// Those that have joined, also those that have left.
    pub machines: Vec<Machine>,
    /// Bugs that nobody knew.
    pub bugs: u64,
    /// Known bugs that were found again.
    pub known: u64,
    /// Entries of the corpus.
    pub corpus: u64,
    /// Findings that anybody may reduce.
    pub waiting: u64,
    /// Ranges of databases that machines are at, or that wait for one.
    pub ranges: u64,
}

/// A machine of a fleet.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Its number.
    pub id: String,
    /// Its name and process.
    pub host: String,
    /// `hunting`, `silent` or `left`.
    pub state: &'static str,
    /// Its last heartbeat.
    pub pulse: Pulse,
}

impl Fleet {
    /// Reaches the server. What can be wrong with that is one sentence.
    pub fn connect(address: &str) -> anyhow::Result<Fleet> {
        let address = Address::parse(address)?;
        let runtime =
            Builder::new_current_thread().enable_all().build().context("cannot talk to a server")?;
        let rooms = runtime.block_on(reach(&address))?;
        Ok(Fleet { runtime, rooms, address })
    }

    /// The configuration of the campaign; the first machine that asks decides it.
    pub fn settle(&self, config: &Config) -> anyhow::Result<Config> {
        self.first_wins("config", config)
    }

    /// Joins the campaign with an engine that was opened.
    pub fn enter(self, file: &CampaignFile) -> anyhow::Result<Box<dyn Share>> {
        let name = &self.address.campaign;
        let there: CampaignFile = self.first_wins("file", file)?;
        if file.dissent_version != there.dissent_version {
            bail!(
                "the campaign {name} uses Dissent {}, and this is {}; use the same version, or another campaign",
                there.dissent_version,
                file.dissent_version
            );
        }
        let tested = |file: &CampaignFile| format!("{} {}", file.dialect, file.engine_version);
        if tested(file) != tested(&there) {
            let (ours, theirs) = (tested(file), tested(&there));
            bail!("the campaign {name} tests {theirs}, not {ours}; give this target a campaign of its own");
        }
        if file.config.seed != there.config.seed {
            bail!("the campaign {name} has the seed {}, not {}", there.config.seed, file.config.seed);
        }
        if self.block_on(self.rooms.campaign.get("stop"))?.is_some() {
            bail!("the campaign {name} was stopped; start another one under a new name");
        }
        let end = there.config.max_databases;
        let size = end.map_or(RANGE, |end| (end / 64).clamp(1, RANGE));
        let cut: Cut = self.first_wins("cut", &Cut { size, patience: silence(), end })?;
        let (id, wanted) = (name_of(file), file.config.jobs as usize);
        let inbox = Arc::new(Mutex::new(Inbox { connected: true, wanted, ..Inbox::default() }));
        let ranges = Ranges::new(self.rooms.clone(), &id, cut);
        let heart = Heart { rooms: self.rooms.clone(), machine: id, host: host(), inbox: inbox.clone() };
        let number = self.block_on(heart.beat(false))?;
        let (orders, taken) = unbounded_channel();
        let post = Post::new(heart, ranges, taken);
        let runtime = self.runtime;
        // It ends when the member has left or is gone.
        let thread = std::thread::Builder::new().name("fleet".to_string());
        thread.spawn(move || runtime.block_on(post.run())).context("cannot start a thread")?;
        Ok(Box::new(Member::new(orders, inbox, number, end.is_some())))
    }

    /// Ends the campaign on every machine.
    pub fn stop(&self) -> anyhow::Result<()> {
        self.block_on(self.rooms.campaign.put("stop", "stop".into())).map(drop)
    }

    /// What the machines are doing.
    pub fn status(&self) -> anyhow::Result<Status> {
        let file = self.file()?;
        let bugs = self.bugs()?;
        let known = bugs.iter().filter(|shared| shared.bug.known.is_some()).count() as u64;
        let messages =
            |stream: &Stream| -> anyhow::Result<u64> { Ok(self.block_on(stream.get_info())?.state.messages) };
        Ok(Status {
            campaign: self.address.campaign.clone(),
            target: file.config.target,
            engine_version: file.engine_version,
            machines: self.machines()?,
            bugs: bugs.len() as u64 - known,
            known,
            corpus: self.entries(&self.rooms.corpus)?.len() as u64,
            waiting: messages(&self.rooms.reduce)?,
            ranges: messages(&self.rooms.fresh)? + messages(&self.rooms.taken)?,
        })
    }

    fn machines(&self) -> anyhow::Result<Vec<Machine>> {
        let mut machines = Vec::new();
        for (key, entry) in self.entries(&self.rooms.machines)? {
            let Some(id) = key.strip_prefix("beat.") else { continue };
            let beat: Beat = serde_json::from_slice(&entry.value).context("a heartbeat cannot be read")?;
            let age = SystemTime::now().duration_since(entry.created.into()).unwrap_or_default();
            let state = match beat.left {
                true => "left",
                false if age > SILENCE => "silent",
                false => "hunting",
            };
            machines.push(Machine { id: id.to_string(), host: beat.host, state, pulse: beat.pulse });
        }
        Ok(machines)
    }

    /// The databases that a machine has or, if it is dead, had. `file` is its own.
    pub fn leased(&self, file: &CampaignFile) -> anyhow::Result<Vec<Stretch>> {
        let cut = self.block_on(self.rooms.campaign.get("cut"))?;
        let Some(cut) = cut else { return Ok(Vec::new()) };
        let cut: Cut = serde_json::from_slice(&cut).context("the ranges of the fleet cannot be read")?;
        let leased = self.block_on(leased(&self.rooms, &cut, &name_of(file)))?;
        Ok(leased.into_iter().map(|range| range.stretch).collect())
    }

    /// Writes the whole campaign to a directory, as if one machine had hunted.
    pub fn gather(&self, out: &Path, observer: &mut dyn Observer) -> anyhow::Result<Summary> {
        let figures = self.entries(&self.rooms.machines)?.into_iter();
        let figures = figures.filter(|(key, _)| key.starts_with("figures."));
        let figures = figures.map(|(_, entry)| entry.value.to_vec()).collect();
        // Bugs last: a finding leaves the queue when it is among them.
        let (queued, bugs) = (self.queued()?, self.bugs()?);
        let is_over = self.machines()?.iter().all(|machine| machine.state != "hunting");
        gather(out, self.file()?, Told { bugs, figures, queued, is_over }, observer)
    }

    fn file(&self) -> anyhow::Result<CampaignFile> {
        let file = self.block_on(self.rooms.campaign.get("file"))?;
        let name = &self.address.campaign;
        let file = file.with_context(|| format!("no machine has joined the campaign {name} yet"))?;
        serde_json::from_slice(&file).with_context(|| format!("the campaign {name} cannot be read"))
    }

    fn bugs(&self) -> anyhow::Result<Vec<SharedBug>> {
        let read = |(_, entry): (String, kv::Entry)| {
            let record: BugRecord = serde_json::from_slice(&entry.value).context("a bug cannot be read")?;
            Ok(record.shared)
        };
        self.entries(&self.rooms.bugs)?.into_iter().map(read).collect()
    }

    /// Findings that anybody may reduce.
    fn queued(&self) -> anyhow::Result<Vec<Finding>> {
        let queued = self.block_on(messages(&self.rooms.reduce, self.rooms.subject("reduce", "*")))?;
        Ok(queued.iter().filter_map(|message| Finding::from_json(&message.payload).ok()).collect())
    }

    /// Everything in a bucket, by name.
    fn entries(&self, store: &kv::Store) -> anyhow::Result<Vec<(String, kv::Entry)>> {
        self.block_on(async {
            let mut entries = Vec::new();
            let mut keys = store.keys().await?;
            while let Some(key) = keys.next().await {
                let key = key?;
                if let Some(entry) = store.entry(&key).await? {
                    entries.push((key, entry));
                }
            }
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            Ok::<_, async_nats::Error>(entries)
        })
    }

    /// Puts a value where there is none; gives what is there.
    fn first_wins<T: Serialize + DeserializeOwned>(&self, key: &str, value: &T) -> anyhow::Result<T> {
        let there = self.block_on(async {
            match self.rooms.campaign.create(key, serde_json::to_vec(value)?.into()).await {
                Err(error) if error.kind() != kv::CreateErrorKind::AlreadyExists => return Err(error.into()),
                _ => {}
            }
            Ok::<_, async_nats::Error>(self.rooms.campaign.get(key).await?)
        })?;
        let there = there.context("the NATS server lost data that it had accepted")?;
        let name = &self.address.campaign;
        serde_json::from_slice(&there)
            .with_context(|| format!("the campaign {name} uses another version of Dissent"))
    }

    fn block_on<T, E: Into<async_nats::Error>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> anyhow::Result<T> {
        self.runtime.block_on(future).map_err(|error| {
            let error = error.into();
            match is_full(&error) {
                true => anyhow!("{FULL}"),
                false => anyhow!("the NATS server refused a request: {error}"),
            }
        })
    }
}

async fn reach(address: &Address) -> anyhow::Result<Rooms> {
    let options = address.options().await?.name("dissent");
    let options = options.connection_timeout(PATIENCE).request_timeout(Some(PATIENCE));
    let options = options.reconnect_delay_callback(|tries| Duration::from_millis(100 * tries.min(20) as u64));
    let shown = address.shown();
    let client = options.connect(&shown).await.map_err(|error| match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            anyhow!("the NATS server at {shown} refused the credentials")
        }
        // A certificate that is not accepted shows when the first bytes are read.
        kind if kind == ConnectErrorKind::Tls || error.to_string().to_lowercase().contains("certificate") => {
            anyhow!("cannot make an encrypted connection to the NATS server at {shown}: {error}")
        }
        _ => anyhow!("cannot reach a NATS server at {shown}: {error}"),
    })?;
    let opened = Rooms::open(jetstream::new(client), &address.campaign).await;
    opened.map_err(|error| match is_full(&error) {
        true => anyhow!("{FULL}"),
        false => anyhow!("the NATS server at {shown} cannot store data: is JetStream enabled? ({error})"),
    })
}

/// What a machine is called on the server.
fn name_of(file: &CampaignFile) -> String {
    format!("{:08x}", file.id)
}

/// Tests do not wait for half a minute.
fn silence() -> Duration {
    let asked = std::env::var("DISSENT_TEST_SILENCE").ok().filter(|_| cfg!(debug_assertions));
    asked.and_then(|seconds| seconds.parse().ok()).map_or(SILENCE, Duration::from_secs)
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}:{}", name.trim(), std::process::id())
}
