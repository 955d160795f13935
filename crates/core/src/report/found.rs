//! The bugs that Dissent found as pages: an index, and one page for each engine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::dialect::{DialectError, Files};
use crate::import::found::{Class, FoundBug};

/// A bug, and the path of its script in the repository.
pub type Listed = (String, FoundBug);

/// The index's file.
const INDEX: &str = "README.md";
const ABOUT: &str = "\
# Bugs that Dissent found

Each bug is a script in `bugs/found/`. It says which answer is wrong, what the right one is, and which version is the
newest that has the bug. To see a bug, run its script:

    dissent replay bugs/found/sqlite/in-subquery-collate-with-index.sql

This runs the script on the version that it names, shows what each query returns and what it must return, and exits with
1 if the bug is there. With `--target` it runs on another version. Scripts start with the engine's default settings;
a setting that a bug needs is part of its script.

A test (`crates/cli/tests/found_bugs.rs`) runs every script on the version that it names and on the newest one that can
be installed, and fails if what is written no longer holds.
";

/// The pages by the names of their files. `dissent stats found-bugs` writes them.
pub fn pages(bugs: &[Listed]) -> Result<Vec<(String, String)>, DialectError> {
    let mut engines: BTreeMap<&str, Vec<&Listed>> = BTreeMap::new();
    bugs.iter().for_each(|bug| engines.entry(bug.1.engine()).or_default().push(bug));
    let mut titled = Vec::new();
    for (engine, bugs) in engines {
        titled.push((Files::built_in().descriptor(engine)?.title, engine, bugs));
    }
    titled.sort_by_key(|(title, ..)| title.to_lowercase());
    let mut pages = vec![(INDEX.to_string(), index(&titled))];
    pages.extend(titled.iter().map(|(title, engine, bugs)| (format!("{engine}.md"), page(title, bugs))));
    Ok(pages)
}

fn index(engines: &[(String, &str, Vec<&Listed>)]) -> String {
    let mut out = format!("{ABOUT}\n");
    let current = |bugs: &[&Listed]| bugs.iter().filter(|(_, bug)| bug.fixed.is_none()).count();
    let classes = Class::ALL.map(Class::name).join(" | ");
    let _ = writeln!(out, "| engine | newest version tested | {classes} | fixed since |");
    let _ = writeln!(out, "| --- | --- |{} --- |", " --- |".repeat(Class::ALL.len()));
    let of_class = |bugs: &[&Listed], class: Class| {
        bugs.iter().filter(|(_, bug)| bug.class == class && bug.fixed.is_none()).count()
    };
    let shown = |count: usize| if count == 0 { "–".to_string() } else { count.to_string() };
    for (title, engine, bugs) in engines {
        let counts = Class::ALL.map(|class| shown(of_class(bugs, class))).join(" | ");
        let fixed = shown(bugs.len() - current(bugs));
        let _ = writeln!(out, "| [{title}]({engine}.md) | {} | {counts} | {fixed} |", newest(bugs));
    }
    let all: Vec<&Listed> = engines.iter().flat_map(|(_, _, bugs)| bugs.iter().copied()).collect();
    let counts = Class::ALL.map(|class| shown(of_class(&all, class))).join(" | ");
    let _ = writeln!(out, "| all | | {counts} | {} |", shown(all.len() - current(&all)));
    let arguable = all.iter().filter(|(_, bug)| bug.arguable.is_some()).count();
    let unverified = all.iter().filter(|(_, bug)| bug.unverified.is_some()).count();
    for (what, count) in [("Arguable", arguable), ("Not run when their scripts were written", unverified)] {
        if count > 0 {
            let _ = writeln!(out, "\n{what}, as their sections say: {count} of them.");
        }
    }
    out.push_str("\nThese pages are what `dissent stats found-bugs bugs/found --out docs/bugs` writes.\n");
    out
}

/// The newest version that any of the scripts was run on.
fn newest(bugs: &[&Listed]) -> String {
    let versions = bugs.iter().map(|(_, bug)| bug.fixed.as_deref().unwrap_or(bug.version()));
    versions.max_by_key(|version| crate::dialect::Version::parse(version)).unwrap_or_default().to_string()
}

fn page(title: &str, bugs: &[&Listed]) -> String {
    let mut out = format!("# Bugs found in {title}\n\n[All engines]({INDEX})\n");
    let rank =
        |bug: &FoundBug| (bug.fixed.is_some(), Class::ALL.iter().position(|class| *class == bug.class));
    let mut bugs = bugs.to_vec();
    bugs.sort_by_key(|(_, bug)| rank(bug));
    for (path, bug) in bugs {
        section(&mut out, title, path, bug);
    }
    out
}

fn section(out: &mut String, engine: &str, path: &str, bug: &FoundBug) {
    let _ = writeln!(out, "\n## {}\n\n```sql\n{}\n```\n\n{}\n", bug.title, bug.body, bug.why);
    let since = bug.since.as_deref().map_or_else(String::new, |since| format!(", since {since}"));
    let still = match &bug.fixed {
        Some(fixed) => format!("fixed in {fixed}; {} has it{since}", bug.version()),
        None => format!("still in {engine} {}{since}", bug.version()),
    };
    let _ =
        writeln!(out, "- {}, found by `{}`, {still}", bug.class.name(), bug.oracles.replace(", ", "`, `"));
    let settings = bug.settings.as_deref().unwrap_or("the defaults");
    let _ = writeln!(out, "- settings: {settings}");
    let _ = writeln!(out, "- second opinion: {}", bug.second);
    let _ = writeln!(out, "- reports by others: {}", bug.reports);
    for (what, said) in [("arguable", &bug.arguable), ("not run again", &bug.unverified)] {
        if let Some(said) = said {
            let _ = writeln!(out, "- {what}: {said}");
        }
    }
    let _ = writeln!(out, "- `dissent replay {path}`");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bug(engine: &str, class: &str, more: &str) -> Listed {
        let text = format!(
            "-- title: A {class}\n-- class: {class}\n-- oracle: norec, plan\n-- on: {engine}\n-- why: So.\n\
             -- second opinion: another\n-- reports: none found\n{more}\nSELECT 1;\n-- returns: 2\n-- must be: 1\n"
        );
        (format!("bugs/found/{engine}.sql"), FoundBug::read(&text).unwrap())
    }

    #[test]
    fn an_index_counts_by_class_and_pages_have_the_current_bugs_first() {
        let bugs = [
            bug("mysql@9.7.4", "wrong result", "-- fixed: 9.8.0\n"),
            bug("mysql@9.7.4", "crash", ""),
            bug("mysql@9.7.4", "wrong result", "-- settings: SET big_tables = 1\n-- arguable: a bit\n"),
            bug("sqlite@3.54.1", "wrong result", "-- not run again: no time\n"),
        ];
        let pages = pages(&bugs).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["README.md", "mysql.md", "sqlite.md"]);
        let index = &pages[0].1;
        assert!(index.contains("| [MySQL](mysql.md) | 9.8.0 | 1 | 1 | – | – | 1 |"), "{index}");
        assert!(index.contains("| all | | 2 | 1 | – | – | 1 |"), "{index}");
        assert!(index.contains("\nArguable, as their sections say: 1 of them."), "{index}");
        assert!(
            index.contains("\nNot run when their scripts were written, as their sections say: 1 of"),
            "{index}"
        );
        let mysql = &pages[1].1;
        let place = |part: &str| mysql.find(part).unwrap_or_else(|| panic!("{part} in {mysql}"));
        assert!(
            place("still in MySQL 9.7.4") < place("- crash") && place("- crash") < place("fixed in 9.8.0")
        );
        assert!(
            mysql.contains("found by `norec`, `plan`") && mysql.contains("- settings: SET big_tables = 1")
        );
        assert!(mysql.contains("- arguable: a bit") && mysql.contains("- settings: the defaults"));
    }
}
