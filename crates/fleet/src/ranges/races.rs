//! Machines that want the same ranges at the same moment, over a real NATS server.

use async_nats::jetstream;
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::nats::Nats;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A machine with a connection of its own.
async fn machine(nats: &Nats, name: &str, cut: Cut) -> Ranges {
    let client = async_nats::connect(format!("nats://127.0.0.1:{}", nats.port())).await.unwrap();
    Ranges::new(Rooms::open(jetstream::new(client), "races").await.unwrap(), name, cut)
}

/// Walks whatever there is until all is walked; gives the databases.
fn walk(nats: &Nats, name: &str, cut: Cut) -> Vec<u64> {
    runtime().block_on(async {
        let mut ranges = machine(nats, name, cut).await;
        let mut walked = Vec::new();
        while !ranges.is_over().await.unwrap() {
            match ranges.next().await.unwrap() {
                Some(lease) => {
                    walked.extend(lease.stretch);
                    ranges.walked(lease.ticket).await.unwrap();
                }
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        walked
    })
}

#[test]
fn what_was_left_goes_to_one_of_those_who_want_it_and_is_not_lost() {
    let Some(nats) = Nats::start(&[]) else { return };
    let cut = Cut { size: 1, patience: Duration::from_secs(60), end: Some(150) };
    runtime().block_on(async {
        let mut leaving = machine(&nats, "leaving", cut).await;
        for _ in 0..150 {
            let lease = leaving.next().await.unwrap().unwrap();
            leaving.give_back(lease.ticket, lease.stretch).await.unwrap();
        }
    });
    let mut walked: Vec<u64> = std::thread::scope(|scope| {
        let names = ["a", "b", "c", "d", "e", "f"];
        let machines = names.map(|name| scope.spawn(|| walk(&nats, name, cut)));
        machines.into_iter().flat_map(|machine| machine.join().unwrap()).collect()
    });
    walked.sort_unstable();
    let once: BTreeSet<u64> = walked.iter().copied().collect();
    let lost = (0..150).filter(|database| !once.contains(database)).count();
    assert_eq!((lost, walked.len() - once.len()), (0, 0), "lost, and walked twice");
}

/// A machine that others take for dead says that it is alive before it begins a range.
#[test]
fn what_a_machine_begins_when_it_comes_back_stays_its_own() {
    let Some(nats) = Nats::start(&[]) else { return };
    let cut = Cut { size: 1, patience: Duration::from_millis(500), end: None };
    runtime().block_on(async {
        let (mut wakes, mut looks) = (machine(&nats, "wakes", cut).await, machine(&nats, "looks", cut).await);
        wakes.next().await.unwrap();
        assert!(!looks.is_gone("wakes").await.unwrap());
        tokio::time::sleep(cut.patience).await;
        assert!(looks.is_gone("wakes").await.unwrap());
        assert_eq!(looks.left_by("wakes").await.unwrap().len(), 1);
        // It comes back while the other one is about to read what it has.
        wakes.rooms.machines.put(beat_key("wakes"), "".into()).await.unwrap();
        wakes.next().await.unwrap();
        assert_eq!(looks.left_by("wakes").await.unwrap().len(), 0);
    });
}
