//! A machine of a fleet, as its campaign sees it.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use anyhow::bail;
use dissent_campaign::store::MOST_DATABASES;
use dissent_campaign::{Arrival, Lease, Next, Pulse, Share, SharedBug, Stretch};
use dissent_core::finding::Finding;
use tokio::sync::mpsc::UnboundedSender;

use crate::post::{Order, SharedInbox, open};

/// How long the campaign waits for the server where it has to: before a bug is printed.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it waits in the end.
const LEAVE_PATIENCE: Duration = Duration::from_secs(10);
/// All figures of a machine are some ten kilobytes.
const FIGURES_PAUSE: Duration = Duration::from_secs(60);
/// A machine that was cut off takes databases that no other machine gets, nor itself when it comes back after it was
/// killed: far behind the others, each run of a machine has room of its own, by the number of its first heartbeat.
const ALONE_FROM: u64 = MOST_DATABASES / 2;
const ALONE_ROOM: u64 = 1 << 28;
const ALONE_RANGE: u64 = 64;

pub struct Member {
    orders: UnboundedSender<Order>,
    inbox: SharedInbox,
    /// Whether the campaign has an end: then there are no other databases.
    bounded: bool,
    alone: Stretch,
    figured: Instant,
}

impl Member {
    pub fn new(orders: UnboundedSender<Order>, inbox: SharedInbox, first_beat: u64, bounded: bool) -> Member {
        let first = ALONE_FROM + first_beat * ALONE_ROOM;
        let alone = Stretch::between(first, first + ALONE_ROOM);
        Member { orders, inbox, bounded, alone, figured: Instant::now() }
    }

    fn order(&self, order: Order) {
        // The thread lives as long as this does.
        let _ = self.orders.send(order);
    }

    /// Asks, and waits for the answer for a moment.
    fn ask(&self, order: impl FnOnce(Sender<bool>) -> Order, otherwise: bool) -> bool {
        let (reply, answer) = channel();
        self.order(order(reply));
        answer.recv_timeout(PATIENCE).unwrap_or(otherwise)
    }
}

impl Share for Member {
    fn next(&mut self) -> Next {
        let mut inbox = open(&self.inbox);
        // A server without room gives no ranges any more.
        let (refused, over) = (inbox.trouble.is_some(), inbox.over);
        match inbox.leases.pop_front() {
            Some(lease) => Next::Visit(lease),
            None if over || (refused && self.bounded) => Next::Over,
            None if (inbox.connected && inbox.is_heard() && !refused) || self.bounded => Next::Wait,
            None => {
                let first = self.alone.first;
                self.alone.first += ALONE_RANGE;
                Next::Visit(Lease { ticket: 0, stretch: Stretch::between(first, first + ALONE_RANGE) })
            }
        }
    }

    fn walked(&mut self, ticket: u64) {
        if ticket > 0 {
            self.order(Order::Walked(ticket));
        }
    }

    fn give_back(&mut self, ticket: u64, rest: Stretch) {
        if ticket > 0 {
            self.order(Order::GiveBack(ticket, rest));
        }
    }

    fn publish(&mut self, shared: &SharedBug) -> bool {
        self.ask(|reply| Order::Publish(Box::new(shared.clone()), Some(reply)), true)
    }

    fn keep(&mut self, _: &str, entry: Vec<u8>) {
        self.order(Order::Keep(entry));
    }

    fn hand_over(&mut self, finding: &Finding) -> bool {
        self.ask(|reply| Order::HandOver(Box::new(finding.clone()), reply), false)
    }

    fn reduces(&mut self, idle: bool) {
        open(&self.inbox).idle = idle;
    }

    fn reduced(&mut self, ticket: u64) {
        self.order(Order::Reduced(ticket));
    }

    fn arrivals(&mut self) -> Vec<Arrival> {
        std::mem::take(&mut open(&self.inbox).arrivals)
    }

    fn beat(&mut self, pulse: &Pulse, counted: &dyn Fn() -> anyhow::Result<Vec<u8>>) {
        open(&self.inbox).pulse = *pulse;
        if self.figured.elapsed() >= FIGURES_PAUSE {
            self.figured = Instant::now();
            if let Ok(figures) = counted() {
                self.order(Order::Figures(figures));
            }
        }
    }

    fn leave(&mut self, pulse: &Pulse, counted: Vec<u8>) -> anyhow::Result<()> {
        open(&self.inbox).pulse = *pulse;
        self.order(Order::Figures(counted));
        let (done, left) = channel();
        self.order(Order::Leave(done));
        let heard = left.recv_timeout(LEAVE_PATIENCE);
        let inbox = open(&self.inbox);
        match &inbox.trouble {
            Some(trouble) => bail!("{trouble}"),
            None if heard.is_err() || !inbox.connected => {
                bail!(
                    "could not reach the fleet at the end; `--resume` with `--join` sends what it has not received"
                )
            }
            None => Ok(()),
        }
    }
}
