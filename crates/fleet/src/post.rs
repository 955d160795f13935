//! The thread that talks to the server: it sends what the campaign tells it, in that order, and keeps what it could not send.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::jetstream::kv::{self, CreateErrorKind};
use async_nats::jetstream::{AckKind, Message};
use dissent_campaign::{Arrival, Lease, Pulse, SharedBug, Stretch};
use dissent_core::finding::Finding;
use dissent_core::guide::Entry;
use dissent_core::hash::fnv1a;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::ranges::Ranges;
use crate::rooms::Rooms;

/// How often the thread looks for something to do besides orders.
const TICK: Duration = Duration::from_millis(200);
/// How often a machine says that it is alive.
const BEAT_PAUSE: Duration = Duration::from_secs(5);
/// How often reductions that take long are said to go on.
const REDUCTION_PAUSE: Duration = Duration::from_secs(20);
/// Entries of the corpus that are larger stay where they are.
const LARGEST_ENTRY: usize = 256 << 10;

/// What the campaign wants sent.
pub enum Order {
    Beat(Pulse),
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
    /// This machine could reduce something.
    pub idle: bool,
    /// What the user has to know when it ends.
    pub trouble: Option<String>,
}

pub type SharedInbox = Arc<Mutex<Inbox>>;

pub fn open(inbox: &SharedInbox) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a bucket has of a bug.
#[derive(Serialize, Deserialize)]
pub struct BugRecord {
    pub machine: String,
    #[serde(flatten)]
    pub shared: SharedBug,
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
    host: String,
    inbox: SharedInbox,
    orders: UnboundedReceiver<Order>,
    /// What could not be sent yet.
    unsent: VecDeque<Order>,
    pulse: Pulse,
    beaten: Option<Instant>,
    /// Features of entries that are on the server.
    shown: HashSet<u32>,
    reductions: HashMap<u64, Message>,
    extended: Instant,
    reconnects: u64,
}

impl Post {
    pub fn new(
        rooms: Rooms,
        ranges: Ranges,
        machine: String,
        host: String,
        inbox: SharedInbox,
        orders: UnboundedReceiver<Order>,
    ) -> Post {
        Post {
            rooms,
            ranges,
            machine,
            host,
            inbox,
            orders,
            unsent: VecDeque::new(),
            pulse: Pulse::default(),
            beaten: None,
            shown: HashSet::new(),
            reductions: HashMap::new(),
            extended: Instant::now(),
            reconnects: 0,
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
        loop {
            match tokio::time::timeout(TICK, self.orders.recv()).await {
                Ok(None) => return,
                Ok(Some(Order::Leave(done))) => {
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
        let client = self.rooms.jetstream.client();
        let connected = client.connection_state() == State::Connected;
        let connects = client.statistics().connects.load(std::sync::atomic::Ordering::Relaxed);
        if connected && connects != self.reconnects {
            if self.reconnects > 0 {
                self.ranges.reconnected();
                self.note("connected to the fleet again");
            }
            self.reconnects = connects;
        }
        let was = std::mem::replace(&mut open(&self.inbox).connected, connected);
        if was && !connected {
            self.note("lost the connection to the fleet; going on alone");
        }
        connected
    }

    fn note(&self, text: &str) {
        open(&self.inbox).arrivals.push(Arrival::Note(text.to_string()));
    }

    async fn take(&mut self, order: Order) {
        let connected = self.is_connected();
        match order {
            Order::Beat(pulse) => self.pulse = pulse,
            // Only the newest are of use.
            Order::Figures(figures) => {
                self.unsent.retain(|order| !matches!(order, Order::Figures(_)));
                self.unsent.push_back(Order::Figures(figures));
            }
            Order::HandOver(finding, reply) => {
                let _ = reply.send(connected && self.hand_over(&finding).await.is_ok());
            }
            Order::Publish(shared, Some(reply)) => match self.publish(&shared).await {
                Ok(first) if connected => drop(reply.send(first)),
                _ => {
                    let _ = reply.send(true);
                    self.unsent.push_back(Order::Publish(shared, None));
                }
            },
            order => self.unsent.push_back(order),
        }
    }

    async fn look_after(&mut self) {
        if !self.is_connected() {
            return;
        }
        self.send_all().await;
        if self.beaten.is_none_or(|beaten| beaten.elapsed() >= BEAT_PAUSE) && self.beat(false).await.is_ok() {
            self.beaten = Some(Instant::now());
        }
        let (wanted, idle) = {
            let inbox = open(&self.inbox);
            (inbox.wanted.saturating_sub(inbox.leases.len()), inbox.idle)
        };
        for _ in 0..wanted {
            match self.ranges.next().await {
                Ok(Some(lease)) => open(&self.inbox).leases.push_back(lease),
                Ok(None) => break,
                Err(error) => return self.complain(&error),
            }
        }
        if wanted > 0 && self.ranges.is_over().await.unwrap_or(false) {
            open(&self.inbox).over = true;
        }
        self.look_after_reductions(idle).await;
    }

    async fn send_all(&mut self) {
        while let Some(order) = self.unsent.pop_front() {
            if let Err(error) = self.send(&order).await {
                self.unsent.push_front(order);
                return self.complain(&error);
            }
        }
    }

    /// What goes wrong is tried again; what will go wrong again the user has to know.
    fn complain(&mut self, error: &async_nats::Error) {
        if is_full(error) {
            let mut inbox = open(&self.inbox);
            if inbox.trouble.is_none() {
                inbox.trouble = Some(FULL.to_string());
                inbox.arrivals.push(Arrival::Note(format!("{FULL}; going on alone")));
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
            Order::Beat(_) | Order::HandOver(..) | Order::Leave(_) => {}
        }
        Ok(())
    }

    /// The first wins; a smaller example replaces a larger one. `false`: another machine was first.
    async fn publish(&self, shared: &SharedBug) -> Result<bool, async_nats::Error> {
        let record = BugRecord { machine: self.machine.clone(), shared: shared.clone() };
        let bytes = serde_json::to_vec(&record)?;
        let key = format!("{:016x}", fnv1a(shared.bug.identity().as_bytes()));
        match self.rooms.bugs.create(&key, bytes.clone().into()).await {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        let Some(entry) = self.rooms.bugs.entry(&key).await? else { return Ok(true) };
        let there: BugRecord = serde_json::from_slice(&entry.value)?;
        let size = |shared: &SharedBug| (shared.bug.statements, shared.bug.tokens);
        if size(shared) < size(&there.shared) {
            // Who comes in between has a smaller one, too; the next finding shows which is smallest.
            let record = BugRecord { machine: there.machine.clone(), shared: shared.clone() };
            let _ = self.rooms.bugs.update(&key, serde_json::to_vec(&record)?.into(), entry.revision).await;
        }
        Ok(there.machine == self.machine)
    }

    /// Entries that show nothing new to the fleet stay here.
    async fn keep(&mut self, bytes: &[u8]) -> Result<(), async_nats::Error> {
        let entry: Entry = serde_json::from_slice(bytes)?;
        let known =
            !entry.features.is_empty() && entry.features.iter().all(|feature| self.shown.contains(feature));
        if known || bytes.len() > LARGEST_ENTRY {
            return Ok(());
        }
        let key = format!("{}.{:016x}", self.machine, fnv1a(bytes));
        match self.rooms.corpus.create(&key, bytes.to_vec().into()).await {
            Err(error) if error.kind() != CreateErrorKind::AlreadyExists => Err(error.into()),
            _ => {
                self.shown.extend(&entry.features);
                Ok(())
            }
        }
    }

    async fn hand_over(&self, finding: &Finding) -> Result<(), async_nats::Error> {
        let bytes = serde_json::to_vec(finding)?;
        let subject = self.rooms.subject("reduce", &self.machine);
        self.rooms.jetstream.publish(subject, bytes.into()).await?.await?;
        Ok(())
    }

    async fn look_after_reductions(&mut self, idle: bool) {
        if self.extended.elapsed() >= REDUCTION_PAUSE {
            self.extended = Instant::now();
            for message in self.reductions.values() {
                let _ = message.ack_with(AckKind::Progress).await;
            }
        }
        if idle && self.reductions.is_empty() {
            let fetched = self.rooms.reductions.fetch().max_messages(1).messages().await;
            let Ok(mut messages) = fetched else { return };
            if let Some(Ok(message)) = messages.next().await {
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

    async fn beat(&self, left: bool) -> Result<(), async_nats::Error> {
        let beat = Beat { host: self.host.clone(), pulse: self.pulse, left };
        let key = format!("beat.{}", self.machine);
        self.rooms.machines.put(key, serde_json::to_vec(&beat)?.into()).await?;
        Ok(())
    }

    async fn leave(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            self.take(order).await;
        }
        if !self.is_connected() {
            return;
        }
        self.send_all().await;
        let leases: Vec<Lease> = open(&self.inbox).leases.drain(..).collect();
        for Lease { ticket, stretch } in leases {
            let _ = self.ranges.give_back(ticket, stretch).await;
        }
        for message in self.reductions.values() {
            let _ = message.ack_with(AckKind::Nak(None)).await;
        }
        let _ = self.beat(true).await;
        let _ = self.rooms.jetstream.client().flush().await;
        if !self.unsent.is_empty() {
            open(&self.inbox)
                .trouble
                .get_or_insert_with(|| "the fleet did not hear of everything".to_string());
        }
    }
}

pub const FULL: &str = "the store of the NATS server is full: give JetStream more room";

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
                let arrival = arrival(&kind, &machine, &entry);
                open(&inbox).arrivals.extend(arrival);
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

fn arrival(kind: &Kind, machine: &str, entry: &kv::Entry) -> Option<Arrival> {
    match kind {
        Kind::Bugs => {
            let record: BugRecord = serde_json::from_slice(&entry.value).ok()?;
            (record.machine != machine).then(|| Arrival::Bug(Box::new(record.shared)))
        }
        Kind::Corpus => {
            let own = entry.key.starts_with(&format!("{machine}."));
            (!own).then(|| Arrival::Entry(entry.key.replace('.', "-"), entry.value.to_vec()))
        }
        Kind::Campaign => (entry.key == "stop").then_some(Arrival::Stop),
    }
}
