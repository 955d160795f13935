//! Which databases belong to which machine.
//!
//! A machine begins a range by publishing a message: its sequence number, which the server gives once, is the number of the
//! range. It removes the message when the range is walked. What a dead machine left, another one takes over by
//! publishing a message that the server accepts only once (`Nats-Msg-Id`), before it removes the old one. So no range is
//! lost whoever is killed when, the server included.
//!
//! Two machines may want the same range. The one whose message the server accepted removes the old one, and nobody else does
//! so while the new one is there. For whoever accepted a message and finds the old one gone has come too late: the range was
//! walked (a server that was started again forgets what it accepted), and the new message is removed as well.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use dissent_campaign::{Lease, Stretch};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::rooms::{Rooms, messages};

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

/// A range that a machine has on the server.
pub struct Leased {
    pub ticket: u64,
    pub stretch: Stretch,
    /// The ticket whose place it took.
    from: Option<u64>,
}

/// A message of the stream `taken`.
#[derive(Serialize, Deserialize)]
struct Taken {
    stretch: Stretch,
    from: u64,
}

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
    /// The tickets of ranges that were walked. A server that loses power may forget that their messages were removed.
    done: BTreeSet<u64>,
    /// The last heartbeats that were seen of other machines.
    seen: HashMap<String, Sighting>,
}

/// A heartbeat that has not changed since a moment, all of it over one connection: during an outage nobody can be heard.
struct Sighting {
    revision: u64,
    connection: u64,
    since: Instant,
}

impl Ranges {
    pub fn new(rooms: Rooms, machine: &str, cut: Cut) -> Ranges {
        Ranges {
            rooms,
            machine: machine.to_string(),
            cut,
            held: BTreeSet::new(),
            // A machine that was killed comes back to what it had.
            unsure: true,
            exhausted: false,
            look: Instant::now(),
            ask: Instant::now(),
            done: BTreeSet::new(),
            seen: HashMap::new(),
        }
    }

    /// How often a machine says that it is alive: often enough that a lost heartbeat or a busy moment is not its end.
    pub fn beat_pause(&self) -> Duration {
        self.cut.patience / 6
    }

    /// What was asked for during an outage may or may not have reached the server.
    pub fn reconnected(&mut self) {
        self.unsure = true;
    }

    /// A range that nobody else has; none if there is none now.
    pub async fn next(&mut self) -> Result<Option<Lease>, async_nats::Error> {
        if self.unsure {
            if let Some(lease) = self.own().await? {
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
        self.done.remove(&ticket);
        Lease { ticket, stretch }
    }

    /// A message of ours that we do not know of.
    async fn own(&mut self) -> Result<Option<Lease>, async_nats::Error> {
        for Leased { ticket, stretch, from } in leased(&self.rooms, &self.cut, &self.machine).await? {
            if stretch.is_empty() || self.done.contains(&ticket) {
                self.remove(ticket).await?;
            } else if !self.held.contains(&ticket) {
                if let Some(from) = from {
                    self.remove(from).await?;
                }
                return Ok(Some(self.hold(ticket, stretch)));
            }
        }
        Ok(None)
    }

    /// Takes over a range of a machine that is dead or gone. If there is none, the next look is a while later.
    async fn orphan(&mut self) -> Result<Option<Lease>, async_nats::Error> {
        let mut owners = self.owners(false).await?;
        owners.extend(self.owners(true).await?);
        for machine in watched(&owners, &self.machine) {
            if !self.is_gone(&machine).await? {
                continue;
            }
            let own = self.machine.clone();
            for range in self.left_by(&machine).await? {
                let stretch = range.stretch;
                // Its owner died when it found that there are no more.
                if stretch.is_empty() {
                    self.remove(range.ticket).await?;
                    continue;
                }
                if let Some(ticket) = self.republish(range, stretch, &own).await? {
                    return Ok(Some(self.hold(ticket, stretch)));
                }
            }
        }
        self.seen.retain(|machine, _| owners.contains(machine));
        self.look = Instant::now() + LOOK_PAUSE.max(LOOK_PAUSE_EACH * owners.len() as u32);
        Ok(None)
    }

    /// The ranges of a machine that is gone. One that comes back says that it is alive before it begins others: these are
    /// never among them.
    async fn left_by(&mut self, machine: &str) -> Result<Vec<Leased>, async_nats::Error> {
        let left = leased(&self.rooms, &self.cut, machine).await?;
        Ok(if self.is_gone(machine).await? { left } else { Vec::new() })
    }

    /// The machines that have ranges.
    async fn owners(&self, is_taken: bool) -> Result<BTreeSet<String>, async_nats::Error> {
        let (stream, name) = stream(&self.rooms, is_taken);
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
        let revision = self.rooms.machines.entry(beat_key(machine)).await?.map_or(0, |beat| beat.revision);
        // Asked for after the answer: it may have waited for the connection to come back.
        let connection = self.rooms.connects();
        let new = || Sighting { revision, connection, since: Instant::now() };
        let sighting = self.seen.entry(machine.to_string()).or_insert_with(new);
        if (sighting.revision, sighting.connection) != (revision, connection) {
            *sighting = new();
        }
        Ok(sighting.since.elapsed() >= self.cut.patience)
    }

    /// Puts a range, or what is left of it, under another name. None: others were first.
    async fn republish(
        &mut self,
        range: Leased,
        stretch: Stretch,
        machine: &str,
    ) -> Result<Option<u64>, async_nats::Error> {
        let Leased { ticket, from, .. } = range;
        let payload = serde_json::to_vec(&Taken { stretch, from: ticket })?.into();
        let message = PublishMessage::build().payload(payload).message_id(format!("take-{ticket}"));
        let subject = self.rooms.subject("taken", machine);
        // Whatever happens to the answers, the message may be there.
        self.unsure = true;
        let ack = self.rooms.jetstream.send_publish(subject, message).await?.await?;
        let new = ack.sequence * 2 + 1;
        if ack.duplicate {
            // A message of our own whose answer was lost counts. Of others, the old one is theirs to remove.
            let owner = self.owner(ack.sequence).await?;
            let is_ours = owner.as_deref() == Some(machine);
            if is_ours || owner.is_none() {
                self.remove(ticket).await?;
            }
            self.unsure = is_ours;
            return Ok(None);
        }
        let was_there = self.remove(ticket).await?;
        match (was_there, from) {
            (true, Some(from)) => drop(self.remove(from).await?),
            (true, None) => {}
            (false, _) => drop(self.remove(new).await?),
        }
        self.unsure = false;
        Ok(was_there.then_some(new))
    }

    /// Whose a message of the stream `taken` is, if it is still there.
    async fn owner(&self, sequence: u64) -> Result<Option<String>, async_nats::Error> {
        match self.rooms.taken.direct_get(sequence).await {
            Ok(message) => Ok(message.subject.rsplit('.').next().map(str::to_string)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A range is walked. One that is gone already was given to others, because this machine was silent.
    pub async fn walked(&mut self, ticket: u64) -> Result<(), async_nats::Error> {
        self.remove(ticket).await?;
        self.held.remove(&ticket);
        self.done.insert(ticket);
        Ok(())
    }

    /// Whether it was there.
    async fn remove(&self, ticket: u64) -> Result<bool, async_nats::Error> {
        let (stream, _) = stream(&self.rooms, ticket % 2 == 1);
        match stream.delete_message(ticket / 2).await {
            Ok(was_there) => Ok(was_there),
            Err(error) if error.to_string().contains("no message found") => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves the rest of a range to others.
    pub async fn give_back(&mut self, ticket: u64, rest: Stretch) -> Result<(), async_nats::Error> {
        if rest.is_empty() {
            return self.walked(ticket).await;
        }
        self.republish(Leased { ticket, stretch: rest, from: None }, rest, FREE).await?;
        self.held.remove(&ticket);
        self.done.insert(ticket);
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
        // One of them may be ours without our knowledge: its answer was lost.
        self.unsure = left > 0;
        Ok(left == 0)
    }
}

/// Where a machine's heartbeat is.
pub fn beat_key(machine: &str) -> String {
    format!("beat.{machine}")
}

fn stream(rooms: &Rooms, is_taken: bool) -> (&Stream, &'static str) {
    if is_taken { (&rooms.taken, "taken") } else { (&rooms.fresh, "fresh") }
}

/// The ranges of a machine.
pub async fn leased(rooms: &Rooms, cut: &Cut, machine: &str) -> Result<Vec<Leased>, async_nats::Error> {
    let mut found = Vec::new();
    for is_taken in [false, true] {
        let (stream, name) = stream(rooms, is_taken);
        for message in messages(stream, rooms.subject(name, machine)).await? {
            let ticket = message.sequence * 2 + u64::from(is_taken);
            found.push(match is_taken {
                true => {
                    let Taken { stretch, from } = serde_json::from_slice(&message.payload)?;
                    Leased { ticket, stretch, from: Some(from) }
                }
                false => Leased { ticket, stretch: cut.range(message.sequence), from: None },
            });
        }
    }
    Ok(found)
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
mod races;

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
