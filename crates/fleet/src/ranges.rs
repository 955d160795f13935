//! Which databases belong to which machine.
//!
//! A machine begins a range by publishing a message: its sequence number, which the server gives once, is the number of the
//! range. It removes the message when the range is walked. What a dead machine left, another one takes over by
//! publishing a message that the server accepts only once (`Nats-Msg-Id`), before it removes the old one. So no range is
//! lost whoever is killed when, the server included.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::Stream;
use dissent_campaign::{Lease, Stretch};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::rooms::Rooms;

/// What nobody has: left by a machine that said goodbye.
const FREE: &str = "free";
/// How often others are looked at.
const LOOK_PAUSE: Duration = Duration::from_secs(3);

/// How databases are cut into ranges; the same on every machine of a campaign.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cut {
    /// Databases in a range.
    pub size: u64,
    /// How long a machine may be silent before its ranges go to others.
    pub patience: Duration,
    /// Where they end.
    pub end: Option<u64>,
}

impl Cut {
    fn range(&self, sequence: u64) -> Stretch {
        let first = (sequence - 1) * self.size;
        let end = first + self.size;
        Stretch::between(first, self.end.map_or(end, |last| end.min(last)))
    }
}

pub struct Ranges {
    rooms: Rooms,
    machine: String,
    cut: Cut,
    /// The tickets that are with the campaign, or about to be.
    held: BTreeSet<u64>,
    /// Whether there may be messages of ours that we do not know of.
    unsure: bool,
    /// No range follows those that were begun.
    exhausted: bool,
    looked: Option<Instant>,
    /// Since when the heartbeat of another machine has not changed.
    silent: HashMap<String, (u64, Instant)>,
}

impl Ranges {
    pub fn new(rooms: Rooms, machine: &str, cut: Cut) -> Ranges {
        let (machine, silent) = (machine.to_string(), HashMap::new());
        let held = BTreeSet::new();
        // A machine that was killed comes back to what it had.
        Ranges { rooms, machine, cut, held, unsure: true, exhausted: false, looked: None, silent }
    }

    /// After an outage everybody gets time to be heard again.
    pub fn reconnected(&mut self) {
        self.silent.clear();
        self.unsure = true;
    }

    /// A range that nobody else has; none if there is none now.
    pub async fn next(&mut self) -> Result<Option<Lease>, async_nats::Error> {
        if self.unsure {
            let own = self.machine.clone();
            if let Some(lease) = self.own(&own).await? {
                return Ok(Some(lease));
            }
            self.unsure = false;
        }
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK_PAUSE) {
            if let Some(lease) = self.orphan().await? {
                return Ok(Some(lease));
            }
            self.looked = Some(Instant::now());
        }
        if self.exhausted {
            return Ok(None);
        }
        self.unsure = true;
        let subject = self.rooms.subject("fresh", &self.machine);
        let sequence = self.rooms.jetstream.publish(subject, "".into()).await?.await?.sequence;
        self.unsure = false;
        let stretch = self.cut.range(sequence);
        if stretch.is_empty() {
            self.exhausted = true;
            self.rooms.fresh.delete_message(sequence).await?;
            return Ok(None);
        }
        Ok(Some(self.hold(sequence * 2, stretch)))
    }

    fn hold(&mut self, ticket: u64, stretch: Stretch) -> Lease {
        self.held.insert(ticket);
        Lease { ticket, stretch }
    }

    /// A message of ours that we do not know of.
    async fn own(&mut self, machine: &str) -> Result<Option<Lease>, async_nats::Error> {
        for is_taken in [false, true] {
            for (ticket, stretch) in self.messages(machine, is_taken).await? {
                if !stretch.is_empty() && !self.held.contains(&ticket) {
                    return Ok(Some(self.hold(ticket, stretch)));
                }
            }
        }
        Ok(None)
    }

    fn stream(&self, is_taken: bool) -> (&Stream, &'static str) {
        if is_taken { (&self.rooms.taken, "taken") } else { (&self.rooms.fresh, "fresh") }
    }

    /// The ranges of a machine, each with its ticket.
    async fn messages(
        &self,
        machine: &str,
        is_taken: bool,
    ) -> Result<Vec<(u64, Stretch)>, async_nats::Error> {
        let (stream, name) = self.stream(is_taken);
        let subject = self.rooms.subject(name, machine);
        let mut found = Vec::new();
        let mut from = 1;
        // Also if none is left: that is an error of its own.
        while let Ok(message) = stream.direct_get_next_for_subject(subject.clone(), Some(from)).await {
            let stretch = match is_taken {
                true => serde_json::from_slice(&message.payload)?,
                false => self.cut.range(message.sequence),
            };
            found.push((message.sequence * 2 + u64::from(is_taken), stretch));
            from = message.sequence + 1;
        }
        Ok(found)
    }

    /// Takes over a range of a machine that is dead or gone.
    async fn orphan(&mut self) -> Result<Option<Lease>, async_nats::Error> {
        for is_taken in [false, true] {
            for machine in self.owners(is_taken).await? {
                if machine == self.machine || !self.is_gone(&machine).await? {
                    continue;
                }
                for (ticket, stretch) in self.messages(&machine, is_taken).await? {
                    let taken = self.republish(ticket, stretch, &self.machine.clone()).await?;
                    if let Some(ticket) = taken {
                        return Ok(Some(self.hold(ticket, stretch)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The machines that have ranges.
    async fn owners(&self, is_taken: bool) -> Result<Vec<String>, async_nats::Error> {
        let (stream, name) = self.stream(is_taken);
        let subjects: BTreeMap<String, usize> = {
            let mut listed = stream.info_with_subjects(self.rooms.subject(name, "*")).await?;
            let mut subjects = BTreeMap::new();
            while let Some(entry) = listed.next().await {
                let (subject, count) = entry?;
                subjects.insert(subject, count);
            }
            subjects
        };
        Ok(subjects.into_keys().filter_map(|subject| Some(subject.rsplit('.').next()?.to_string())).collect())
    }

    async fn is_gone(&mut self, machine: &str) -> Result<bool, async_nats::Error> {
        if machine == FREE {
            return Ok(true);
        }
        let beat = self.rooms.machines.entry(format!("beat.{machine}")).await?;
        let revision = beat.map_or(0, |beat| beat.revision);
        let (seen, since) = self.silent.entry(machine.to_string()).or_insert((revision, Instant::now()));
        if *seen != revision {
            (*seen, *since) = (revision, Instant::now());
        }
        Ok(since.elapsed() >= self.cut.patience)
    }

    /// Puts a range under another name. The server takes the message only once; none: others were first.
    async fn republish(
        &self,
        ticket: u64,
        stretch: Stretch,
        machine: &str,
    ) -> Result<Option<u64>, async_nats::Error> {
        let payload = serde_json::to_vec(&stretch)?.into();
        let message = PublishMessage::build().payload(payload).message_id(format!("take-{ticket}"));
        let subject = self.rooms.subject("taken", machine);
        let ack = self.rooms.jetstream.send_publish(subject, message).await?.await?;
        self.remove(ticket).await?;
        Ok((!ack.duplicate).then_some(ack.sequence * 2 + 1))
    }

    /// A range is walked. One that is gone already was given to others, because this machine was silent.
    pub async fn walked(&mut self, ticket: u64) -> Result<(), async_nats::Error> {
        self.remove(ticket).await?;
        self.held.remove(&ticket);
        Ok(())
    }

    async fn remove(&self, ticket: u64) -> Result<(), async_nats::Error> {
        let (stream, _) = self.stream(ticket % 2 == 1);
        match stream.delete_message(ticket / 2).await {
            Ok(_) => Ok(()),
            Err(error) if error.to_string().contains("no message found") => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves the rest of a range to others.
    pub async fn give_back(&mut self, ticket: u64, rest: Stretch) -> Result<(), async_nats::Error> {
        if rest.is_empty() {
            return self.walked(ticket).await;
        }
        self.republish(ticket, rest, FREE).await?;
        self.held.remove(&ticket);
        Ok(())
    }

    /// Whether every range was walked, by whomever.
    pub async fn is_over(&mut self) -> Result<bool, async_nats::Error> {
        if !self.exhausted {
            return Ok(false);
        }
        let left = self.rooms.fresh.get_info().await?.state.messages
            + self.rooms.taken.get_info().await?.state.messages;
        Ok(left == 0)
    }
}
