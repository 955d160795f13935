//! Reaching a fleet, joining it, and looking at it.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow, bail};
use async_nats::ConnectErrorKind;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, Context, kv};
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

/// What seeds draw depends on these.
const SOURCES: &str = env!("DISSENT_SOURCES");
/// How often the connection is tried while nothing comes from the server; after three times without an answer it is lost.
const PING_PAUSE: Duration = Duration::from_secs(5);

/// A connection to the campaign of a fleet.
pub struct Fleet {
    runtime: Runtime,
    jetstream: Context,
    /// None before a machine has joined.
    rooms: Option<Rooms>,
    address: Address,
}

/// Why a machine cannot join a campaign: an option that the campaign has otherwise.
#[derive(Debug)]
pub struct Differs {
    option: String,
    ours: String,
    theirs: String,
}

impl Differs {
    /// Whether a machine with these options can join a campaign with those.
    pub fn check(ours: &Config, theirs: &Config) -> Result<(), Differs> {
        match ours.difference(theirs) {
            Some((option, ours, theirs)) => Err(Differs { option, ours, theirs }),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Differs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Differs { option, ours, theirs } = self;
        write!(
            f,
            "the fleet's campaign has {option} = {theirs}, not {ours}; leave out the option, or start another campaign"
        )
    }
}

impl std::error::Error for Differs {}

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
        let (jetstream, rooms) = runtime.block_on(reach(&address))?;
        Ok(Fleet { runtime, jetstream, rooms, address })
    }

    /// What the machines of the campaign have in common; none before one has joined.
    pub fn config(&self) -> anyhow::Result<Option<Config>> {
        let file: Option<CampaignFile> = match &self.rooms {
            Some(rooms) => self.read(rooms, "file")?,
            None => None,
        };
        // Whoever can log in to the server may have written it: a machine's own affairs are no part of it.
        file.map(|file| file.config.common()).transpose()
    }

    /// Joins the campaign with an engine that was opened; the first machine decides what all have in common. Fails with
    /// [`Differs`] if this machine has other options.
    pub fn enter(self, file: &CampaignFile) -> anyhow::Result<Box<dyn Share>> {
        let name = &self.address.campaign;
        let rooms = match &self.rooms {
            Some(rooms) => rooms.clone(),
            None => self.block_on(Rooms::open(self.jetstream.clone(), name))?,
        };
        let common = file.config.common()?;
        let mut shared = file.clone();
        shared.config = common.clone();
        let there: CampaignFile = self.first_wins(&rooms, "file", &shared)?;
        if file.dissent_version != there.dissent_version {
            bail!(
                "the campaign {name} uses Dissent {}, and this is {}; use the same version, or another campaign",
                there.dissent_version,
                file.dissent_version
            );
        }
        if self.first_wins::<String>(&rooms, "sources", &SOURCES.to_string())? != SOURCES {
            bail!(
                "the campaign {name} uses a Dissent {} that was built from other sources; use the same build, or another campaign",
                there.dissent_version
            );
        }
        let tested = |file: &CampaignFile| format!("{} {}", file.dialect, file.engine_version);
        if tested(file) != tested(&there) {
            let (ours, theirs) = (tested(file), tested(&there));
            bail!("the campaign {name} tests {theirs}, not {ours}; give this target a campaign of its own");
        }
        Differs::check(&common, &there.config.common()?)?;
        if self.block_on(rooms.campaign.get("stop"))?.is_some() {
            bail!("the campaign {name} was stopped; start another one under a new name");
        }
        let end = there.config.max_databases;
        let size = end.map_or(RANGE, |end| (end / 64).clamp(1, RANGE));
        let cut: Cut = self.first_wins(&rooms, "cut", &Cut { size, patience: silence(), end })?;
        let (id, wanted) = (name_of(file), file.config.jobs as usize);
        let inbox = Inbox { connected: true, patience: cut.patience, wanted, ..Inbox::default() };
        let inbox = Arc::new(Mutex::new(inbox));
        let ranges = Ranges::new(rooms.clone(), &id, cut);
        let heart = Heart { rooms, machine: id, host: host(), inbox: inbox.clone() };
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
        self.block_on(self.rooms()?.campaign.put("stop", "stop".into())).map(drop)
    }

    /// Removes the campaign from the server, with everything that is there of it.
    pub fn remove(&self) -> anyhow::Result<()> {
        let rooms = self.rooms()?;
        if let Some(machine) = self.machines()?.iter().find(|machine| machine.state == "hunting") {
            let (name, host) = (&self.address.campaign, &machine.host);
            bail!("{host} is hunting in the campaign {name}; end it with `dissent fleet stop` first");
        }
        self.block_on(rooms.remove())
    }

    /// What the machines are doing.
    pub fn status(&self) -> anyhow::Result<Status> {
        let (rooms, file, bugs) = (self.rooms()?, self.file()?, self.bugs()?);
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
            corpus: messages(&rooms.corpus.stream)?,
            waiting: messages(&rooms.reduce)?,
            ranges: messages(&rooms.fresh)? + messages(&rooms.taken)?,
        })
    }

    fn machines(&self) -> anyhow::Result<Vec<Machine>> {
        let mut machines = Vec::new();
        for (key, entry) in self.entries(&self.rooms()?.machines)? {
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
        let rooms = self.rooms()?;
        let Some(cut) = self.read::<Cut>(rooms, "cut")? else { return Ok(Vec::new()) };
        let leased = self.block_on(leased(rooms, &cut, &name_of(file)))?;
        Ok(leased.into_iter().map(|range| range.stretch).collect())
    }

    /// Writes the whole campaign to a directory, as if one machine had hunted.
    pub fn gather(&self, out: &Path, observer: &mut dyn Observer) -> anyhow::Result<Summary> {
        let figures = self.entries(&self.rooms()?.machines)?.into_iter();
        let figures = figures.filter(|(key, _)| key.starts_with("figures."));
        let figures = figures.map(|(_, entry)| entry.value.to_vec()).collect();
        // Bugs last: a finding leaves the queue when it is among them.
        let (queued, bugs) = (self.queued()?, self.bugs()?);
        let is_over = self.machines()?.iter().all(|machine| machine.state != "hunting");
        gather(out, self.file()?, Told { bugs, figures, queued, is_over }, observer)
    }

    fn file(&self) -> anyhow::Result<CampaignFile> {
        self.read(self.rooms()?, "file")?.with_context(|| self.nobody())
    }

    fn rooms(&self) -> anyhow::Result<&Rooms> {
        self.rooms.as_ref().with_context(|| self.nobody())
    }

    fn nobody(&self) -> String {
        format!("no machine has joined the campaign {} yet", self.address.campaign)
    }

    fn bugs(&self) -> anyhow::Result<Vec<SharedBug>> {
        let read = |(_, entry): (String, kv::Entry)| {
            let record: BugRecord = serde_json::from_slice(&entry.value).context("a bug cannot be read")?;
            Ok(record.shared)
        };
        self.entries(&self.rooms()?.bugs)?.into_iter().map(read).collect()
    }

    /// Findings that anybody may reduce.
    fn queued(&self) -> anyhow::Result<Vec<Finding>> {
        let rooms = self.rooms()?;
        let queued = self.block_on(messages(&rooms.reduce, rooms.subject("reduce", "*")))?;
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
    fn first_wins<T: Serialize + DeserializeOwned>(
        &self,
        rooms: &Rooms,
        key: &str,
        value: &T,
    ) -> anyhow::Result<T> {
        self.block_on(async {
            match rooms.campaign.create(key, serde_json::to_vec(value)?.into()).await {
                Err(error) if error.kind() != kv::CreateErrorKind::AlreadyExists => Err(error.into()),
                _ => Ok::<_, async_nats::Error>(()),
            }
        })?;
        self.read(rooms, key)?.context("the NATS server lost data that it had accepted")
    }

    /// What the campaign's own bucket has under a name.
    fn read<T: DeserializeOwned>(&self, rooms: &Rooms, key: &str) -> anyhow::Result<Option<T>> {
        let Some(there) = self.block_on(rooms.campaign.get(key))? else { return Ok(None) };
        let name = &self.address.campaign;
        let read = serde_json::from_slice(&there);
        read.map(Some).with_context(|| format!("the campaign {name} uses another version of Dissent"))
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

async fn reach(address: &Address) -> anyhow::Result<(Context, Option<Rooms>)> {
    let options = address.options().await?.name("dissent");
    let options = options.connection_timeout(PATIENCE).request_timeout(Some(PATIENCE));
    let options = options.ping_interval(PING_PAUSE);
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
    let jetstream = jetstream::new(client);
    match Rooms::find(jetstream.clone(), &address.campaign).await {
        Ok(rooms) => Ok((jetstream, rooms)),
        Err(error) if is_full(&error) => bail!("{FULL}"),
        Err(error) => bail!("the NATS server at {shown} cannot store data: is JetStream enabled? ({error})"),
    }
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

#[cfg(test)]
mod tests;
