use super::super::timeline::Sample;
use super::*;
use crate::engine::Rows;
use crate::finding::{Arm, ArmOutcome, Class, Evidence, FINDING_FORMAT, Failure, History, Origin, Side};
use crate::sql::{Statement, Value};
use crate::subject::{Subject, TestCase};

/// What a finding could hold at worst, wherever text can be.
const EVIL: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='alert(1)' <!-- ]]> {{x}}";

fn finding(text: &str) -> Finding {
    let arm = |label: &str, values: Vec<Value>| Arm {
        label: format!("{label}{text}"),
        sql: format!("SELECT '{text}' FROM t0"),
        outcome: ArmOutcome::Rows(Rows { columns: 1, values }),
        plan: Some(format!("SCAN {label}\nSCAN t1 {text}")),
    };
    let value = |value: &str| Value::Text(value.to_string());
    Finding {
        format: FINDING_FORMAT,
        target: "sqlite@3.30.1".to_string(),
        dialect: "sqlite".to_string(),
        engine_version: "3.30.1".to_string(),
        case: TestCase {
            setup: vec![Statement::Raw(format!("CREATE TABLE t0 (c0 TEXT DEFAULT '{text}')"))],
            subject: Subject::of("norec", vec![Statement::Raw("SELECT 1".to_string())]),
        },
        evidence: Evidence {
            class: Class::WrongRows,
            relation: format!("both return the same rows{text}"),
            arms: vec![
                arm("first", vec![value("a"), value(text)]),
                arm("second", vec![value("a"), Value::Null]),
            ],
            failure: Failure::Rows {
                first: Side { rows: 2, only: 1, examples: vec![vec![value(text)]] },
                second: Side { rows: 2, only: 1, examples: vec![vec![Value::Null]] },
            },
            explanation: Some(format!("the first{text}")),
        },
        origin: Origin { seed: 42, database: 7, case: 11, depth: 0, checks: 12_345 },
        triage: Default::default(),
    }
}

fn campaign(text: &str) -> Campaign {
    let mut timeline = Timeline::default();
    for second in [2_u32, 4, 6] {
        let count = u64::from(second);
        timeline.push(Sample {
            seconds: f64::from(second),
            statements: count * 1000,
            valid: count * 990,
            checks: count * 300,
            features: 50 + count,
            bugs: count / 3,
            memory: 1 << 20,
        });
    }
    Campaign {
        name: format!("out{text}"),
        target: format!("sqlite@3.30.1{text}"),
        engine: "SQLite".to_string(),
        version: format!("3.30.1{text}"),
        started: "2026-02-03T04:05:06Z".to_string(),
        progress: Progress::Ended,
        seed: 42,
        jobs: 2,
        wall_seconds: 6.5,
        databases: 12,
        statements: 6000,
        statements_ok: 5940,
        checks: 1800,
        features: Some(("steps of plans", 56)),
        oracles: vec![Oracle {
            name: "norec".to_string(),
            time: Some(0.25),
            checks: 900,
            skips: vec![("one arm fails".to_string(), 40), (format!("other{text}"), 60)],
        }],
        waiting: 3,
        failures: vec![format!("a worker ended{text}")],
        timeline,
    }
}

fn shown(campaigns: Vec<Campaign>, findings: &[(Finding, State)], id: &str) -> String {
    let dialect = Dialect::load("sqlite", "3.30.1").unwrap();
    let bug = |(at, (finding, state)): (usize, &'_ (Finding, State))| (at, finding.clone(), state.clone());
    let owned: Vec<(usize, Finding, State)> = findings.iter().enumerate().map(bug).collect();
    let bugs = owned.iter().map(|(at, finding, state)| Bug {
        id: format!("{id}{at}"),
        anchor: format!("{id}{at}"),
        campaign: Some(0),
        finding,
        dialect: &dialect,
        state: state.clone(),
        count: 2,
        replay: format!("dissent replay {id}"),
    });
    let bugs = bugs.collect();
    page(&Page { campaigns, bugs, nonce: "n0", written: "Dissent 0.0.0, now".to_string(), live: false })
}

/// The tags of a page outside of its own script and style.
fn tags(page: &str) -> Vec<String> {
    let page = page.replace(SCRIPT, "").replace(STYLE, "");
    let mut tags: Vec<String> =
        page.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or("").to_string()).collect();
    tags.retain(|tag| !tag.starts_with('/'));
    tags
}

#[test]
fn nothing_foreign_becomes_markup() {
    let findings =
        |text: &str| [(finding(text), State::New), (finding(text), State::Known(format!("known{text}")))];
    let plain = shown(vec![campaign("")], &findings(""), "id");
    let evil = shown(vec![campaign(EVIL)], &findings(EVIL), &format!("id{EVIL}"));
    let names = |page: &str| {
        // Strings and comments of SQL are spans, of which an evil text has others than a plain one.
        let tags = tags(page).into_iter().filter(|tag| !tag.starts_with("span class=\"") || tag.len() > 14);
        tags.map(|tag| tag.split([' ', '\n']).next().unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&evil), names(&plain));
    for tag in tags(&evil) {
        // Outside of quotes there is nothing but our own attributes.
        let bare: String = tag.split('"').step_by(2).collect();
        assert!(!bare.contains("onerror") && !bare.contains("onload") && !bare.contains("alert"), "{tag}");
    }
    assert_eq!(evil.matches("<script").count(), 1 + SCRIPT.matches("<script").count());
    assert!(evil.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

#[test]
fn a_page_needs_nothing_from_outside() {
    let page = shown(vec![campaign("")], &[(finding(""), State::New)], "id");
    for outside in ["http:", "https:", "//cdn", "@import", "url(", "src="] {
        let own = ["http://www.w3.org/2000/svg"];
        let without = own.iter().fold(page.clone(), |page, own| page.replace(own, ""));
        assert!(!without.contains(outside), "{outside}");
    }
}

#[test]
fn rows_that_differ_and_lines_of_plans_are_marked() {
    let page = shown(vec![campaign("")], &[(finding(" x"), State::New)], "id");
    assert!(page.contains("<tr><td>&#39;a&#39;</td><td class=\"note\"></td></tr>"), "{page}");
    assert!(page.contains("<tr class=\"only\"><td>&#39; x&#39;</td><td class=\"note\">differs</td></tr>"));
    assert!(
        page.contains("<tr class=\"only\"><td class=\"null\">NULL</td><td class=\"note\">differs</td></tr>")
    );
    assert!(
        page.contains(
            "<span class=\"line only\">SCAN first\n</span><span class=\"line\">SCAN t1  x\n</span>"
        )
    );
}

#[test]
fn a_page_shows_what_was_done() {
    let mut dated = finding("");
    dated.triage.history = Some(History {
        last_good: Some("3.29.0".to_string()),
        first_bad: "3.30.0".to_string(),
        last_bad: "3.30.1".to_string(),
        ..History::default()
    });
    let page = shown(vec![campaign("")], &[(dated, State::NotReduced)], "norec-wrong-rows-00");
    for part in [
        "<title>1 new bug in SQLite 3.30.1 – Dissent</title>",
        "<h1>SQLite 3.30.1</h1><span class=\"tag\">ended</span>",
        "Seed <b>42</b>",
        "Started <b>2026-02-03 04:05:06 UTC</b>",
        "<dt>Checks</dt><dd class=\"figure\">1,800</dd><dd class=\"more\">277/s</dd>",
        "923/s, 99.0\u{a0}% valid",
        "1 not reduced, 3 findings waiting",
        "25.0 %</td><td class=\"number\">900</td><td class=\"number\">10.0 %</td>",
        "other (6.0\u{a0}%), one arm fails (4.0\u{a0}%)",
        "aria-label=\"Checks per second over 0:06: 300 at the end, 300 at most\"",
        "<span class=\"tag good\">3.29.0</span> good</li>",
        "data-copy=\"script-norec-wrong-rows-000\"",
        "id=\"issue-norec-wrong-rows-000\"",
        "after 12,345 checks",
        "not reduced",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn a_page_may_hold_no_campaign_or_several() {
    let alone = shown(Vec::new(), &[(finding(""), State::New)], "id");
    assert!(alone.contains("<h1>Findings</h1>") && alone.contains("<details open>"), "{alone}");
    let several = shown(vec![campaign(""), campaign("")], &[], "id");
    assert!(
        several.contains("<h1>2 campaigns</h1>") && several.contains("href=\"#campaign-1\""),
        "{several}"
    );
    assert!(several.contains("No bugs were found."), "{several}");
}
