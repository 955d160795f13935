//! What a good command-line program has: settings in a file, quiet and verbose, completions, manual pages, a version.

mod support;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use support::{dissent, run};

#[test]
fn the_version_names_the_commit_and_the_bundled_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).arg("--version"));
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.starts_with(&format!("dissent {}", env!("CARGO_PKG_VERSION"))), "{}", said.stdout);
    assert!(said.stdout.contains(", SQLite 3.") && said.stdout.ends_with(" built in\n"), "{}", said.stdout);
}

#[test]
fn help_is_as_it_was_read() {
    let directory = tempfile::tempdir().unwrap();
    for (name, args) in [("help", &["--help"][..]), ("hunt_help", &["hunt", "-h"])] {
        let said = run(dissent(directory.path()).args(args));
        assert_eq!(said.code, Some(0));
        assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
        insta::assert_snapshot!(name, said.stdout);
    }
}

#[test]
fn shells_read_their_completions() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = run(dissent(directory.path()).args(["completions", shell]));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(said.stdout.contains("max-findings"), "{shell}: {}", said.stdout);
        if shell == "bash" {
            let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
            bash.stdin.take().unwrap().write_all(said.stdout.as_bytes()).unwrap();
            assert!(bash.wait().unwrap().success());
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).arg("man"));
    assert!(
        said.stdout.contains(".TH dissent 1") && said.stdout.contains("DISSENT_CACHE"),
        "{}",
        said.stdout
    );
    let hunt = run(dissent(directory.path()).args(["man", "hunt"])).stdout;
    assert!(hunt.contains(".TH dissent-hunt 1") && hunt.contains("sqlite:path="), "{hunt}");
    run(dissent(directory.path()).args(["man", "hutn"])).refused_with("there is no command 'hutn'");
    assert_eq!(run(dissent(directory.path()).args(["man", "--out", "pages"])).code, Some(0));
    for page in ["dissent.1", "dissent-hunt.1", "dissent-stats.1"] {
        assert!(directory.path().join("pages").join(page).is_file(), "{page}");
    }
}

#[test]
fn settings_are_read_from_a_file_and_what_is_typed_wins() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let settings =
        "[hunt]\ntarget = 'sqlite@bundled'\noracles = ['norec', 'index']\njobs = 1\nmax-cases = 30\n";
    fs::write(place.join("dissent.toml"), settings).unwrap();
    let hunt = |more: &[&str]| run(dissent(place).args(["hunt", "--summary", "json"]).args(more)).json();
    let summary = hunt(&[]);
    assert_eq!(
        (&summary["target"], &summary["jobs"], &summary["cases"]),
        (&"sqlite@bundled".into(), &1.into(), &30.into())
    );
    let oracles = |summary: &serde_json::Value| {
        summary["checks"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(oracles(&summary), ["index", "norec", "total"]);
    let summary = hunt(&["sqlite", "--oracles", "order"]);
    assert_eq!((&summary["target"], &summary["cases"]), (&"sqlite".into(), &30.into()));
    assert_eq!(oracles(&summary), ["order", "total"]);

    fs::write(place.join("other.toml"), "[hunt]\njob = 1\n").unwrap();
    let other = run(dissent(place).args(["oracles", "--config", "other.toml"]));
    other.refused_with("in other.toml: [hunt]: there is no option 'job'; did you mean 'jobs'?");
    run(dissent(place).args(["oracles", "--config", "none.toml"]))
        .refused_with("cannot read the settings in none.toml");
    fs::write(place.join("other.toml"), "[hunt\n").unwrap();
    let other = run(dissent(place).args(["oracles", "--config", "other.toml"]));
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("other.toml is not valid"), "{}", other.stderr);
}

#[test]
fn quiet_and_verbose_are_what_they_say() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |option: &str, out: &str| {
        let mut command = dissent(directory.path());
        command.env("DISSENT_TEST_FAULT", "crash@5");
        run(command.args([
            "hunt",
            option,
            "--jobs",
            "1",
            "--max-cases",
            "100",
            "--max-findings",
            "1",
            "--out",
            out,
        ]))
    };
    let quiet = hunt("-q", "a");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(1), ""));
    assert!(quiet.stdout.contains("New bugs, in a/findings:"), "{}", quiet.stdout);
    let verbose = hunt("-v", "b");
    for stage in ["waits to be reduced", "is being confirmed", "is a new bug"] {
        assert!(verbose.stderr.contains(stage), "{stage}: {}", verbose.stderr);
    }
    let both = run(dissent(directory.path()).args(["oracles", "-q", "-v"]));
    assert_eq!(both.code, Some(2));
}

#[test]
fn a_finding_of_the_newest_campaign_is_named_without_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = dissent(directory.path());
    command.env("DISSENT_TEST_FAULT", "crash@5");
    let said = run(command.args(["hunt", "--jobs", "1", "--max-cases", "100", "--max-findings", "1"]));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let next = said.stdout.lines().find_map(|line| line.trim().strip_prefix("dissent replay ")).unwrap();
    let name = next.split(' ').next().unwrap();
    assert!(name.starts_with("crash-"), "{next}");
    let replayed = run(dissent(directory.path()).args(["replay", name]));
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
}
