//! Campaigns as one page: self-contained HTML that needs no network and is complete without its script.
//!
//! Everything that is not ours is escaped on its way in (`text`), and a policy in the page lets no other script run.

mod bug;
mod chart;
mod difference;
mod overview;
mod sql;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write;

use super::timeline::Timeline;
use crate::dialect::Dialect;
use crate::finding::Finding;
use text::{escaped, many};

/// All that a page shows.
pub struct Page<'a> {
    /// In the order in which they were named.
    pub campaigns: Vec<Campaign>,
    /// The bugs of all of them, in the order in which they are listed.
    pub bugs: Vec<Bug<'a>>,
    /// Something nobody can guess, by which the page knows its own script.
    pub nonce: &'a str,
    /// What wrote the page, and when: `Dissent 0.1.0, 2026-02-03 04:05 UTC`.
    pub written: String,
    /// The page asks its server for fresh figures.
    pub live: bool,
}

/// A campaign and its figures.
pub struct Campaign {
    /// The name of its directory.
    pub name: String,
    /// The database as the user named it.
    pub target: String,
    /// `SQLite`.
    pub engine: String,
    /// The version that the engine said it has.
    pub version: String,
    /// When it was started: `2026-02-03T04:05:06Z`.
    pub started: String,
    /// Whether it goes on.
    pub progress: Progress,
    /// Where all randomness started.
    pub seed: u64,
    /// How many workers hunted.
    pub jobs: u64,
    /// How long it has run.
    pub wall_seconds: f64,
    /// Databases that were built.
    pub databases: u64,
    /// Statements that were run.
    pub statements: u64,
    /// Those of them that succeeded.
    pub statements_ok: u64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// What the guide saw: what its features are called, and how many there are.
    pub features: Option<(&'static str, u64)>,
    /// What each of its oracles did.
    pub oracles: Vec<Oracle>,
    /// Findings that wait to be reduced.
    pub waiting: u64,
    /// Errors of Dissent itself.
    pub failures: Vec<String>,
    /// How it went.
    pub timeline: Timeline,
}

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is running.
    Running,
    /// It has ended.
    Ended,
    /// It was killed; `hunt --resume` goes on with it.
    Interrupted,
}

/// What an oracle did in a campaign.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    /// Its name.
    pub name: String,
    /// Its part of the time, from 0 to 1, where that was measured.
    pub time: Option<f64>,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// How often it could not tell, by reason.
    pub skips: Vec<(String, u64)>,
}

/// A bug with its smallest example.
pub struct Bug<'a> {
    /// The name of its directory.
    pub id: String,
    /// Its name on the page, where several campaigns may have a bug of one name.
    pub anchor: String,
    /// The number of its campaign; none for a finding that stands alone.
    pub campaign: Option<usize>,
    /// Its smallest example.
    pub finding: &'a Finding,
    /// The dialect of the engine that showed it.
    pub dialect: &'a Dialect,
    /// What is known of it.
    pub state: State,
    /// How many findings were this bug.
    pub count: u64,
    /// The command that checks it again.
    pub replay: String,
}

/// What is known of a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody knew it.
    New,
    /// By this name.
    Known(String),
    /// It is as it was found.
    NotReduced,
}

impl State {
    fn name(&self) -> &'static str {
        match self {
            State::New => "new",
            State::Known(_) => "known",
            State::NotReduced => "not reduced",
        }
    }
}

impl Bug<'_> {
    /// `SQLite 3.30.1`.
    fn engine(&self) -> String {
        format!("{} {}", self.dialect.engine.title, self.finding.engine_version)
    }
}

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// A small picture for the tab: two answers that differ.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
                    %3Cpath d='M2 5.5h12M2 10.5h12M11 2 5 14' stroke='%23b3261e' stroke-width='2' fill='none'/%3E%3C/svg%3E";

/// The whole page.
pub fn page(page: &Page) -> String {
    let mut out = head(page);
    out.push_str(&overview::html(page));
    out.push_str(&bugs(page));
    let _ = write!(
        out,
        "</main>\n<footer data-part=\"written\">Written by {}. Everything on this page is in this file.</footer>\n\
         <script nonce=\"{}\">\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&page.written),
        escaped(page.nonce)
    );
    out
}

fn head(page: &Page) -> String {
    let connect = if page.live { " connect-src 'self';" } else { "" };
    let live =
        if page.live { "<span id=\"live\" class=\"tag good live\" role=\"status\">live</span>" } else { "" };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'nonce-{nonce}'; img-src data:;{connect} base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<link rel=\"icon\" href=\"{ICON}\">\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#bugs-heading\">Skip to the bugs</a>\n\
         <div class=\"bar\"><strong>Dissent</strong>{live}<span class=\"space\"></span>\
         <button type=\"button\" id=\"theme\" class=\"needs-script\">Dark colours</button></div>\n<main>\n",
        escaped(&title(page)),
        nonce = escaped(page.nonce),
    )
}

fn title(page: &Page) -> String {
    let new = page.bugs.iter().filter(|bug| is_new(bug)).count();
    let engines: BTreeSet<String> = match page.campaigns.is_empty() {
        true => page.bugs.iter().map(Bug::engine).collect(),
        false => page
            .campaigns
            .iter()
            .map(|campaign| format!("{} {}", campaign.engine, campaign.version))
            .collect(),
    };
    let engines = Vec::from_iter(engines).join(", ");
    format!("{} in {engines} – Dissent", many(new as u64, "new bug"))
}

fn is_new(bug: &Bug) -> bool {
    !matches!(bug.state, State::Known(_))
}

fn bugs(page: &Page) -> String {
    let alone = page.bugs.len() == 1;
    let articles: String = page.bugs.iter().map(|bug| bug::article(bug, alone)).collect();
    let nothing = match page.bugs.is_empty() {
        true if page.campaigns.iter().any(|campaign| campaign.progress == Progress::Running) => {
            "No bugs yet."
        }
        true => "No bugs were found.",
        false => "",
    };
    format!(
        "<section aria-labelledby=\"bugs-heading\"><h2 id=\"bugs-heading\" tabindex=\"-1\">Bugs</h2>\n{}\
         <p class=\"empty\" id=\"none\" hidden>No bug fits these filters.</p>\
         <p class=\"empty\" data-part=\"nothing\">{nothing}</p>\n<div id=\"bugs\">\n{articles}</div></section>\n",
        filters(page)
    )
}

fn filters(page: &Page) -> String {
    let select = |name: &str, label: &str, any: &str, values: Vec<String>| {
        let values: BTreeSet<String> = values.into_iter().collect();
        let options = values.iter().map(|value| {
            let value = escaped(value);
            format!("<option value=\"{value}\">{value}</option>")
        });
        format!(
            "<label>{label}<select name=\"{name}\"><option value=\"\">{any}</option>{}</select></label>",
            options.collect::<String>()
        )
    };
    let of = |value: &dyn Fn(&Bug) -> String| page.bugs.iter().map(value).collect::<Vec<_>>();
    format!(
        "<form id=\"filters\" class=\"filters needs-script\" role=\"search\" autocomplete=\"off\">\
         <label class=\"search\">Search<input type=\"search\" name=\"search\" placeholder=\"Title, SQL, plan, message …\"></label>\
         {}{}{}{}<button type=\"reset\">Reset</button><output name=\"shown\" aria-live=\"polite\"></output></form>\n",
        select("class", "Class", "all classes", of(&|bug| bug.finding.evidence.class.to_string())),
        select("oracle", "Oracle", "all oracles", of(&|bug| bug.finding.case.subject.oracle.clone())),
        select("engine", "Engine", "all engines", of(&|bug| bug.engine())),
        select("state", "State", "all states", of(&|bug| bug.state.name().to_string())),
    )
}
