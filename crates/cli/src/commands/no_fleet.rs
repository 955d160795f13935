//! What takes the place of `fleet.rs` in a program that is built without the client of NATS.

use std::path::PathBuf;

use anyhow::bail;
use dissent_campaign::{Campaign, Observer};

use crate::args::{FleetArgs, HuntArgs};

fn refuse<T>() -> anyhow::Result<T> {
    bail!("this program was built without fleets (--no-default-features); build it with `--features fleet`")
}

pub fn run(_: FleetArgs) -> anyhow::Result<u8> {
    refuse()
}

pub fn join(_: &HuntArgs, _: &str, _: &mut dyn Observer) -> anyhow::Result<Campaign> {
    refuse()
}

/// There is none.
pub enum Mirror {}

impl Mirror {
    pub fn start(_: &str) -> anyhow::Result<Mirror> {
        refuse()
    }

    pub fn directory(&self) -> PathBuf {
        match *self {}
    }
}
