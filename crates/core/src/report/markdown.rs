//! A finding as an issue: ready to paste into a tracker.

use std::fmt::Write;

use super::script::{Script, is_harm};
use super::title::capitalised;
use super::{failure, one_line, plans, results, sentence, title};
use crate::dialect::{Dialect, Version};
use crate::finding::{Against, Arm, ArmOutcome, Failure, Finding, History};

/// The whole issue, with its title.
pub fn report(finding: &Finding, dialect: &Dialect) -> String {
    format!("# {}\n\n{}", title(finding, dialect), body(finding, dialect))
}

/// The issue without its title.
pub fn body(finding: &Finding, dialect: &Dialect) -> String {
    let script = Script::of(finding, dialect);
    let mut out = versions(finding, dialect);
    let _ = writeln!(out, "\n## Script\n\n{}", fenced("sql", &script.text(finding, dialect, false)));
    match is_harm(&finding.evidence) {
        true => out += &harm(finding),
        false => out += &difference(finding, &script),
    }
    if !dialect.engine.session.is_empty() {
        let _ = writeln!(out, "## Settings\n\n{}\n", settings(finding));
    }
    let shown = |at: &usize| finding.evidence.arms.get(*at);
    let planned: Vec<(String, &str)> = script
        .shown
        .iter()
        .filter_map(|at| Some((*at, shown(at)?.plan.as_deref().filter(|plan| !plan.trim().is_empty())?)))
        .map(|(at, plan)| (format!("Query {}", script.number(at)), plan))
        .collect();
    if !planned.is_empty() {
        let _ = writeln!(out, "## Plans\n\n{}", plans::section(&planned));
    }
    out + &origin(finding)
}

/// Which versions fail, and what the one that was tested says of itself.
fn versions(finding: &Finding, dialect: &Dialect) -> String {
    let engine = &finding.triage.engine;
    let mut out = format!("**Version:** {} {}", dialect.engine.title, one_line(&finding.engine_version));
    if let Some(about) = engine.about.as_deref().filter(|about| *about != finding.engine_version) {
        let _ = write!(out, " (`{}`)", one_line(about).replace('`', "'"));
    }
    if let Some(built) = &engine.built {
        let _ = write!(out, ", {}", one_line(built));
    }
    out.push('\n');
    if let Some(baseline) = &finding.triage.also_on {
        let _ = writeln!(out, "**Also on the baseline:** {}", one_line(baseline));
    }
    match (&finding.triage.against, &finding.triage.history) {
        (Some(against), _) => out += &compared(finding, against, dialect),
        (None, Some(history)) => {
            let _ = writeln!(out, "**Affected:** {}", super::history(history));
        }
        (None, None) => {}
    }
    if let Some(cause) = super::cause(finding, dialect).filter(|_| finding.triage.cause.is_some()) {
        let _ = writeln!(out, "**Cause:** {cause}");
    }
    if finding.triage.against.is_none()
        && let Some(newest) = newest(finding)
    {
        let _ = writeln!(out, "**Also on the newest version:** {newest}");
    }
    // Two spaces at the end of a line keep the next one on a line of its own.
    out.trim_end().replace('\n', "  \n") + "\n"
}

fn newest(finding: &Finding) -> Option<String> {
    match (&finding.triage.newest, &finding.triage.history) {
        (Some(newest), _) if newest.fails => Some(format!("yes ({})", newest.version)),
        (Some(newest), _) => Some(format!("no ({})", newest.version)),
        (None, Some(History { first_good: Some(good), .. })) => Some(format!("no, good since {good}")),
        (None, Some(history)) => Some(format!("yes ({})", history.last_bad)),
        (None, None) => None,
    }
}

/// The other version, which of the two is wrong, and between which versions the answer changed.
fn compared(finding: &Finding, against: &Against, dialect: &Dialect) -> String {
    let title = against.engine.as_ref().unwrap_or(&dialect.engine.title);
    let mut out = format!("**Compared with:** {} {}\n", one_line(title), one_line(&against.engine_version));
    if let Some(wrong) = &against.wrong {
        let _ = writeln!(out, "**Wrong:** {}, as {} shows there alone", wrong.engine_version, wrong.oracle);
    }
    if let Some((before, since)) =
        finding.triage.history.as_ref().and_then(|history| changed(finding, history))
    {
        let _ = writeln!(out, "**Changed:** in {since}, or after {before}");
    }
    out
}

/// The last version that answers as the older one does, and the first that was checked after it.
fn changed<'a>(finding: &Finding, history: &'a History) -> Option<(&'a str, &'a str)> {
    // Versions of two engines say nothing about each other.
    let against = finding.triage.against.as_ref().filter(|against| against.engine.is_none())?;
    // Versions count as failing where they differ from the other one.
    let older = Version::parse(&finding.engine_version) < Version::parse(&against.engine_version);
    match older {
        true => Some((&history.last_bad, history.first_good.as_ref()?)),
        false => Some((history.last_good.as_ref()?, &history.first_bad)),
    }
}

fn harm(finding: &Finding) -> String {
    let evidence = &finding.evidence;
    let mut out = "## Expected\n\nThe last statement returns a result or an ordinary error.\n\n".to_string();
    let _ = writeln!(out, "## Actual\n\n{}\n", sentence(&failure(evidence)));
    if let Failure::Harm { stack, .. } = &evidence.failure
        && !stack.is_empty()
    {
        let _ = writeln!(out, "Stack trace from its log:\n\n{}", fenced("", &stack.join("\n")));
    }
    if let Some(note) = &finding.triage.reduction
        && !note.complete
    {
        out += "The script may not be minimal: its reduction was cut short.\n\n";
    }
    if finding.triage.reduction.is_none() {
        out += "The script is shown as found; it has not been reduced yet.\n\n";
    }
    out
}

/// What was expected and what came, in this order, and which query is likely wrong.
fn difference(finding: &Finding, script: &Script) -> String {
    let evidence = &finding.evidence;
    let mut out = String::new();
    let Some(expected) = &script.expected else {
        let _ = writeln!(out, "## Expected\n\n{}\n\n## Actual\n", sentence(&capitalised(&evidence.relation)));
        for at in &script.shown {
            let other = script.shown.iter().find(|other| *other != at).filter(|_| script.shown.len() == 2);
            let _ = writeln!(out, "{}", returned(script.number(*at), *at, other.copied(), &evidence.arms));
        }
        let told = matches!(evidence.failure, Failure::Rows { .. } | Failure::OneSided { .. });
        let both_shown = script.shown.len() == 2 && told;
        match &evidence.explanation {
            Some(explanation) if both_shown => {
                let _ = writeln!(out, "Likely {}\n", sentence(explanation));
            }
            None if both_shown => {}
            _ => {
                let _ = writeln!(out, "{}\n", sentence(&failure(evidence)));
            }
        }
        return out;
    };
    let (number, by) = (script.number(expected.arm), script.number(expected.by));
    let arm = &evidence.arms[expected.arm];
    let actual = match &arm.outcome {
        ArmOutcome::Rows(rows) => Some(rows),
        _ => None,
    };
    let _ = writeln!(out, "## Expected\n");
    let _ = writeln!(out, "Query {number} returns{}", results::block(&expected.rows, actual, '-'));
    let _ = writeln!(out, "## Actual\n");
    match actual {
        Some(rows) => {
            let _ = writeln!(out, "It returns{}", results::block(rows, Some(&expected.rows), '+'));
        }
        None => {
            let _ = writeln!(out, "{}", returned(number, expected.arm, None, &evidence.arms));
        }
    }
    let _ = writeln!(
        out,
        "Query {number} is likely wrong. Query {by} gives the right result: {}\n",
        sentence(expected.why)
    );
    out
}

/// What one query returned; rows that the other one lacks are marked.
fn returned(number: usize, at: usize, other: Option<usize>, arms: &[Arm]) -> String {
    let rows = |at: usize| match &arms[at].outcome {
        ArmOutcome::Rows(rows) => Some(rows),
        _ => None,
    };
    let label = one_line(&arms[at].label);
    match &arms[at].outcome {
        ArmOutcome::Rows(rows_here) => {
            format!(
                "Query {number} ({label}) returns{}",
                results::block(rows_here, other.and_then(rows), '+')
            )
        }
        ArmOutcome::Done => format!("Query {number} ({label}) succeeds.\n"),
        ArmOutcome::Error(error) => {
            let block = fenced("", &error.message);
            format!("Query {number} ({label}) fails:\n\n{block}")
        }
    }
}

fn settings(finding: &Finding) -> &'static str {
    match finding.triage.with_defaults {
        Some(true) => "It happens with the engine's default settings.",
        Some(false) => {
            "It does not happen with the engine's default settings; the first lines of the script change them."
        }
        None => {
            "The first lines of the script are the settings that Dissent tests with. Whether it shows with the \
             defaults was not checked."
        }
    }
}

fn origin(finding: &Finding) -> String {
    let origin = &finding.origin;
    let depth = match origin.depth {
        0 => String::new(),
        1 => ", changed once".to_string(),
        depth => format!(", changed {depth} times"),
    };
    let checks = if origin.checks > 0 { format!(", after {} checks", origin.checks) } else { String::new() };
    format!(
        "---\nFound by Dissent on `{}` (oracle `{}`, seed {}, database {}{depth}, case {}{checks}).\n",
        finding.target, finding.case.subject.oracle, origin.seed, origin.database, origin.case
    )
}

/// A code block whose fence is longer than any run of backticks inside.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}
