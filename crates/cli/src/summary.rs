//! The end of a campaign on one screen: what was tested, how much, what was found, what looks suspicious and where
//! to look next. Every other figure is in `summary.json` and in the tables of `dissent stats`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use dissent_campaign::{FindingLine, GuideFigures, Summary, TimeFigures};

use crate::numbers::{by_class, clock, counted, grouped, percent, short, times};
use crate::suspicions;
use crate::text::{shell_word, truncated, wrapped};

/// More bugs than this and the page would scroll; `dissent findings` lists them all.
const MOST_BUGS: usize = 8;
/// As many as can be taken in at a glance.
const MOST_SUSPICIONS: usize = 4;
/// The column in which values begin.
const INDENT: usize = 11;

/// What `dissent hunt` prints at its end, in lines of at most so many columns.
pub fn text(summary: &Summary, directory: &str, target: Option<&str>, width: usize) -> String {
    let mut page = Page { out: String::new(), width };
    page.row("tested", &tested(summary));
    page.row("ran", &ran(summary));
    page.row("checked", &checked(summary));
    page.row("spent", &spent(&summary.time));
    if let Some(guide) = &summary.guide {
        page.row("learned", &learned(guide));
    }
    page.row("found", &found(summary));
    bugs(summary, directory, &mut page);
    suspicious(summary, directory, &mut page);
    next(summary, directory, target, &mut page);
    page.out
}

fn tested(summary: &Summary) -> String {
    let Summary { target, engine_version, seed, jobs, .. } = summary;
    let time = clock(Duration::from_secs_f64(summary.wall_seconds));
    format!("{target} (version {engine_version}) for {time}, {}, seed {seed}", counted(*jobs, "worker"))
}

fn ran(summary: &Summary) -> String {
    format!(
        "{}, {} ({}/s, {} valid)",
        counted(summary.databases, "database"),
        counted(summary.statements, "statement"),
        rate(summary.statements, summary),
        percent(summary.statements_ok, summary.statements),
    )
}

fn checked(summary: &Summary) -> String {
    let total = summary.checks.get("total").copied().unwrap_or(0);
    let oracles = summary.checks.len().saturating_sub(1) as u64;
    format!(
        "{} ({}/s, {} with rows) by {}",
        counted(total, "check"),
        rate(total, summary),
        percent(summary.nonempty_checks, total),
        counted(oracles, "oracle"),
    )
}

/// So many in a second.
fn rate(count: u64, summary: &Summary) -> String {
    short(count as f64 / summary.wall_seconds.max(0.001))
}

/// What the workers' time went into, the largest part first.
fn spent(time: &TimeFigures) -> String {
    let TimeFigures { useful, scaffolds, build, guide, rehearsal, confirm, generator, rest } = *time;
    let mut parts = [
        (useful, "on checks"),
        (scaffolds, "on their tables and indexes"),
        (build, "building databases"),
        (guide + rehearsal, "learning"),
        (confirm, "confirming"),
        (generator, "drawing statements"),
        (rest, "elsewhere in Dissent"),
    ];
    parts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let parts = parts.iter().take(4).filter(|(part, _)| *part >= 0.005);
    let parts: Vec<String> = parts.map(|(part, what)| format!("{:.0} % {what}", 100.0 * part)).collect();
    parts.join(", ")
}

fn learned(guide: &GuideFigures) -> String {
    let seen = format!("{} {}", grouped(guide.features), guide.guide.features());
    match guide.kept_what_was_new {
        true => format!("{seen}; {} kept for mutation", counted(guide.kept, "database")),
        false => format!("{seen}, only counted"),
    }
}

fn found(summary: &Summary) -> String {
    let (mut classes, mut seen) = (BTreeMap::new(), 0);
    for bug in summary.new_findings() {
        *classes.entry(bug.class).or_insert(0) += 1;
        seen += bug.count;
    }
    let mut parts = match summary.new_findings().count() as u64 {
        0 => vec!["no new bugs".to_string()],
        new => vec![format!("{}: {} (seen {})", counted(new, "new bug"), by_class(&classes), times(seen))],
    };
    let known: Vec<&FindingLine> = summary.findings.iter().filter(|bug| bug.known.is_some()).collect();
    if !known.is_empty() {
        let seen = known.iter().map(|bug| bug.count).sum();
        parts.push(format!("{} (seen {})", counted(known.len() as u64, "known bug"), times(seen)));
    }
    if summary.waiting > 0 {
        parts.push(format!("{} not reduced yet", counted(summary.waiting, "likely duplicate")));
    }
    if summary.not_kept > 0 {
        parts.push(format!("{} more came in too fast to be saved", grouped(summary.not_kept)));
    }
    if summary.unstable > 0 {
        parts.push(format!("{} that vanished on a fresh database", counted(summary.unstable, "difference")));
    }
    parts.join("; ")
}

/// One line per bug. Its directory is named after its oracle and class.
fn bugs(summary: &Summary, directory: &str, page: &mut Page) {
    let bugs: Vec<&FindingLine> = summary.new_findings().collect();
    if bugs.is_empty() {
        return;
    }
    page.head(&format!("New bugs, in {}:", Path::new(directory).join("findings").display()));
    let widest = bugs.iter().take(MOST_BUGS).map(|bug| bug.id.chars().count()).max().unwrap_or(0);
    for bug in bugs.iter().take(MOST_BUGS) {
        let reduced = if bug.signature.is_some() { "" } else { " (not reduced)" };
        page.line(&format!("{:<widest$}  {}{reduced}", bug.id, bug.title));
    }
    if let Some(more) = bugs.len().checked_sub(MOST_BUGS).filter(|more| *more > 0) {
        page.line(&format!(
            "… and {} more: dissent findings {}",
            grouped(more as u64),
            shell_word(directory)
        ));
    }
}

fn suspicious(summary: &Summary, directory: &str, page: &mut Page) {
    let suspicions = suspicions::of(summary);
    if suspicions.is_empty() {
        return;
    }
    page.head("Suspicious:");
    for suspicion in suspicions.iter().take(MOST_SUSPICIONS) {
        page.line(suspicion);
    }
    if let Some(more) = suspicions.len().checked_sub(MOST_SUSPICIONS).filter(|more| *more > 0) {
        page.line(&format!(
            "… and {} more: dissent stats skips {}",
            grouped(more as u64),
            shell_word(directory)
        ));
    }
}

fn next(summary: &Summary, directory: &str, target: Option<&str>, page: &mut Page) {
    page.head("Next:");
    let directory = shell_word(directory);
    if let Some(first) = summary.new_findings().next() {
        // The newest campaign in its usual place needs no way to its findings.
        let usual = directory.starts_with("dissent-out/");
        let name = if usual { first.id.clone() } else { shell_word(&first.directory) };
        let target = target.map(|target| format!(" --target {}", shell_word(target))).unwrap_or_default();
        page.command(&format!("dissent replay {name}{target}"), "checks the first one again");
    }
    if summary.waiting > 0 {
        let target = target.map(|target| format!(" {}", shell_word(target))).unwrap_or_default();
        page.command(&format!("dissent hunt{target} --resume {directory}"), "reduces the rest and continues");
    }
    page.command(&format!("dissent stats oracles {directory}"), "what each oracle did");
}

/// Lines that end before the last column does.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// A label and its value, which continues below itself.
    fn row(&mut self, label: &str, value: &str) {
        let mut label = label;
        for line in wrapped(value, self.width.saturating_sub(INDENT)) {
            let _ = writeln!(self.out, "{}", format!("{label:<INDENT$}{line}").trim_end());
            label = "";
        }
    }

    fn head(&mut self, line: &str) {
        let _ = writeln!(self.out, "\n{line}");
    }

    /// One line, cut where it gets too long.
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "  {}", truncated(line, self.width.saturating_sub(2)));
    }

    /// A command to copy, never cut; what it does stands beside it where there is room.
    fn command(&mut self, command: &str, what: &str) {
        let line = format!("  {command}  # {what}");
        let _ = if line.chars().count() <= self.width {
            writeln!(self.out, "{line}")
        } else {
            writeln!(self.out, "  {command}")
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary() -> Summary {
        serde_json::from_value(json!({
            "target": "sqlite@3.30.1", "engine_version": "3.30.1", "seed": 2918347561_u64, "jobs": 2,
            "wall_seconds": 45.2, "databases": 1, "statements": 1234567, "statements_ok": 1209876,
            "checks": {"norec": 123456, "edc": 3, "tlp-where": 100000, "total": 223459},
            "nonempty_checks": 150000,
            "time": {"useful": 0.41, "scaffolds": 0.04, "build": 0.2, "guide": 0.1, "rehearsal": 0.05, "rest": 0.2},
            "skips": {"norec": {"both arms fail": 50000, "not a query": 3}, "edc": {"no pair": 2}},
            "guide": {
                "guide": "plan", "kept_what_was_new": true, "seeds": 0, "seeds_only": false, "features": 4321,
                "kept": 512, "deepest": 9, "changed_statements": 5, "changed_statements_ok": 5, "growth": []
            },
            "findings": [], "unstable": 1, "not_kept": 0, "waiting": 0,
            "worker_failures": ["a worker ended in database 7, case 12 (exit code 101)"],
        }))
        .unwrap()
    }

    fn bug(id: &str, title: &str, known: Option<&str>) -> FindingLine {
        FindingLine {
            id: id.to_string(),
            oracle: "norec".to_string(),
            class: dissent_core::finding::Class::WrongRows,
            title: title.to_string(),
            count: 1204,
            statements: 3,
            tokens: 40,
            signature: Some("rows".to_string()),
            known: known.map(str::to_string),
            directory: format!("dissent-out/sqlite-3.30.1-20261118-012345/findings/{id}"),
        }
    }

    fn with_bugs() -> Summary {
        let mut summary = summary();
        summary.findings = vec![
            bug(
                "norec-wrong-rows-7f8514",
                "LEFT JOIN with a partial index returns a row that WHERE excludes",
                None,
            ),
            bug(
                "tlp-group-by-error-divergence-0a1b2c",
                "GROUP BY fails with \"database disk image is malformed\"",
                None,
            ),
            bug("crash-crash-112233", "a known crash", Some("the-crash")),
        ];
        summary
    }

    const DIRECTORY: &str = "dissent-out/sqlite-3.30.1-20261118-012345";

    #[test]
    fn the_page_says_what_was_tested_found_and_suspicious() {
        insta::assert_snapshot!(text(&with_bugs(), DIRECTORY, None, 80));
    }

    #[test]
    fn a_quiet_hunt_has_a_short_page() {
        let quiet = Summary { skips: BTreeMap::new(), worker_failures: Vec::new(), unstable: 0, ..summary() };
        insta::assert_snapshot!(text(&quiet, DIRECTORY, None, 80));
    }

    #[test]
    fn it_fits_a_screen_however_much_was_found() {
        let mut summary = with_bugs();
        let many = |n: usize| bug(&format!("norec-wrong-rows-{n:06}"), &"very ".repeat(30), None);
        summary.findings.extend((0..60).map(many));
        for name in ["index", "rowid", "storage", "plan", "order", "epsc", "joinequiv"] {
            summary.checks.insert(name.into(), 0);
        }
        for width in [80, 100, 132] {
            let page = text(&summary, DIRECTORY, None, width);
            let commands = |line: &&str| line.trim_start().starts_with("dissent ");
            for line in page.lines().filter(|line| !commands(line)) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            assert!(page.lines().count() <= 30, "{page}");
        }
    }
}
