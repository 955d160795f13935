//! A program that was built without fleets: `cargo test -p dissent -p dissent-fleet
//! --no-default-features --test no_fleet`.

#![cfg(not(feature = "fleet"))]

mod support;

use support::{dissent, run};

#[test]
fn what_is_not_built_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let url = "nats://127.0.0.1:9/a";
    let hunt = ["hunt", "sqlite", "--join", url, "--out", "a"];
    for command in [&hunt[..], &["fleet", "status", url], &["serve", "--join", url]] {
        run(dissent(path).args(command)).refused_with("this program was built without fleets");
    }
    assert!(!path.join("a").exists());
    run(dissent(path).args(["bench", "sqlite", "--join", url]))
        .refused_with("this program was built without fleets");
    let alone = ["hunt", "sqlite", "--max-cases", "20", "--oracles", "norec", "--jobs", "1", "--out", "b"];
    assert!(matches!(run(dissent(path).args(alone)).code, Some(0 | 1)));
}
