//! The thread that talks to the server: it sends what the campaign tells it, in that order, and keeps what it could not send.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{self, CreateErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{AckKind, Message};
use dissent_campaign::{Arrival, Lease, Pulse, SharedBug, Stretch};
use dissent_core::finding::Finding;
use dissent_core::guide::{Entry, Feature};
use dissent_core::hash::fnv1a;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::ranges::{Ranges, beat_key};
use crate::rooms::Rooms;

/// How often the thread looks for something to do besides orders.
const TICK: Duration = Duration::from_millis(200);
/// How often reductions that take long are said to go on.
const REDUCTION_PAUSE: Duration = Duration::from_secs(20);
/// How often an idle machine asks for something to reduce.
const FETCH_PAUSE: Duration = Duration::from_secs(5);
/// How many orders are sent before whoever waits for an answer gets one.
const SENT_AT_ONCE: usize = 64;
/// Entries of the corpus that are larger stay where they are.
const LARGEST_ENTRY: usize = 256 << 10;
/// What comes with a message beside its payload, at most.
const HEADERS: usize = 4 << 10;

/// What the campaign wants sent.
pub enum Order {
    Figures(Vec<u8>),
    Walked(u64),
    GiveBack(u64, Stretch),
    Publish(Box<SharedBug>, Option<Sender<bool>>),
    Keep(Vec<u8>),
    HandOver(Box<Finding>, Sender<bool>),
    Reduced(u64),
    Leave(Sender<()>),
}

/// What the thread has for the campaign.
#[derive(Default)]
pub struct Inbox {
    pub leases: VecDeque<Lease>,
    /// How many of them there should be.
    pub wanted: usize,
    pub over: bool,
    pub arrivals: Vec<Arrival>,
    pub connected: bool,
    /// When the server last took a heartbeat of this machine.
    pub heard: Option<Instant>,
    /// How long a machine may be silent before others take over what it has.
    pub patience: Duration,
    /// How this machine is doing, for its heartbeat.
    pub pulse: Pulse,
    /// Features of entries that are on the server.
    pub shown: HashSet<Feature>,
    /// This machine could reduce something.
    pub idle: bool,
    /// What the user has to know when it ends.
    pub trouble: Option<String>,
}

impl Inbox {
    /// Whether the others can know that this machine is alive. A server that hangs keeps its connections.
    pub fn is_heard(&self) -> bool {
        self.heard.is_some_and(|heard| heard.elapsed() < self.patience)
    }
}

pub type SharedInbox = Arc<Mutex<Inbox>>;

pub fn open(inbox: &SharedInbox) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a bucket has of a bug.
#[derive(Serialize, Deserialize)]
pub struct BugRecord {
    /// Who found it first.
    pub machine: String,
    /// Whose example it is.
    #[serde(default)]
    pub by: String,
    #[serde(flatten)]
    pub shared: SharedBug,
}

/// What a bucket has of an entry of the corpus.
#[derive(Serialize, Deserialize)]
struct EntryRecord {
    machine: String,
    entry: Entry,
}

fn hash_of(finding: &Finding) -> u64 {
    serde_json::to_vec(finding).map_or(0, |bytes| fnv1a(&bytes))
}

/// A heartbeat.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Beat {
    pub host: String,
    pub pulse: Pulse,
    pub left: bool,
}

pub struct Post {
    rooms: Rooms,
    ranges: Ranges,
    machine: String,
    heart: Heart,
    inbox: SharedInbox,
    orders: UnboundedReceiver<Order>,
    /// What could not be sent yet.
    unsent: VecDeque<Order>,
    reductions: HashMap<u64, Message>,
    /// How often a finding, by its hash, was taken back after it had been handed over. The server remembers what it was
    /// offered for longer than it is there, so the next offer must look different.
    taken_back: HashMap<u64, u32>,
    extended: Instant,
    fetched: Option<Instant>,
    reconnects: u64,
}

impl Post {
    pub fn new(heart: Heart, ranges: Ranges, orders: UnboundedReceiver<Order>) -> Post {
        Post {
            reconnects: heart.rooms.connects(),
            rooms: heart.rooms.clone(),
            ranges,
            machine: heart.machine.clone(),
            inbox: heart.inbox.clone(),
            heart,
            orders,
            unsent: VecDeque::new(),
            reductions: HashMap::new(),
            taken_back: HashMap::new(),
            extended: Instant::now(),
            fetched: None,
        }
    }

    /// Until the campaign leaves or is gone.
    pub async fn run(mut self) {
        for (store, kind) in [
            (&self.rooms.bugs, Kind::Bugs),
            (&self.rooms.corpus, Kind::Corpus),
            (&self.rooms.campaign, Kind::Campaign),
        ] {
            tokio::spawn(watch(store.clone(), kind, self.machine.clone(), self.inbox.clone()));
        }
        let heartbeat = tokio::spawn(self.heart.clone().run(self.ranges.beat_pause()));
        loop {
            match tokio::time::timeout(TICK, self.orders.recv()).await {
                Ok(None) => return,
                Ok(Some(Order::Leave(done))) => {
                    heartbeat.abort();
                    self.leave().await;
                    let _ = done.send(());
                    return;
                }
                Ok(Some(order)) => self.take(order).await,
                Err(_) => {}
            }
            self.look_after().await;
        }
    }

    fn is_connected(&mut self) -> bool {
        let (connected, was) = {
            let mut inbox = open(&self.inbox);
            let connected = self.rooms.is_connected() && inbox.is_heard();
            (connected, std::mem::replace(&mut inbox.connected, connected))
        };
        let connects = self.rooms.connects();
        if connected && (!was || connects != self.reconnects) {
            self.reconnects = connects;
            self.ranges.reconnected();
            self.note("connected to the fleet again");
        }
        if was && !connected {
            self.note("lost the connection to the fleet; continuing alone");
        }
        connected
    }

    fn note(&self, text: &str) {
        open(&self.inbox).arrivals.push(Arrival::Note(text.to_string()));
    }

    async fn take(&mut self, order: Order) {
        let connected = self.is_connected();
        match order {
            // Only the newest are of use.
            Order::Figures(figures) => {
                self.unsent.retain(|order| !matches!(order, Order::Figures(_)));
                self.unsent.push_back(Order::Figures(figures));
            }
            Order::HandOver(finding, reply) => {
                let handed = if connected { self.hand_over(&finding).await.ok() } else { None };
                // Who no longer waits for the answer reduces it here.
                if let (Err(_), Some(sequence)) = (reply.send(handed.is_some()), handed) {
                    let _ = self.rooms.reduce.delete_message(sequence).await;
                    *self.taken_back.entry(hash_of(&finding)).or_default() += 1;
                }
            }
            Order::Publish(shared, Some(reply)) => {
                let first = if connected { self.publish(&shared).await.ok() } else { None };
                let _ = reply.send(first.unwrap_or(true));
                if first.is_none() {
                    self.unsent.push_back(Order::Publish(shared, None));
                }
            }
            order => self.unsent.push_back(order),
        }
    }

    async fn look_after(&mut self) {
        if !self.is_connected() {
            return;
        }
        self.send_unsent(SENT_AT_ONCE).await;
        let (wanted, idle) = {
            let inbox = open(&self.inbox);
            // What others may take for dead says that it is alive before it begins anything.
            let is_heard = inbox.heard.is_some_and(|heard| heard.elapsed() < self.ranges.beat_pause() * 3);
            let wanted = if is_heard { inbox.wanted.saturating_sub(inbox.leases.len()) } else { 0 };
            (wanted, inbox.idle)
        };
        for _ in 0..wanted {
            match self.ranges.next().await {
                Ok(Some(lease)) => open(&self.inbox).leases.push_back(lease),
                Ok(None) => break,
                Err(error) => return complain(&self.inbox, &error),
            }
        }
        if wanted > 0 && self.ranges.is_over().await.unwrap_or(false) {
            open(&self.inbox).over = true;
        }
        self.look_after_reductions(idle).await;
    }

    async fn send_unsent(&mut self, most: usize) {
        for _ in 0..most {
            let Some(order) = self.unsent.pop_front() else { return };
            if let Err(error) = self.send(&order).await {
                self.unsent.push_front(order);
                return complain(&self.inbox, &error);
            }
        }
    }

    async fn send(&mut self, order: &Order) -> Result<(), async_nats::Error> {
        match order {
            Order::Figures(figures) => {
                let key = format!("figures.{}", self.machine);
                self.rooms.machines.put(key, figures.clone().into()).await?;
            }
            Order::Walked(ticket) => self.ranges.walked(*ticket).await?,
            Order::GiveBack(ticket, rest) => self.ranges.give_back(*ticket, *rest).await?,
            Order::Publish(shared, _) => drop(self.publish(shared).await?),
            Order::Keep(entry) => self.keep(entry).await?,
            Order::Reduced(ticket) => {
                if let Some(message) = self.reductions.remove(ticket) {
                    message.ack().await?;
                }
            }
            Order::HandOver(..) | Order::Leave(_) => {}
        }
        Ok(())
    }

    /// The first wins; a smaller example replaces a larger one. `false`: another machine was first.
    async fn publish(&self, shared: &SharedBug) -> Result<bool, async_nats::Error> {
        let record = |machine: &str| {
            let (machine, by) = (machine.to_string(), self.machine.clone());
            serde_json::to_vec(&BugRecord { machine, by, shared: shared.clone() })
        };
        let bytes = record(&self.machine)?;
        if bytes.len() + HEADERS > self.rooms.jetstream.client().server_info().max_payload {
            self.note(&format!(
                "{} is too large for the NATS server: only this machine has it",
                shared.bug.id
            ));
            return Ok(true);
        }
        let key = format!("{:016x}", fnv1a(shared.bug.key().as_bytes()));
        match self.rooms.bugs.create(&key, bytes.clone().into()).await {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        let Some(entry) = self.rooms.bugs.entry(&key).await? else { return Ok(true) };
        // What nobody can read is nobody's.
        let Ok(there) = serde_json::from_slice::<BugRecord>(&entry.value) else { return Ok(true) };
        if shared.bug.size() < there.shared.bug.size() {
            // Who comes in between has a smaller one, too; the next finding shows which is smallest.
            let smaller = record(&there.machine)?.into();
            let _ = self.rooms.bugs.update(&key, smaller, entry.revision).await;
        }
        Ok(there.machine == self.machine)
    }

    /// Entries that show nothing new to the fleet stay here.
    async fn keep(&self, bytes: &[u8]) -> Result<(), async_nats::Error> {
        let Ok(entry) = serde_json::from_slice::<Entry>(bytes) else { return Ok(()) };
        if bytes.len() > LARGEST_ENTRY || shows_nothing_new(&entry, &open(&self.inbox).shown) {
            return Ok(());
        }
        let (key, features) = (entry_key(&entry)?, entry.features.clone());
        let record = EntryRecord { machine: self.machine.clone(), entry };
        match self.rooms.corpus.create(&key, serde_json::to_vec(&record)?.into()).await {
            Err(error) if error.kind() != CreateErrorKind::AlreadyExists => Err(error.into()),
            _ => {
                open(&self.inbox).shown.extend(features);
                Ok(())
            }
        }
    }

    /// Gives the number of its message. If an answer was lost, it is offered again and is there once.
    async fn hand_over(&self, finding: &Finding) -> Result<u64, async_nats::Error> {
        let bytes = serde_json::to_vec(finding)?;
        let hash = fnv1a(&bytes);
        let id = format!("{hash:016x}-{}", self.taken_back.get(&hash).unwrap_or(&0));
        let message = PublishMessage::build().payload(bytes.into()).message_id(id);
        let subject = self.rooms.subject("reduce", &self.machine);
        Ok(self.rooms.jetstream.send_publish(subject, message).await?.await?.sequence)
    }

    async fn look_after_reductions(&mut self, idle: bool) {
        if self.extended.elapsed() >= REDUCTION_PAUSE {
            self.extended = Instant::now();
            for message in self.reductions.values() {
                let _ = message.ack_with(AckKind::Progress).await;
            }
        }
        let asked = self.fetched.is_some_and(|fetched| fetched.elapsed() < FETCH_PAUSE);
        if idle && self.reductions.is_empty() && !asked {
            self.fetched = Some(Instant::now());
            let fetched = self.rooms.reductions.fetch().max_messages(1).messages().await;
            let Ok(mut messages) = fetched else { return };
            // An answer that was lost with its connection never comes; the server offers the finding again.
            let answer = tokio::time::timeout(FETCH_PAUSE, messages.next()).await;
            if let Ok(Some(Ok(message))) = answer {
                let (Ok(info), Ok(finding)) =
                    (message.info().map(|info| info.stream_sequence), Finding::from_json(&message.payload))
                else {
                    // Nobody can reduce it.
                    let _ = message.ack_with(AckKind::Term).await;
                    return;
                };
                open(&self.inbox).arrivals.push(Arrival::Reduce(info, Box::new(finding)));
                self.reductions.insert(info, message);
            }
        }
    }

    async fn leave(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            self.take(order).await;
        }
        if !self.is_connected() {
            return;
        }
        self.send_unsent(usize::MAX).await;
        let leases: Vec<Lease> = open(&self.inbox).leases.drain(..).collect();
        for Lease { ticket, stretch } in leases {
            let _ = self.ranges.give_back(ticket, stretch).await;
        }
        for message in self.reductions.values() {
            let _ = message.ack_with(AckKind::Nak(None)).await;
        }
        if let Err(error) = self.heart.beat(true).await {
            complain(&self.inbox, &error);
        }
        let _ = self.rooms.jetstream.client().flush().await;
        if !self.unsent.is_empty() {
            open(&self.inbox).trouble.get_or_insert_with(|| "some data did not reach the fleet".to_string());
        }
    }
}

/// Says that this machine is alive, whatever else it waits for: a request that was under way when the server went down
/// is answered by nobody, and takes its time until it is given up.
#[derive(Clone)]
pub struct Heart {
    pub rooms: Rooms,
    pub machine: String,
    pub host: String,
    pub inbox: SharedInbox,
}

impl Heart {
    async fn run(self, pause: Duration) {
        loop {
            let beaten = match self.rooms.is_connected() {
                true => tokio::time::timeout(pause, self.beat(false)).await.ok(),
                false => None,
            };
            if let Some(Err(error)) = &beaten {
                complain(&self.inbox, error);
            }
            tokio::time::sleep(if matches!(beaten, Some(Ok(_))) { pause } else { TICK }).await;
        }
    }

    /// Gives the number of the heartbeat, which no other one of the campaign has.
    pub async fn beat(&self, left: bool) -> Result<u64, async_nats::Error> {
        let pulse = open(&self.inbox).pulse;
        let beat = Beat { host: self.host.clone(), pulse, left };
        let asked = Instant::now();
        let number =
            self.rooms.machines.put(beat_key(&self.machine), serde_json::to_vec(&beat)?.into()).await?;
        open(&self.inbox).heard = Some(asked);
        Ok(number)
    }
}

/// What goes wrong is tried again; what will go wrong again the user has to know.
fn complain(inbox: &SharedInbox, error: &async_nats::Error) {
    if is_full(error) {
        let mut inbox = open(inbox);
        if inbox.trouble.is_none() {
            inbox.trouble = Some(FULL.to_string());
            inbox.arrivals.push(Arrival::Note(format!("{FULL}; continuing alone")));
        }
    }
}

pub const FULL: &str = "the NATS server's store is full: give JetStream more space";

/// Whether the server has no room for more.
pub fn is_full(error: &async_nats::Error) -> bool {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told += &error.to_string();
        cause = error.source();
    }
    ["insufficient", "maximum bytes", "resource limits exceeded", "no space left"]
        .iter()
        .any(|sign| told.contains(sign))
}

enum Kind {
    Bugs,
    Corpus,
    Campaign,
}

/// Hears what others put into a bucket, from its beginning on, through every outage.
async fn watch(store: kv::Store, kind: Kind, machine: String, inbox: SharedInbox) {
    let mut next = 1;
    loop {
        if let Ok(mut watch) = store.watch_all_from_revision(next).await {
            while let Some(Ok(entry)) = watch.next().await {
                next = entry.revision + 1;
                let mut inbox = open(&inbox);
                let arrival = arrival(&kind, &machine, &entry, &mut inbox);
                inbox.arrivals.extend(arrival);
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

fn arrival(kind: &Kind, machine: &str, entry: &kv::Entry, inbox: &mut Inbox) -> Option<Arrival> {
    match kind {
        Kind::Bugs => {
            let record: BugRecord = serde_json::from_slice(&entry.value).ok()?;
            (record.by != machine).then(|| Arrival::Bug(Box::new(record.shared)))
        }
        Kind::Corpus => {
            let record: EntryRecord = serde_json::from_slice(&entry.value).ok()?;
            inbox.shown.extend(&record.entry.features);
            // Not the key, which others chose: this becomes the name of a file.
            let name = entry_key(&record.entry).ok()?;
            let bytes = serde_json::to_vec(&record.entry).ok()?;
            (record.machine != machine).then_some(Arrival::Entry(name, bytes))
        }
        Kind::Campaign => (entry.key == "stop").then_some(Arrival::Stop),
    }
}

/// Entries without features are seeds: nobody has counted what they show.
fn shows_nothing_new(entry: &Entry, shown: &HashSet<Feature>) -> bool {
    !entry.features.is_empty() && entry.features.iter().all(|feature| shown.contains(feature))
}

/// Two entries that were first to show the same features are one, whichever machines they are from; seeds are told
/// apart by their statements.
fn entry_key(entry: &Entry) -> serde_json::Result<String> {
    let text = match entry.features.is_empty() {
        true => serde_json::to_vec(entry)?,
        false => {
            let mut features = entry.features.clone();
            features.sort_unstable();
            serde_json::to_vec(&features)?
        }
    };
    Ok(format!("{:016x}", fnv1a(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(depth: u32, features: &[Feature]) -> Entry {
        Entry { depth, features: features.to_vec(), ..Entry::default() }
    }

    #[test]
    fn entries_that_show_the_same_have_one_key() {
        let key = |depth, features: &[Feature]| entry_key(&entry(depth, features)).unwrap();
        assert_eq!(key(0, &[3, 1]), key(2, &[1, 3]));
        assert_ne!(key(0, &[3, 1]), key(0, &[3, 2]));
        assert_ne!(key(0, &[]), key(1, &[]), "seeds differ by what they are");
    }

    #[test]
    fn entries_stay_here_if_others_showed_all_of_it() {
        let shown = HashSet::from([1, 2]);
        assert!(shows_nothing_new(&entry(0, &[2, 1]), &shown));
        assert!(!shows_nothing_new(&entry(0, &[2, 3]), &shown));
        assert!(!shows_nothing_new(&entry(0, &[]), &shown), "a seed");
    }
}
