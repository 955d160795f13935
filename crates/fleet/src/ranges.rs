//! Which databases belong to which machine.
//!
//! A machine begins a range by publishing a message: its sequence number, which the server gives once, is the number of the
//! range. It removes the message when the range is walked. What a dead machine left, another one takes over by
//! publishing a message that the server accepts only once (`Nats-Msg-Id`), before it removes the old one. So no range is
//! lost whoever is killed when, the server included.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use dissent_campaign::{Lease, Stretch};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::rooms::Rooms;

/// What nobody has: left by a machine that said goodbye.
const FREE: &str = "free";
/// How often a machine looks whether others are dead, and how much longer it waits per machine that has ranges: a look
/// lists them all, so that in a large fleet each one looks less often.
const LOOK_PAUSE: Duration = Duration::from_secs(3);
const LOOK_PAUSE_EACH: Duration = Duration::from_millis(100);
/// Every machine looks after so many that follow it in a ring of all machines with ranges. The dead leave the ring when
/// their ranges are taken over.
const NEIGHBOURS: usize = 3;
/// How often a machine that waits for the others asks whether they are done.
const OVER_PAUSE: Duration = Duration::from_secs(1);

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
    /// When to look at others again.
    look: Instant,
    /// When to ask again whether all is over.
    ask: Instant,
    /// Since when the heartbeat of another machine has not changed.
    silent: HashMap<String, (u64, Instant)>,
}

impl Ranges {
    pub fn new(rooms: Rooms, machine: &str, cut: Cut) -> Ranges {
        let (machine, silent) = (machine.to_string(), HashMap::new());
        let held = BTreeSet::new();
        // A machine that was killed comes back to what it had.
        let (look, ask) = (Instant::now(), Instant::now());
        Ranges { rooms, machine, cut, held, unsure: true, exhausted: false, look, ask, silent }
    }

    /// How often a machine says that it is alive: often enough that a lost heartbeat or a busy moment is not its end.
    pub fn beat_pause(&self) -> Duration {
        self.cut.patience / 6
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
        if Instant::now() >= self.look
            && let Some(lease) = self.orphan().await?
        {
            return Ok(Some(lease));
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
        loop {
            let message = match stream.direct_get_next_for_subject(subject.clone(), Some(from)).await {
                Ok(message) => message,
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(found),
                Err(error) => return Err(error.into()),
            };
            let stretch = match is_taken {
                true => serde_json::from_slice(&message.payload)?,
                false => self.cut.range(message.sequence),
            };
            found.push((message.sequence * 2 + u64::from(is_taken), stretch));
            from = message.sequence + 1;
        }
    }

    /// Takes over a range of a machine that is dead or gone. If there is none, the next look is a while later.
    async fn orphan(&mut self) -> Result<Option<Lease>, async_nats::Error> {
        let mut owners = self.owners(false).await?;
        owners.extend(self.owners(true).await?);
        for machine in watched(&owners, &self.machine) {
            if !self.is_gone(&machine).await? {
                continue;
            }
            for is_taken in [false, true] {
                for (ticket, stretch) in self.messages(&machine, is_taken).await? {
                    if let Some(ticket) = self.republish(ticket, stretch, &self.machine).await? {
                        return Ok(Some(self.hold(ticket, stretch)));
                    }
                }
            }
        }
        self.silent.retain(|machine, _| owners.contains(machine));
        self.look = Instant::now() + LOOK_PAUSE.max(LOOK_PAUSE_EACH * owners.len() as u32);
        Ok(None)
    }

    /// The machines that have ranges.
    async fn owners(&self, is_taken: bool) -> Result<BTreeSet<String>, async_nats::Error> {
        let (stream, name) = self.stream(is_taken);
        let mut listed = stream.info_with_subjects(self.rooms.subject(name, "*")).await?;
        let mut owners = BTreeSet::new();
        while let Some(entry) = listed.next().await {
            owners.extend(entry?.0.rsplit('.').next().map(str::to_string));
        }
        Ok(owners)
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
        if !self.exhausted || Instant::now() < self.ask {
            return Ok(false);
        }
        self.ask = Instant::now() + OVER_PAUSE;
        let left = self.rooms.fresh.get_info().await?.state.messages
            + self.rooms.taken.get_info().await?.state.messages;
        Ok(left == 0)
    }
}

/// Those that a machine looks after: what nobody has, and its neighbours in the ring.
fn watched(owners: &BTreeSet<String>, machine: &str) -> Vec<String> {
    let others = || owners.iter().filter(|owner| *owner != FREE);
    let behind = others().filter(|owner| owner.as_str() > machine);
    let before = others().filter(|owner| owner.as_str() < machine);
    let neighbours = behind.chain(before).take(NEIGHBOURS);
    owners.get(FREE).into_iter().chain(neighbours).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_looked_after_by_others_and_nobody_looks_after_all() {
        let owners: BTreeSet<String> = ["a", "b", "c", "d", "e", FREE].map(str::to_string).into();
        assert_eq!(watched(&owners, "a"), [FREE, "b", "c", "d"]);
        assert_eq!(watched(&owners, "d"), [FREE, "e", "a", "b"]);
        // One without ranges looks after others, too.
        assert_eq!(watched(&owners, "cc"), [FREE, "d", "e", "a"]);
        assert!(watched(&BTreeSet::from(["a".to_string()]), "a").is_empty());
    }

    #[test]
    fn ranges_follow_each_other_up_to_the_end() {
        let cut = Cut { size: 10, patience: Duration::ZERO, end: Some(25) };
        let all: Vec<u64> = (1..=4).flat_map(|sequence| cut.range(sequence)).collect();
        assert_eq!(all, (0..25).collect::<Vec<_>>());
    }
}
