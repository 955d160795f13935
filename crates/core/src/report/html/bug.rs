//! One bug on the page: a line that says what it is, and behind it all that a developer needs.

use std::fmt::Write;

use super::super::numbers::grouped;
use super::super::{cause, failure, history, outcome_lines, report, repro, sentence, title};
use super::difference::{marked_lines, marked_rows};
use super::sql::highlighted;
use super::text::{escaped, many};
use super::{Bug, State};
use crate::engine::Rows;
use crate::finding::{Arm, ArmOutcome, Class, Evidence, History};
use crate::hash::fnv1a;
use crate::sql::Value;

/// How many rows of a result are shown; those that differ come first.
const ROWS: usize = 30;

pub fn article(bug: &Bug, open: bool) -> String {
    let details = format!(
        "<details{}>{}<div class=\"body\">{}</div></details>",
        if open { " open" } else { "" },
        heading(bug),
        body(bug)
    );
    // So that a page that is open replaces only what changed.
    let version = fnv1a(details.as_bytes());
    let finding = bug.finding;
    format!(
        "<article class=\"bug\" id=\"{}\" data-class=\"{}\" data-oracle=\"{}\" data-engine=\"{}\" data-state=\"{}\" \
         data-version=\"{version:x}\">{details}</article>\n",
        escaped(&bug.anchor),
        finding.evidence.class,
        escaped(&finding.case.subject.oracle),
        escaped(&bug.engine()),
        bug.state.name(),
    )
}

fn heading(bug: &Bug) -> String {
    let finding = bug.finding;
    let mut chips = vec![
        format!("<span class=\"mono\">{}</span>", escaped(&finding.case.subject.oracle)),
        escaped(&bug.engine()),
        many(finding.case.setup.len() as u64, "setup statement"),
    ];
    if bug.count > 1 {
        chips.push(format!("seen {} times", grouped(bug.count)));
    }
    chips.push(format!("<span class=\"mono\">{}</span>", escaped(&bug.id)));
    let chips: Vec<String> = chips.into_iter().map(|chip| format!("<span>{chip}</span>")).collect();
    format!(
        "<summary><span class=\"title\">{}</span><span>{} {}</span><span class=\"chips\">{}</span></summary>",
        escaped(&title(finding, bug.dialect)),
        state_tag(&bug.state),
        class_tag(finding.evidence.class),
        chips.join("")
    )
}

fn state_tag(state: &State) -> String {
    match state {
        State::New => String::new(),
        State::Known(name) => format!("<span class=\"tag\" title=\"{}\">known</span>", escaped(name)),
        State::NotReduced => "<span class=\"tag warn\">not reduced</span>".to_string(),
    }
}

fn class_tag(class: Class) -> String {
    let tone = match class {
        Class::WrongRows | Class::WrongValues => "bad",
        Class::Crash | Class::Hang => "grave",
        Class::InternalError => "warn",
        Class::ErrorDivergence | Class::Representation | Class::Changed => "plain",
    };
    format!("<span class=\"tag {tone}\">{}</span>", class.name().replace('-', " "))
}

fn body(bug: &Bug) -> String {
    let evidence = &bug.finding.evidence;
    let mut out = String::from("<dl class=\"says\">");
    let mut say = |what: &str, text: &str| {
        if !text.trim().is_empty() {
            let _ = write!(out, "<dt>{what}</dt><dd>{}</dd>", escaped(text));
        }
    };
    say("Must hold", &sentence(&evidence.relation));
    say("Instead", &failure(evidence));
    let engine = &bug.finding.triage.engine;
    let about: Vec<&str> = [&engine.about, &engine.built].into_iter().flatten().map(String::as_str).collect();
    say("Version", &about.join("; "));
    if let Some(newest) = &bug.finding.triage.newest {
        let fails = if newest.fails { "fails too" } else { "does not fail" };
        say("Newest version", &format!("{} {fails}", newest.version));
    }
    if let State::Known(name) = &bug.state {
        say("Known as", name);
    }
    if let Some(cause) = cause(bug.finding, bug.dialect) {
        say("Cause", &cause);
    }
    if let Some(signature) = &bug.finding.triage.signature {
        say("Signature", &signature.to_string());
    }
    out.push_str("</dl>");
    out.push_str(&script(bug));
    out.push_str(&arms(evidence));
    out.push_str(&plans(evidence));
    if let Some(range) = &bug.finding.triage.history {
        out.push_str(&versions(range));
    }
    out.push_str(&issue(bug));
    out.push_str(&origin(bug));
    out
}

fn script(bug: &Bug) -> String {
    let id = escaped(&bug.anchor);
    format!(
        "<h3>Script</h3><div class=\"block\"><div class=\"tools needs-script\">\
         <button type=\"button\" data-copy=\"script-{id}\">Copy script</button>\
         <button type=\"button\" data-copy=\"issue-{id}\">Copy issue text</button></div>\
         <pre class=\"sql\" tabindex=\"0\"><code id=\"script-{id}\">{}</code></pre></div>",
        highlighted(&repro(bug.finding, bug.dialect))
    )
}

fn arms(evidence: &Evidence) -> String {
    let marks = marked_rows(evidence);
    let shown = evidence.arms.iter().zip(&marks).map(|(arm, marks)| {
        format!(
            "<div class=\"arm\"><h4>{}</h4><pre class=\"sql wrap\"><code>{}</code></pre>{}</div>",
            escaped(&arm.label),
            highlighted(&arm.sql),
            outcome(arm, marks)
        )
    });
    let shown: String = shown.collect();
    if shown.is_empty() {
        shown
    } else {
        format!("<h3>Queries and results</h3><div class=\"arms\">{shown}</div>")
    }
}

fn outcome(arm: &Arm, marks: &[bool]) -> String {
    let heading = outcome_lines(&arm.outcome, 0).swap_remove(0);
    let failed = if matches!(arm.outcome, ArmOutcome::Error(_)) { " failed" } else { "" };
    let heading = format!("<p class=\"outcome{failed}\">{}</p>", escaped(heading.trim_end_matches(':')));
    match &arm.outcome {
        ArmOutcome::Rows(rows) if !rows.is_empty() => heading + &table(rows, marks),
        _ => heading,
    }
}

fn table(rows: &Rows, marks: &[bool]) -> String {
    let mut all: Vec<(&[Value], bool)> = rows.iter().zip(marks.iter().copied()).collect();
    let marked = all.iter().any(|(_, only)| *only);
    if all.len() > ROWS {
        all.sort_by_key(|(_, only)| !only);
    }
    let mut out = String::from("<div class=\"rows\" tabindex=\"0\"><table>");
    for (row, only) in all.iter().take(ROWS) {
        out.push_str(if *only { "<tr class=\"only\">" } else { "<tr>" });
        for value in *row {
            let class = if value.is_null() { " class=\"null\"" } else { "" };
            let _ = write!(out, "<td{class}>{}</td>", escaped(&value.to_string()));
        }
        if marked {
            out.push_str(if *only { "<td class=\"note\">differs</td>" } else { "<td class=\"note\"></td>" });
        }
        out.push_str("</tr>");
    }
    out.push_str("</table></div>");
    if all.len() > ROWS {
        let _ = write!(out, "<p class=\"outcome\">… and {} more</p>", grouped((all.len() - ROWS) as u64));
    }
    out
}

fn plans(evidence: &Evidence) -> String {
    let plan = |arm: &Arm| arm.plan.clone().filter(|plan| !plan.trim().is_empty());
    let plans: Vec<(&Arm, String)> = evidence.arms.iter().filter_map(|arm| Some((arm, plan(arm)?))).collect();
    let shown = plans.iter().enumerate().map(|(at, (arm, plan))| {
        let others = plans.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<&str> = others.map(|(_, (_, plan))| plan.as_str()).collect();
        let lines = marked_lines(plan, &others).into_iter().map(|(line, only)| {
            format!("<span class=\"line{}\">{}\n</span>", if only { " only" } else { "" }, escaped(line))
        });
        format!(
            "<div class=\"arm\"><h4>{}</h4><pre class=\"plan\" tabindex=\"0\"><code>{}</code></pre></div>",
            escaped(&arm.label),
            lines.collect::<String>()
        )
    });
    let shown: String = shown.collect();
    if shown.is_empty() { shown } else { format!("<h3>Plans</h3><div class=\"arms\">{shown}</div>") }
}

fn versions(range: &History) -> String {
    let tag = |tone: &str, version: &str, what: &str| {
        format!("<li><span class=\"tag {tone}\">{}</span> {what}</li>", escaped(version))
    };
    let gap = "<li class=\"gap\" aria-hidden=\"true\">→</li>";
    let mut steps = Vec::new();
    steps.extend(range.last_good.as_deref().map(|good| tag("good", good, "good")));
    steps.push(tag("bad", &range.first_bad, "first that fails"));
    if range.last_bad != range.first_bad {
        steps.push(tag("bad", &range.last_bad, "last that fails"));
    }
    steps.extend(range.first_good.as_deref().map(|good| tag("good", good, "good")));
    format!(
        "<h3>Versions</h3><ol class=\"versions\">{}</ol><p class=\"outcome\">{}</p>",
        steps.join(gap),
        escaped(&history(range))
    )
}

fn issue(bug: &Bug) -> String {
    format!(
        "<details class=\"fold\"><summary>Issue text (Markdown)</summary>\
         <pre class=\"wrap\" tabindex=\"0\"><code id=\"issue-{}\">{}</code></pre></details>",
        escaped(&bug.anchor),
        escaped(&report(bug.finding, bug.dialect))
    )
}

fn origin(bug: &Bug) -> String {
    let origin = &bug.finding.origin;
    let checks = match origin.checks {
        0 => String::new(),
        checks => format!(", after {} checks", grouped(checks)),
    };
    format!(
        "<p class=\"origin\">Seed {}, database {}, case {}{checks}. Check it again: <code>{}</code></p>",
        origin.seed,
        origin.database,
        origin.case,
        escaped(&bug.replay)
    )
}
