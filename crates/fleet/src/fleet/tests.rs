//! What is on the server, over a real one.

use std::fs;

use serde_json::json;

use super::*;
use crate::nats::Nats;

/// The campaign of a machine with these options.
fn file(config: &Config) -> CampaignFile {
    let file = json!({
        "format": 2, "id": 7, "dissent_version": "1", "started": "now", "dialect": "sqlite",
        "engine_version": "3.0.0", "config": config
    });
    serde_json::from_value(file).unwrap()
}

fn streams(fleet: &Fleet) -> usize {
    fleet.runtime.block_on(fleet.jetstream.stream_names().count())
}

/// Whether anything that the server stored contains this.
fn is_stored(nats: &Nats, text: &str) -> bool {
    fn files(directory: &Path) -> Vec<std::path::PathBuf> {
        let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }
    let holds = |bytes: Vec<u8>| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    files(&nats.store()).iter().any(|path| holds(fs::read(path).unwrap()))
}

#[test]
fn the_server_learns_no_address_and_no_path() {
    let Some(nats) = Nats::start(&[]) else { return };
    let server = |user: &str| format!("postgres://{user}:s3cret@db.example/");
    let config = Config {
        target: server("one"),
        against: Some(server("two")),
        baseline: Some(server("three")),
        log_statements: Some("/home/somebody/log".into()),
        seeds: vec!["/home/somebody/seeds".into()],
        profile: [("stored.for.sure".to_string(), 1)].into(),
        ..Config::default()
    };
    drop(Fleet::connect(&nats.url("a")).unwrap().enter(&file(&config)).unwrap());
    assert!(is_stored(&nats, "stored.for.sure"));
    for secret in ["s3cret", "db.example", "somebody"] {
        assert!(!is_stored(&nats, secret), "{secret}");
    }
}

#[test]
fn the_server_decides_nothing_that_is_a_machines_own() {
    let Some(nats) = Nats::start(&[]) else { return };
    let own = Config { jobs: 1, repeatable: true, ..Config::default() };
    drop(Fleet::connect(&nats.url("a")).unwrap().enter(&file(&own)).unwrap());
    let fleet = Fleet::connect(&nats.url("a")).unwrap();
    let planted = Config {
        log_statements: Some("/home/somebody/.profile".into()),
        known: vec!["/home/somebody/known".into()],
        seeds: vec!["/home/somebody/seeds".into()],
        worker_memory: u64::MAX,
        jobs: 4096,
        ..own.clone()
    };
    let planted = serde_json::to_vec(&file(&planted)).unwrap();
    fleet.block_on(fleet.rooms().unwrap().campaign.put("file", planted.into())).unwrap();
    assert_eq!(fleet.config().unwrap(), Some(own));
}

#[test]
fn only_who_hunts_makes_a_campaign_and_it_can_be_removed() {
    let Some(nats) = Nats::start(&[]) else { return };
    let fleet = || Fleet::connect(&nats.url("a")).unwrap();
    let refusal = |refused: anyhow::Result<()>| refused.unwrap_err().to_string();
    let nobody = "no machine has joined the campaign a yet";
    assert_eq!(refusal(fleet().stop()), nobody);
    assert_eq!(refusal(fleet().remove()), nobody);
    assert_eq!(refusal(fleet().status().map(drop)), nobody);
    assert_eq!(streams(&fleet()), 0);
    let mut machine = fleet().enter(&file(&Config::default())).unwrap();
    assert_eq!(streams(&fleet()), 7);
    assert!(refusal(fleet().remove()).contains("is hunting in the campaign a"));
    machine.leave(&Pulse::default(), b"{}".to_vec()).unwrap();
    fleet().remove().unwrap();
    assert_eq!(streams(&fleet()), 0);
    // The name is free again.
    drop(fleet().enter(&file(&Config::default())).unwrap());
}

#[test]
fn a_build_from_other_sources_is_refused() {
    let Some(nats) = Nats::start(&[]) else { return };
    let file = file(&Config::default());
    let fleet = || Fleet::connect(&nats.url("a")).unwrap();
    drop(fleet().enter(&file).unwrap());
    drop(fleet().enter(&file).unwrap());
    let other = fleet();
    let sources = serde_json::to_vec("other").unwrap();
    other.block_on(other.rooms().unwrap().campaign.put("sources", sources.into())).unwrap();
    let refused = other.enter(&file).err().unwrap().to_string();
    assert!(refused.contains("was built from other sources"), "{refused}");
}
