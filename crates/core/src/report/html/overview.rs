//! The upper part of the page: what was tested, how much, how it went.

use std::fmt::Write;
use std::time::Duration;

use super::super::numbers::{clock, grouped, percent, short};
use super::super::timeline::Sample;
use super::chart::Chart;
use super::text::{escaped, many};
use super::{Campaign, Oracle, Page, Progress, State, is_new};

pub fn html(page: &Page) -> String {
    match page.campaigns.as_slice() {
        [] => "<h1>Findings</h1>\n".to_string(),
        [only] => format!("<section data-part=\"overview\">{}</section>\n", campaign(page, 0, only, "h1")),
        several => {
            let parts = several.iter().enumerate().map(|(at, one)| campaign(page, at, one, "h2"));
            format!(
                "<section data-part=\"overview\"><h1>{} campaigns</h1>{}{}</section>\n",
                several.len(),
                list(page),
                parts.collect::<String>()
            )
        }
    }
}

/// How many bugs of a campaign are new, and how many were known.
fn bug_counts(page: &Page, at: usize) -> (u64, u64) {
    let own = || page.bugs.iter().filter(|bug| bug.campaign == Some(at));
    let new = own().filter(|bug| is_new(bug)).count() as u64;
    (new, own().count() as u64 - new)
}

/// Several campaigns at a glance.
fn list(page: &Page) -> String {
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" style=\"margin-top:18px\"><table class=\"figures\"><thead><tr><th>Campaign</th><th>State</th>\
         <th class=\"number\">Time</th><th class=\"number\">Statements</th><th class=\"number\">Checks</th>\
         <th class=\"number\">New bugs</th><th class=\"number\">Known bugs</th></tr></thead><tbody>",
    );
    for (at, campaign) in page.campaigns.iter().enumerate() {
        let (new, known) = bug_counts(page, at);
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><a href=\"#campaign-{at}\">{}</a></th><td>{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{new}</td>\
             <td class=\"number\">{known}</td></tr>",
            escaped(&heading(campaign)),
            progress(campaign.progress),
            clock(Duration::from_secs_f64(campaign.wall_seconds.max(0.0))),
            grouped(campaign.statements),
            grouped(campaign.checks),
        );
    }
    out + "</tbody></table></div>"
}

fn heading(campaign: &Campaign) -> String {
    format!("{} {}", campaign.engine, campaign.version)
}

fn progress(progress: Progress) -> &'static str {
    match progress {
        Progress::Running => "<span class=\"tag good\">running</span>",
        Progress::Ended => "<span class=\"tag\">ended</span>",
        Progress::Interrupted => {
            "<span class=\"tag warn\" title=\"dissent hunt --resume continues it\">interrupted</span>"
        }
    }
}

fn campaign(page: &Page, at: usize, campaign: &Campaign, level: &str) -> String {
    let mut out = format!(
        "<div class=\"head\" id=\"campaign-{at}\"{}><{level}>{}</{level}>{}</div>",
        if level == "h1" { "" } else { " style=\"margin-top:36px\"" },
        escaped(&heading(campaign)),
        progress(campaign.progress)
    );
    out.push_str(&facts(campaign));
    out.push_str(&tiles(page, at, campaign));
    if campaign.timeline.samples().len() > 1 {
        out.push_str(&charts(campaign));
    }
    out.push_str(&oracles(page, at, campaign));
    if !campaign.failures.is_empty() {
        let lines = campaign.failures.iter().map(|line| format!("<li>{}</li>", escaped(line)));
        let _ = write!(out, "<h3>Errors of Dissent itself</h3><ul>{}</ul>", lines.collect::<String>());
    }
    out
}

fn facts(campaign: &Campaign) -> String {
    let facts = [
        ("Target", campaign.target.clone()),
        ("Seed", campaign.seed.to_string()),
        ("Workers", campaign.jobs.to_string()),
        ("Started", campaign.started.replace('T', " ").replace('Z', " UTC")),
        ("Time", clock(Duration::from_secs_f64(campaign.wall_seconds.max(0.0)))),
        ("Directory", campaign.name.clone()),
    ];
    let shown = facts.iter().filter(|(_, value)| !value.is_empty());
    let shown = shown.map(|(what, value)| format!("<li>{what} <b>{}</b></li>", escaped(value)));
    format!("<ul class=\"facts\">{}</ul>", shown.collect::<String>())
}

fn tiles(page: &Page, at: usize, campaign: &Campaign) -> String {
    let (new, known) = bug_counts(page, at);
    let not_reduced =
        page.bugs.iter().filter(|bug| bug.campaign == Some(at) && bug.state == State::NotReduced).count();
    let rate = |count: u64| short(count as f64 / campaign.wall_seconds.max(0.001));
    let mut waiting = Vec::new();
    if not_reduced > 0 {
        waiting.push(format!("{} not reduced", grouped(not_reduced as u64)));
    }
    if campaign.waiting > 0 {
        waiting.push(format!("{} waiting", many(campaign.waiting, "finding")));
    }
    let mut tiles = vec![
        (if new > 0 { "tile alarm" } else { "tile" }, "New bugs", grouped(new), waiting.join(", ")),
        (
            "tile",
            "Known bugs",
            grouped(known),
            if known > 0 { "found again".to_string() } else { String::new() },
        ),
        ("tile", "Checks", grouped(campaign.checks), format!("{}/s", rate(campaign.checks))),
        (
            "tile",
            "Statements",
            grouped(campaign.statements),
            format!(
                "{}/s, {} valid",
                rate(campaign.statements),
                unbroken(&percent(campaign.statements_ok, campaign.statements))
            ),
        ),
        ("tile", "Databases", grouped(campaign.databases), String::new()),
    ];
    if let Some((what, count)) = campaign.features {
        tiles.push(("tile", capitalised(what), grouped(count), "seen by the guide".to_string()));
    }
    let shown = tiles.into_iter().map(|(class, what, figure, more)| {
        format!(
            "<div class=\"{class}\"><dt>{what}</dt><dd class=\"figure\">{figure}</dd><dd class=\"more\">{}</dd></div>",
            escaped(&more)
        )
    });
    format!("<dl class=\"tiles\">{}</dl>", shown.collect::<String>())
}

/// What the guide's features are called, where a heading names them.
fn capitalised(what: &str) -> &'static str {
    if what.contains("plan") { "Plan steps" } else { "Code blocks" }
}

fn charts(campaign: &Campaign) -> String {
    let samples = campaign.timeline.samples();
    // Old campaigns sampled neither checks nor bugs.
    let last = campaign.timeline.last();
    let (title, unit) = match last.checks {
        0 => ("Statements per second", "statements/s"),
        _ => ("Checks per second", "checks/s"),
    };
    let mut charts =
        vec![Chart { title, unit, class: "rate", points: rates(samples, last.checks > 0), steps: false }];
    let over_time = |value: fn(&Sample) -> u64| {
        let points = samples.iter().map(|sample| (sample.seconds, value(sample) as f64));
        [(0.0, 0.0)].into_iter().chain(points).collect()
    };
    if let Some((what, _)) = campaign.features {
        let plans = what.contains("plan");
        charts.push(Chart {
            title: if plans { "Different plan steps seen" } else { "Basic blocks of the code covered" },
            unit: if plans { "steps" } else { "blocks" },
            class: "features",
            points: over_time(|sample| sample.features),
            steps: false,
        });
    }
    if last.checks > 0 {
        let points = over_time(|sample| sample.bugs);
        charts.push(Chart { title: "New bugs", unit: "bugs", class: "bugs", points, steps: true });
    }
    format!("<div class=\"charts\">{}</div>", charts.iter().map(Chart::html).collect::<String>())
}

/// How many checks, or statements, each second of a stretch had.
fn rates(samples: &[Sample], of_checks: bool) -> Vec<(f64, f64)> {
    let mut before = (0.0, 0);
    let mut rates = Vec::new();
    for sample in samples {
        let count = if of_checks { sample.checks } else { sample.statements };
        let seconds = sample.seconds - before.0;
        // The last sample may follow upon the one before it.
        if seconds >= 0.5 {
            rates.push((sample.seconds, count.saturating_sub(before.1) as f64 / seconds));
            before = (sample.seconds, count);
        }
    }
    rates
}

/// A number and its unit stay on one line.
fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// How many reasons for skipping are shown.
const REASONS: usize = 3;

fn oracles(page: &Page, at: usize, campaign: &Campaign) -> String {
    if campaign.oracles.is_empty() {
        return String::new();
    }
    let timed = campaign.oracles.iter().any(|oracle| oracle.time.is_some());
    let rows = campaign.oracles.iter().map(|oracle| {
        let own =
            |bug: &&super::Bug| bug.campaign == Some(at) && bug.finding.case.subject.oracle == oracle.name;
        row(oracle, page.bugs.iter().filter(own).filter(|bug| is_new(bug)).count(), timed)
    });
    format!(
        "<h2>Oracles</h2><div class=\"scroll\" tabindex=\"0\"><table class=\"figures\"><thead><tr><th>Oracle</th>{}\
         <th class=\"number\">Checks</th><th class=\"number\">Skipped</th><th class=\"reasons\">Most frequent reasons</th>\
         <th class=\"number\">New bugs</th></tr></thead><tbody>{}</tbody></table></div>",
        if timed { "<th>Share of time</th>" } else { "" },
        rows.collect::<String>()
    )
}

fn row(oracle: &Oracle, bugs: usize, timed: bool) -> String {
    let skips: u64 = oracle.skips.iter().map(|(_, count)| count).sum();
    let all = skips + oracle.checks;
    let mut reasons: Vec<&(String, u64)> = oracle.skips.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<String> = reasons
        .into_iter()
        .take(REASONS)
        .map(|(reason, count)| format!("{} ({})", escaped(reason), unbroken(&percent(*count, all))))
        .collect();
    let time = match oracle.time {
        Some(share) => format!(
            "<td class=\"number\" style=\"text-align:left\"><span class=\"share\" aria-hidden=\"true\"><i style=\"width:{:.1}%\"></i></span>{:.1} %</td>",
            (share * 100.0).clamp(0.0, 100.0),
            share * 100.0
        ),
        None if timed => "<td>–</td>".to_string(),
        None => String::new(),
    };
    format!(
        "<tr{}><th scope=\"row\" class=\"mono\">{}</th>{time}<td class=\"number\">{}</td><td class=\"number\">{}</td>\
         <td class=\"reasons\">{}</td><td class=\"number\">{}</td></tr>",
        if all == 0 && bugs == 0 { " class=\"idle\"" } else { "" },
        escaped(&oracle.name),
        grouped(oracle.checks),
        percent(skips, all),
        reasons.join(", "),
        if bugs == 0 { "–".to_string() } else { bugs.to_string() },
    )
}
