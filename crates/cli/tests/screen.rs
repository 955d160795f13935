//! The live view of `dissent hunt`, driven in a pseudo-terminal as a user would.

mod support;
mod terminal;

use std::time::Duration;

use support::{children_of, is_idle, wait_for};
use terminal::{Terminal, dissent, hunt};

/// Old enough to show bugs within seconds.
const BUGGY: &[&str] = &["sqlite@3.30.1", "--oracles", "norec,tlp", "--seed", "5", "--jobs", "2"];

#[test]
fn a_hunt_is_watched_resized_paused_read_and_quit() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(hunt(directory.path(), BUGGY), 24, 80);
    terminal.wait("the first figures", |screen| screen.contains("statements") && screen.contains("/s"));
    let screen = terminal.wait("a new bug", |screen| screen.contains("\nnew  "));
    assert!(terminal.is_taken_over());
    for part in ["dissent  sqlite@3.30.1", "oracle ", "worker", "tlp-where", "newest findings", "p pause"] {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }

    // What is left on a small terminal is whole, and the rest comes back with the room for it.
    terminal.resize(10, 40);
    let small =
        terminal.wait("a small screen", |screen| !screen.contains("oracle ") && screen.contains("p pause"));
    assert!(small.contains("checks") && small.contains("findings"), "{small}");
    terminal.resize(3, 20);
    terminal.wait("a line", |screen| screen.contains(" checks") && !screen.contains("p pause"));
    terminal.resize(40, 120);
    terminal.wait("a large screen", |screen| screen.contains("oracle ") && screen.contains("worker"));

    // Workers really wait, and go on where they were.
    terminal.press("p");
    terminal.wait("it is paused", |screen| screen.contains("PAUSED"));
    // A reducer ends when it has nothing left to do.
    let workers = wait_for("workers wait", || {
        let workers = children_of(terminal.process());
        workers.iter().all(|worker| is_idle(*worker)).then_some(workers)
    });
    let figures = |screen: &str| screen.lines().find(|line| line.starts_with("checks")).unwrap().to_string();
    let before = figures(&terminal.screen());
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(figures(&terminal.screen()), before);
    terminal.press("p");
    terminal.wait("it goes on", |screen| !screen.contains("PAUSED") && figures(screen) != before);
    assert_eq!(children_of(terminal.process()).iter().filter(|worker| workers.contains(worker)).count(), 2);

    // The report of a bug, and back.
    terminal.press("\r");
    let report = terminal.wait("a report", |screen| screen.contains("esc back"));
    assert!(report.contains("out/findings/"), "{report}");
    terminal.press("\x1b[B");
    terminal.press("\x1b");
    terminal.wait("the figures again", |screen| screen.contains("newest findings"));

    terminal.press("q");
    let code = terminal.finish();
    assert_eq!(code, Some(1));
    assert!(!terminal.is_taken_over(), "the terminal is as it was");
    let after = terminal.screen();
    for part in ["found      ", "New bugs, in out/findings:", "Next:"] {
        assert!(after.contains(part), "{part} in\n{after}");
    }
}

#[test]
fn the_terminal_is_restored_whoever_ends_the_hunt() {
    for signals in [vec![libc::SIGTERM, libc::SIGTERM], vec![libc::SIGQUIT], vec![libc::SIGHUP]] {
        let directory = tempfile::tempdir().unwrap();
        let mut command = hunt(directory.path(), &["--jobs", "1", "--hang-limit", "1h"]);
        command.env("DISSENT_TEST_FAULT", "hang@3");
        let mut terminal = Terminal::start(command, 24, 80);
        terminal.wait("the live view", |screen| screen.contains("p pause"));
        for signal in &signals {
            terminal.signal(*signal);
            // The first one asks the worker that hangs, and waits for it.
            std::thread::sleep(Duration::from_millis(300));
        }
        terminal.finish();
        assert!(!terminal.is_taken_over(), "{signals:?}");
    }
}

#[test]
fn a_second_key_leaves_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = hunt(directory.path(), &["--jobs", "1", "--hang-limit", "1h"]);
    command.env("DISSENT_TEST_FAULT", "hang@3");
    let mut terminal = Terminal::start(command, 24, 80);
    terminal.wait("the live view", |screen| screen.contains("p pause"));
    terminal.press("q");
    terminal.wait("it ends", |screen| screen.contains("stopping"));
    terminal.press("\x03");
    assert_eq!(terminal.finish(), Some(2));
    assert!(!terminal.is_taken_over());
}

#[test]
fn colours_and_the_view_itself_can_be_declined() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(hunt(&directory.path().join("a"), &["--time", "2s"]), 24, 80);
    terminal.wait("the live view", |screen| screen.contains("p pause"));
    wait_for("there is colour", || terminal.has_colour().then_some(()));
    terminal.finish();

    let mut command = hunt(&directory.path().join("b"), &["--time", "2s"]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command, 24, 80);
    terminal.wait("the live view", |screen| screen.contains("p pause") && screen.contains("valid"));
    assert!(!terminal.has_colour());
    terminal.finish();

    for (number, (option, term)) in [("--plain", "xterm"), ("--jobs=1", "dumb")].into_iter().enumerate() {
        let mut command = hunt(&directory.path().join(number.to_string()), &["--time", "1s", option]);
        command.env("TERM", term);
        let mut terminal = Terminal::start(command, 24, 80);
        terminal.finish();
        assert!(terminal.screen().contains("Next:"), "{}", terminal.screen());
        let cursor_moves = terminal.output().windows(8).any(|bytes| bytes == b"\x1b[?1049h");
        assert!(!cursor_moves, "{option} {term}");
        assert!(term != "dumb" || !terminal.output().contains(&0x1b), "{term}");
    }
}

#[test]
fn waits_show_how_far_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let mut probe = dissent(directory.path(), &["engines", "probe", "sqlite"]);
    probe.env("DISSENT_CACHE", directory.path().join("cache"));
    let mut terminal = Terminal::start(probe, 24, 80);
    terminal.wait("probing", |screen| screen.contains("\nprobing: ") && screen.contains(" of "));
    assert_eq!(terminal.finish(), Some(0));

    let query = |n: usize| format!("SELECT * FROM t0 WHERE c0 = {n};\n");
    let script = "CREATE TABLE t0(c0 INT);\nINSERT INTO t0 VALUES (1), (2);\n".to_string();
    let script = (0..3000).fold(script, |script, n| script + &query(n));
    std::fs::write(directory.path().join("many.sql"), script).unwrap();
    let check = dissent(directory.path(), &["check", "many.sql", "--oracles", "norec"]);
    let mut terminal = Terminal::start(check, 24, 80);
    terminal
        .wait("checking", |screen| screen.contains("\nchecking queries: ") && screen.contains(" of 3,000"));
    assert_eq!(terminal.finish(), Some(0));
}
