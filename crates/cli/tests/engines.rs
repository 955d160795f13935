//! `dissent engines`: what is installed, and what can be installed.

mod support;

use support::{dissent, run};

#[test]
fn engines_are_listed_and_the_bundled_one_is_here() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let said = run(dissent(directory.path()).env("DISSENT_CACHE", &cache).arg("engines"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for engine in ["sqlite", "duckdb", "postgres", "mysql", "mariadb"] {
        assert!(said.stdout.contains(engine), "{engine} in\n{}", said.stdout);
    }
    let listed =
        run(dissent(directory.path()).env("DISSENT_CACHE", &cache).args(["engines", "list", "sqlite"]));
    assert!(listed.stdout.lines().any(|line| line.ends_with("built in")), "{}", listed.stdout);
    assert!(listed.stdout.contains("sqlite@3.30.1"), "{}", listed.stdout);
    assert!(!cache.exists(), "looking writes nothing");
}

#[test]
fn what_is_not_there_is_not_removed_or_installed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let engines =
        |args: &[&str]| run(dissent(directory.path()).env("DISSENT_CACHE", &cache).arg("engines").args(args));
    engines(&["remove", "sqlite@3.30.1"]).refused_with("sqlite@3.30.1 is not installed");
    engines(&["install", "sqlite", "nosuch@1"]).refused_with("nosuch");
    engines(&["list", "nosuch"]).refused_with("unknown engine 'nosuch'");
}

/// A version that `engines update` found once is what the engine's name means, unless versions are pinned.
#[test]
fn what_was_learned_is_the_newest() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let line = "postgres\t99.1\tmaven\torg.example:postgres\t99.1.0\tpostgres.txz!.\n";
    std::fs::write(cache.join("versions.tsv"), format!("{line}postgres\tnot a line\n")).unwrap();
    let listed = |pinned: bool| {
        let mut command = dissent(directory.path());
        command.env("DISSENT_CACHE", &cache).env_remove("DISSENT_PINNED");
        if pinned {
            command.env("DISSENT_PINNED", "1");
        }
        let said = run(command.args(["engines", "list", "postgres"]));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        said.stdout.lines().last().map(|line| line.trim().to_string()).unwrap_or_default()
    };
    assert_eq!(listed(false), "postgres@99.1");
    assert_ne!(listed(true), "postgres@99.1");
}

/// What needs no registry: SQLite is built in, and its packages do not tell its version.
#[test]
fn an_engine_whose_packages_do_not_tell_its_version_is_not_checked() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let update = |engine: &str| {
        run(dissent(directory.path()).env("DISSENT_CACHE", &cache).args(["engines", "update", engine]))
    };
    let said = update("sqlite");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.starts_with("sqlite: not checked: its packages do not say"), "{}", said.stdout);
    update("nosuch").refused_with("unknown engine 'nosuch'");
}

#[test]
fn installing_opens_what_it_installed() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).args(["engines", "install", "sqlite"]));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("sqlite: version 3."), "{}", said.stdout);
}

#[test]
fn probing_shows_a_table_and_keeps_what_it_learned() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let probe = |args: &[&str]| {
        run(dissent(directory.path())
            .env("DISSENT_CACHE", &cache)
            .args(["engines", "probe", "sqlite"])
            .args(args))
    };
    let said = probe(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for word in ["functions", "operators", "aggregates", "casts", "usable", "denied by the dialect's file"] {
        assert!(said.stdout.contains(word), "{word} in\n{}", said.stdout);
    }
    assert!(said.stderr.contains("probed "), "{}", said.stderr);
    let again = probe(&["--list"]);
    assert!(!again.stderr.contains("prob"), "it is asked once: {}", again.stderr);
    let has = |line: &str| again.stdout.lines().any(|other| other == line);
    assert!(has("+ function length (any) → INTEGER"), "{}", again.stdout);
    let denied = "- function fts3_tokenizer: denied by the dialect's file (needs a virtual table)";
    assert!(has(denied), "{}", again.stdout);
    // A file that something else left there is no catalog.
    let kept = std::fs::read_dir(cache.join("catalogs")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&kept, "{").unwrap();
    assert_eq!(probe(&[]).stdout, said.stdout);
}
