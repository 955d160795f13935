//! `dissent stats known-bugs`: known bugs, rebuilt as scripts, and which oracles catch them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use dissent_campaign::{Config, Script, ScriptCheck, read_scripts};
use dissent_core::import::header::{self, Header};

use crate::args::LimitArgs;
use crate::progress::LiveLine;

/// One known bug, as its script tells and as it was measured.
struct Row {
    header: Header,
    script: Script,
    /// The oracles that found something on the version that fails, and on the newest.
    there: BTreeSet<String>,
    newest: BTreeSet<String>,
}

pub fn run(paths: &[PathBuf], oracles: &[String], limits: &LimitArgs) -> anyhow::Result<()> {
    let row = |script: Script| {
        let header = header::read(&script.text)?;
        Some(Row { header, script, there: BTreeSet::new(), newest: BTreeSet::new() })
    };
    let mut rows: Vec<Row> = read_scripts(paths)?.into_iter().filter_map(row).collect();
    if rows.is_empty() {
        bail!("no script says in its header which version fails (`-- fails: sqlite@3.28.0`)");
    }
    let config = |target: &str| Config { oracles: oracles.to_vec(), ..limits.config(target) };
    measure(&mut rows, &config, |row| row.header.fails.clone(), |row| &mut row.there)?;
    let newest = measure(&mut rows, &config, |row| engine(row).to_string(), |row| &mut row.newest)?;
    Ok(std::io::stdout().write_all(markdown(&rows, &newest).as_bytes())?)
}

/// `sqlite` of `sqlite@3.28.0`: without a version, the newest is meant.
fn engine(row: &Row) -> &str {
    row.header.fails.split('@').next().unwrap_or_default()
}

/// Runs the scripts, those of one target together; gives the version that each target turned out to be.
fn measure(
    rows: &mut [Row],
    config: &dyn Fn(&str) -> Config,
    target_of: impl Fn(&Row) -> String,
    caught: impl Fn(&mut Row) -> &mut BTreeSet<String>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut versions = BTreeMap::new();
    let targets: BTreeSet<String> = rows.iter().map(&target_of).collect();
    for name in targets {
        let mut here: Vec<&mut Row> = rows.iter_mut().filter(|row| target_of(row) == name).collect();
        let scripts: Vec<Script> = here.iter().map(|row| row.script.clone()).collect();
        let check = ScriptCheck::run(&config(&name), scripts, &mut LiveLine::new())?;
        for found in check.findings {
            caught(here[found.origin.database as usize]).insert(found.case.subject.oracle);
        }
        versions.insert(name, check.tested.engine_version);
    }
    Ok(versions)
}

fn markdown(rows: &[Row], newest: &BTreeMap<String, String>) -> String {
    // What a script shows of another bug of that version is not its own.
    let caught = |row: &&Row| !row.there.is_empty() && row.header.uncaught.is_none();
    let mut out = String::from("# Known bugs, and what catches them\n\n");
    let _ = writeln!(
        out,
        "Bugs that others reported, rebuilt in our own words under `bugs/`. Each script is run on a version that \
         has the\nbug and on the newest one, and each of its queries is handed to every oracle. {} of {} are caught. \
         This page is what\n`dissent stats known-bugs bugs` prints.",
        rows.iter().filter(caught).count(),
        rows.len()
    );
    let alone = alone(rows.iter().filter(caught).map(|row| &row.there));
    if !alone.is_empty() {
        let counts: Vec<String> = alone.iter().map(|(oracle, count)| format!("{oracle} {count}")).collect();
        let total: usize = alone.values().sum();
        let _ = writeln!(
            out,
            "\n{total} of them are caught by one oracle only, marked in **bold**: {}.",
            counts.join(", ")
        );
    }
    for (name, version) in newest {
        let of_engine = |row: &&Row| engine(row) == name;
        let _ = writeln!(
            out,
            "\n## {name}\n\n| bug | fails on | caught there by | no longer on | on {version} |"
        );
        let _ = writeln!(out, "| --- | --- | --- | --- | --- |");
        for row in rows.iter().filter(of_engine).filter(caught) {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                linked(&row.header),
                row.header.fails.split_once('@').map_or("newest", |(_, version)| version),
                marked(&row.there),
                row.header.fixed.as_deref().unwrap_or("–"),
                if row.newest.is_empty() { "agrees".to_string() } else { listed(&row.newest) }
            );
        }
    }
    let mut missed = rows.iter().filter(|row| !caught(row)).peekable();
    if missed.peek().is_some() {
        out.push_str("\n## Not caught\n\n| bug | version | why |\n| --- | --- | --- |\n");
        for row in missed {
            let why = row.header.uncaught.as_deref().unwrap_or("not known");
            let _ = writeln!(out, "| {} | {} | {why} |", linked(&row.header), row.header.fails);
        }
    }
    out
}

fn linked(header: &Header) -> String {
    let title = header.title.replace('|', "\\|");
    if header.link.is_empty() { title } else { format!("[{title}]({})", header.link) }
}

fn listed(oracles: &BTreeSet<String>) -> String {
    oracles.iter().cloned().collect::<Vec<_>>().join(", ")
}

/// The same, in bold if there is only one.
fn marked(oracles: &BTreeSet<String>) -> String {
    if oracles.len() == 1 { format!("**{}**", listed(oracles)) } else { listed(oracles) }
}

/// How many bugs each oracle is the only one to catch.
fn alone<'r>(caught: impl Iterator<Item = &'r BTreeSet<String>>) -> BTreeMap<&'r str, usize> {
    let mut counts = BTreeMap::new();
    for oracle in caught.filter(|oracles| oracles.len() == 1).flatten() {
        *counts.entry(oracle.as_str()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_that_catches_a_bug_alone_is_marked_and_counted() {
        let row = |title: &str, there: &[&str]| {
            let text = format!("-- title: {title}\n-- fails: sqlite@3.29.0\nSELECT 1;");
            let header = header::read(&text).unwrap();
            let script = Script { name: title.to_string(), text };
            let there = there.iter().map(|oracle| oracle.to_string()).collect();
            Row { header, script, there, newest: BTreeSet::new() }
        };
        let rows =
            [row("a", &["order"]), row("b", &["eet", "norec"]), row("c", &["order"]), row("d", &["crash"])];
        let newest = BTreeMap::from([("sqlite".to_string(), "3.54.1".to_string())]);
        let page = markdown(&rows, &newest);
        assert!(
            page.contains(
                "\n3 of them are caught by one oracle only, marked in **bold**: crash 1, order 2.\n"
            ),
            "{page}"
        );
        assert!(page.contains("| a | 3.29.0 | **order** |"), "{page}");
        assert!(page.contains("| b | 3.29.0 | eet, norec |"), "{page}");
        assert_eq!(page.matches("**").count(), 8, "{page}");
    }
}
