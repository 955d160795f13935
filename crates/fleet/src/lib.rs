//! Campaigns on many machines. They share their databases, bugs, corpus and reductions through one NATS server with
//! JetStream; see `docs/fleet.md`.
//!
//! [`Fleet::connect`] reaches the server, [`Fleet::enter`] makes a machine part of a campaign. What it gives is a
//! [`Share`](dissent_campaign::Share): the campaign itself knows nothing of NATS.

#![warn(missing_docs)]

mod address;
mod fleet;
mod member;
#[cfg(test)]
#[path = "../../cli/tests/support/nats.rs"]
mod nats;
mod post;
mod ranges;
mod rooms;

pub use address::Address;
pub use fleet::{Differs, Fleet, Machine, Status};
