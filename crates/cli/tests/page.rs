//! The page of a campaign, as a reader meets it: opened in a browser, from a file and from `dissent serve`.

#[path = "support/browser.rs"]
mod browser;
mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use browser::Browser;
use dissent_core::engine::Rows;
use dissent_core::finding::{Arm, ArmOutcome, Class, Failure, Finding, ReductionNote, Side, Signature};
use dissent_core::sql::Value;
use serde_json::{Value as Json, json};
use support::served::Server;
use support::{BINARY, dissent, norec_finding, run, wait_for};

/// Text that would take over a page that believed it. It sets a flag if it ever runs.
const EVIL: &str = "</script><script>window.taken = true</script><img src=x onerror=\"window.taken = true\">";

fn finding(class: Class, oracle: &str, text: &str) -> Finding {
    let setup = format!("CREATE TABLE t0(c0 TEXT DEFAULT '{}')", text.replace('\'', "''"));
    let mut finding = norec_finding(&[&setup]);
    let rows = |values: &[&str]| {
        let values: Vec<Value> = values.iter().map(|value| Value::Text(value.to_string())).collect();
        ArmOutcome::Rows(Rows { columns: 1, values })
    };
    let arm = |label: &str, outcome, plan: &str| Arm {
        label: label.to_string(),
        sql: format!("SELECT c0 FROM t0 WHERE c0 <> '{text}'"),
        outcome,
        plan: Some(plan.to_string()),
    };
    let side = |value: &str| Side { rows: 2, only: 1, examples: vec![vec![Value::Text(value.to_string())]] };
    finding.case.subject.oracle = oracle.to_string();
    finding.evidence.class = class;
    finding.evidence.relation = format!("both return the same rows {text}");
    finding.evidence.arms = vec![
        arm("with the index", rows(&["same", text]), "SEARCH t0 USING INDEX i0"),
        arm("without it", rows(&["same", "other"]), "SCAN t0"),
    ];
    finding.evidence.failure = Failure::Rows { first: side(text), second: side("other") };
    finding
}

fn reduced(mut finding: Finding) -> Finding {
    finding.triage.reduction = Some(ReductionNote {
        checks: 9,
        complete: true,
        statements_before: 9,
        tokens_before: 90,
        tokens: 9,
        seconds: None,
    });
    let features = ["like".to_string()].into();
    finding.triage.signature =
        Some(Signature { fails: "wrong-result".to_string(), message: Vec::new(), features });
    finding
}

fn bug(id: &str, finding: &Finding, known: Option<&str>) -> Json {
    json!({
        "id": id, "oracle": finding.case.subject.oracle, "class": finding.evidence.class.name(), "known": known,
        "signature": finding.triage.signature, "count": 3, "statements": 1, "tokens": 9,
    })
}

/// Puts findings into a campaign as a hunt does.
fn write_bugs(campaign: &Path, findings: &[(&str, Finding, Option<&str>)]) {
    for (id, finding, _) in findings {
        let directory = campaign.join("findings").join(id);
        std::fs::create_dir_all(&directory).unwrap();
        support::write_finding(&directory, finding);
    }
    let list: Vec<Json> = findings.iter().map(|(id, finding, known)| bug(id, finding, *known)).collect();
    let written = campaign.join(".bugs.tmp");
    std::fs::write(&written, serde_json::to_string(&list).unwrap()).unwrap();
    std::fs::rename(written, campaign.join("bugs.json")).unwrap();
}

/// A short hunt that finds nothing, with three findings of every sort put into it.
fn campaign(place: &Path) {
    let hunt = [
        "hunt",
        "--jobs",
        "1",
        "--seed",
        "1",
        "--time",
        "5s",
        "--oracles",
        "norec,tlp-where",
        "--guide",
        "plan",
        "--out",
        "out",
    ];
    let said = run(dissent(place).args(hunt));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    write_bugs(&place.join("out"), &findings());
}

fn findings() -> Vec<(&'static str, Finding, Option<&'static str>)> {
    vec![
        ("norec-wrong-rows-aaaaaa", reduced(finding(Class::WrongRows, "norec", EVIL)), None),
        (
            "tlp-where-wrong-values-bbbbbb",
            reduced(finding(Class::WrongValues, "tlp-where", "pear")),
            Some("pears"),
        ),
        ("norec-crash-cccccc", finding(Class::Crash, "norec", "plum"), None),
    ]
}

/// The ids of the bugs that are shown.
const SHOWN: &str =
    "[...document.querySelectorAll('#bugs > .bug')].filter(bug => !bug.hidden).map(bug => bug.id).join(' ')";

#[test]
fn the_page_opens_filters_and_copies() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    campaign(place);
    let said = run(dissent(place).args(["report", "out", "--format", "html", "--out", "page.html"]));
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{}", said.stderr);
    let Some(mut browser) = Browser::start() else { return };
    let permissions = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.call("Browser.grantPermissions", permissions);
    browser.open_file(&place.join("page.html"));
    let text = |browser: &mut Browser, selector: &str| {
        browser
            .ask(&format!("document.querySelector({})?.textContent", json!(selector)))
            .as_str()
            .unwrap_or("")
            .to_string()
    };
    assert_eq!(browser.ask("document.title"), json!("2 new bugs in SQLite 3.54.1 – Dissent"));
    assert_eq!(browser.ask("document.querySelectorAll('.chart path.curve').length"), json!(3));
    assert!(text(&mut browser, ".tiles").contains("Checks"));

    // Filters: each alone, and together with the search.
    let (wrong, known, crash) =
        ("norec-wrong-rows-aaaaaa", "tlp-where-wrong-values-bbbbbb", "norec-crash-cccccc");
    assert_eq!(browser.ask(SHOWN), json!(format!("{wrong} {crash} {known}")));
    let choose = |browser: &mut Browser, name: &str, value: &str| {
        browser.ask(&format!(
            "(() => {{ const select = document.querySelector('#filters [name={name}]'); select.value = {};\
             select.dispatchEvent(new Event('input', {{bubbles: true}})); }})()",
            json!(value)
        ));
    };
    for (name, value, expected) in [
        ("class", "crash", crash.to_string()),
        ("oracle", "tlp-where", known.to_string()),
        ("state", "new", wrong.to_string()),
        ("state", "known", known.to_string()),
        ("state", "not reduced", crash.to_string()),
        ("engine", "SQLite 3.0.0", format!("{wrong} {crash} {known}")),
    ] {
        choose(&mut browser, name, value);
        assert_eq!(browser.ask(SHOWN), json!(expected), "{name} {value}");
        choose(&mut browser, name, "");
    }
    browser.click("#filters input");
    browser.type_text("PLUM scan");
    assert_eq!(browser.ask(SHOWN), json!(crash));
    assert_eq!(text(&mut browser, "#filters output"), "1 of 3 bugs");
    browser.type_text(" no such thing");
    assert_eq!(browser.ask("document.querySelector('#none').hidden"), json!(false));
    browser.click("#filters button[type=reset]");
    browser.wait(&format!("{SHOWN}.split(' ').length === 3"));

    // A bug opens by the keyboard, and shows where the rows differ.
    browser.ask("document.querySelector('.bug summary').focus()");
    for kind in ["keyDown", "keyUp"] {
        let enter =
            json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"});
        browser.call("Input.dispatchKeyEvent", enter);
    }
    browser.wait("document.querySelector('.bug details').open");
    let marked = browser.ask("[...document.querySelectorAll('.bug')][0].querySelectorAll('tr.only').length");
    assert_eq!(marked, json!(2));

    // Copying gives the very script and the very report.
    for (what, format) in [("script", "sql"), ("issue", "markdown")] {
        browser.click(&format!("button[data-copy='{what}-{wrong}']"));
        browser.wait(&format!(
            "document.querySelector(\"button[data-copy='{what}-{wrong}']\").textContent === 'Copied'"
        ));
        let copied = browser.ask("navigator.clipboard.readText()");
        let expected =
            run(dissent(place).args(["report", &format!("out/findings/{wrong}"), "--format", format])).stdout;
        assert_eq!(copied.as_str().unwrap().trim(), expected.trim(), "{what}");
    }

    // Values under the pointer.
    let before = text(&mut browser, ".chart .readout");
    browser.point_at(".chart svg", 0.5);
    browser.wait("/ at 0:0\\d$/.test(document.querySelector('.chart .readout').textContent)");
    browser.point_at("h1", 0.5);
    browser.wait(&format!("document.querySelector('.chart .readout').textContent === {}", json!(before)));

    // Colours.
    let background = "getComputedStyle(document.documentElement).backgroundColor";
    let light = browser.ask(background);
    browser.click("#theme");
    assert_ne!(browser.ask(background), light);
    browser.click("#theme");
    assert_eq!(browser.ask(background), light);

    // A phone: nothing is wider than the screen.
    let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    browser.ask("document.querySelectorAll('.bug details').forEach(details => { details.open = true; })");
    assert_eq!(browser.ask("document.documentElement.scrollWidth"), json!(390));

    assert_eq!(browser.ask("window.taken"), Json::Null, "text of a finding ran as a script");
    assert_eq!(browser.ask("document.querySelectorAll('img, #bugs script').length"), json!(0));
    assert_eq!(browser.complaints, [] as [&str; 0]);
    let outside: Vec<&String> = browser.requests.iter().filter(|url| !url.starts_with("file:")).collect();
    let outside: Vec<&&String> = outside.iter().filter(|url| !url.starts_with("data:")).collect();
    assert!(outside.is_empty(), "{outside:?}");
}

/// The value of a metric by its name and labels.
fn metric(text: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let mut lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")));
    let line = lines.find(|line| labels.iter().all(|label| line.contains(label)))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn a_served_page_follows_the_hunt() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let mut hunt = Command::new(BINARY)
        .args(["hunt", "--jobs", "1", "--seed", "1", "--oracles", "norec", "--out", "out"])
        .current_dir(place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the hunt writes its figures", || place.join("out/summary.json").exists().then_some(()));
    let mut server = Server::start(place, &["out"]);
    let statements = || metric(&server.get("/metrics"), "dissent_statements_total", &[]).unwrap();
    let before = statements();
    wait_for("the hunt goes on", || (statements() > before).then_some(()));
    let running = |server: &Server| metric(&server.get("/metrics"), "dissent_running", &["campaign=\"out\""]);
    assert_eq!(running(&server), Some(1.0));
    let summary: Json = serde_json::from_str(&server.get("/summary.json")).unwrap();
    assert_eq!(summary["running"]["process"], hunt.id());

    let browser = Browser::start();
    if let Some(mut browser) = browser {
        browser.open(&format!("http://{}/", server.address));
        assert_eq!(browser.ask("document.querySelector('.head .tag').textContent"), json!("running"));
        let checks = "document.querySelectorAll('.tile .figure')[2].textContent";
        let before = browser.ask(checks);
        browser.wait(&format!("{checks} !== {before}"));
        // A bug comes while the reader has typed something, and has opened another.
        let mut findings = findings();
        let late = findings.split_off(2);
        write_bugs(&place.join("out"), &findings);
        browser.wait("document.querySelectorAll('#bugs > .bug').length === 2");
        browser.click("#filters input");
        browser.type_text("pear");
        browser.ask("document.querySelector('#tlp-where-wrong-values-bbbbbb details').open = true");
        findings.extend(late);
        write_bugs(&place.join("out"), &findings);
        browser.wait("document.querySelectorAll('#bugs > .bug').length === 3");
        assert_eq!(browser.ask(SHOWN), json!("tlp-where-wrong-values-bbbbbb"));
        assert_eq!(browser.ask("document.querySelector('#filters [name=search]').value"), json!("pear"));
        assert_eq!(
            browser.ask("document.querySelector('#tlp-where-wrong-values-bbbbbb details').open"),
            json!(true)
        );
        assert_eq!(browser.ask("window.taken"), Json::Null, "text of a finding ran as a script");
        // Nothing is said of a campaign that was killed but what is true.
        hunt.kill().unwrap();
        hunt.wait().unwrap();
        browser.wait("document.querySelector('.head .tag').textContent === 'interrupted'");
        assert_eq!(browser.complaints, [] as [&str; 0]);
        let own = format!("http://{}/", server.address);
        let outside = browser.requests.iter().filter(|url| **url != own && !url.starts_with("data:"));
        assert_eq!(outside.count(), 0, "{:?}", browser.requests);
    }
    let _ = hunt.kill();
    hunt.wait().unwrap();
    assert_eq!(running(&server), Some(0.0));

    // Ctrl-C stops it, and well.
    let interrupted = Command::new("kill").args(["-INT", &server.process.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

#[test]
fn the_server_answers_what_it_should_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    campaign(place);
    let server = Server::start(place, &["out", "out"]);
    let head = |request: &str| server.ask(request).0;
    let address = &server.address;
    assert!(head(&format!("POST / HTTP/1.1\r\nHost: {address}\r\n\r\n")).starts_with("HTTP/1.1 405 "));
    assert!(head("GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n").starts_with("HTTP/1.1 403 "));
    for path in ["/../out/campaign.json", "/out/campaign.json", "/nothing"] {
        assert!(
            head(&format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")).starts_with("HTTP/1.1 404 "),
            "{path}"
        );
    }
    let (page, body) = server.ask(&format!("HEAD / HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && body.is_empty(), "{page}");
    let etag = page.lines().find_map(|line| line.strip_prefix("ETag: ")).expect("the page has a tag");
    let again = head(&format!("GET / HTTP/1.1\r\nHost: {address}\r\nIf-None-Match: {etag}\r\n\r\n"));
    assert!(again.starts_with("HTTP/1.1 304 "), "{again}");
    // Twice the same campaign is two campaigns, and bugs of one name have names of their own.
    let page = server.get("/");
    assert!(page.contains("<h1>2 campaigns</h1>") && page.contains("id=\"2-norec-crash-cccccc\""));
    let summaries: Json = serde_json::from_str(&server.get("/summary.json")).unwrap();
    assert_eq!(summaries.as_array().map(Vec::len), Some(2));
    let metrics = server.get("/metrics");
    assert!(metric(&metrics, "dissent_checks_total", &["oracle=\"tlp-where\""]) > Some(0.0), "{metrics}");

    let port = address.rsplit(':').next().unwrap();
    run(dissent(place).args(["serve", "out", "--port", port]))
        .refused_with(&format!("port {port} is in use"));
    run(dissent(place).args(["serve", "nowhere"])).refused_with("is not a campaign of Dissent");
}

#[test]
fn a_resumed_campaign_goes_on_counting() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let hunt = ["hunt", "--jobs", "1", "--seed", "1", "--oracles", "norec", "--time", "3s", "--out", "out"];
    let first = run(dissent(place).args(hunt).args(["--summary", "json"])).json();
    let again = ["hunt", "--resume", "out", "--time", "3s", "--summary", "json"];
    let second = run(dissent(place).args(again)).json();
    let seconds = |summary: &Json| summary["wall_seconds"].as_f64().unwrap();
    assert!(seconds(&second) > seconds(&first) + 2.5, "{} {}", seconds(&first), seconds(&second));
    let number = |summary: &Json, name: &str| summary[name].as_u64().unwrap();
    for name in ["statements", "databases", "cases"] {
        assert!(number(&second, name) > number(&first, name), "{name}");
    }
    let samples = second["timeline"].as_array().unwrap();
    let before = first["timeline"].as_array().unwrap();
    assert_eq!(&samples[..before.len()], before.as_slice());
    for name in ["seconds", "statements", "valid", "checks", "features"] {
        let values: Vec<f64> = samples.iter().map(|sample| sample[name].as_f64().unwrap()).collect();
        assert!(values.is_sorted(), "{name}: {values:?}");
    }
    assert_eq!(samples.last().unwrap()["statements"], second["statements"]);
}
