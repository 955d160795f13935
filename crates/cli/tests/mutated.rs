//! What comes from outside, damaged at random: it is read or refused, without a panic and without a hang.
//!
//! Each test takes three seconds. `DISSENT_MUTATE=3600 cargo test -p dissent --test mutated -- --nocapture` gives each an
//! hour, and says how much was tried.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use dissent_campaign::{all_known_of, record, store};
use dissent_core::catalog::Catalog;
use dissent_core::dialect::{Dialect, Files};
use dissent_core::finding::Finding;
use dissent_core::guide::Entry;
use dissent_core::import;
use dissent_core::reduce::Weight;
use dissent_core::report;
use dissent_core::rng::Rng;
use serde_json::Value as Json;
use support::{BROKEN_INDEX, dissent, norec_finding, run};

/// The longest that any one input may take, of the processor's time.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same for a program, by the clock, on a busy machine.
const LONG_PATIENCE: Duration = Duration::from_secs(90);

/// The time that this thread has had the processor: what else a machine does is nobody's hang.
fn busy() -> Duration {
    let figures = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(figures.split_whitespace().next().unwrap().parse().unwrap())
}

/// Tries mutations of these texts for as long as the environment says. A failure names the seed that makes its input.
fn try_out(what: &str, originals: &[Vec<u8>], mut take: impl FnMut(&[u8], &mut Rng)) {
    let seconds = std::env::var("DISSENT_MUTATE").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let first: u64 =
        std::env::var("DISSENT_MUTATE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (start, mut seed, mut longest) = (Instant::now(), first, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut rng = Rng::new(seed);
        let mut text = rng.pick(originals).clone();
        for _ in 0..rng.between(1, 6) {
            mutate(&mut text, originals, &mut rng);
        }
        let began = busy();
        let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take(&text, &mut rng)));
        let took = busy() - began;
        let shown = String::from_utf8_lossy(&text[..text.len().min(2000)]).into_owned();
        assert!(taken.is_ok(), "DISSENT_MUTATE_SEED={seed} panics in {what}: {shown}");
        assert!(took < PATIENCE, "DISSENT_MUTATE_SEED={seed} takes {took:?} in {what}: {shown}");
        longest = longest.max(took);
        seed += 1;
    }
    println!(
        "{what}: {} inputs in {seconds} s, the longest took {longest:.1?} of the processor",
        seed - first
    );
}

/// Pieces that mean something to one reader or another.
const WORDS: &[&str] = &[
    "(",
    ")",
    "'",
    "\"",
    "`",
    ";",
    "--",
    "/*",
    "*/",
    "/*!50000 ",
    "$$",
    "$x$",
    "\\",
    "\n",
    "\0",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "-1",
    "1e999",
    "18446744073709551616",
    " AND ",
    " UNION ",
    "SELECT ",
    "NOT ",
    "CASE ",
    "INTERVAL ",
    "\u{1F600}",
    "DELIMITER ",
    "COPY t FROM stdin;\n",
    "loop i 0 9\n",
    "endloop\n",
    "statement ok\n",
    "execsql {",
    "é",
    "0x",
    "::",
    "x'",
];

fn mutate(text: &mut Vec<u8>, originals: &[Vec<u8>], rng: &mut Rng) {
    let piece = |text: &[u8], rng: &mut Rng| {
        let from = rng.below(text.len().max(1)).min(text.len());
        let to = (from + rng.below(200)).min(text.len());
        text[from..to].to_vec()
    };
    let at = rng.below(text.len() + 1);
    match rng.below(8) {
        0 if !text.is_empty() => text[at.saturating_sub(1)] = rng.draw() as u8,
        1 => drop(text.drain(at..(at + rng.below(300)).min(text.len()))),
        2 => drop(text.splice(at..at, piece(&text.clone(), rng))),
        3 => {
            let other = rng.pick(originals).clone();
            drop(text.splice(at..at, piece(&other, rng)));
        }
        // Much of the same: depth, length, quadratic time.
        4 => {
            let word = rng.pick(WORDS).as_bytes();
            let times = *rng.pick(&[2, 50, 300, 3000, 20_000]);
            drop(text.splice(at..at, word.repeat(times)));
        }
        5 => text.truncate(at),
        6 if text.len() < 200_000 => {
            let part = piece(text, rng);
            let times = *rng.pick(&[2, 20, 500]);
            drop(text.splice(at..at, part.repeat(times)));
        }
        _ => drop(text.splice(at..at, rng.pick(WORDS).bytes())),
    }
}

/// Files below a directory of the repository, up to so many.
fn files(below: &str, most: usize) -> Vec<PathBuf> {
    let mut todo = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(below)];
    let mut found = Vec::new();
    while let Some(path) = todo.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => todo.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) => found.push(path),
        }
    }
    found.sort();
    found.truncate(most);
    assert!(!found.is_empty(), "{below}");
    found
}

#[test]
fn scripts() {
    const DUMPS: [&str; 3] = [
        "SET x = 0;\nCREATE TABLE public.t (a integer);\nCOPY public.t (a) FROM stdin;\n1\n\\N\n\\.\nSELECT EXTRACT(YEAR FROM a) FROM public.t;\n",
        "/*!40101 SET NAMES utf8 */;\nDELIMITER ;;\nCREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 'it\\'s'; END ;;\nDELIMITER ;\nSELECT a + INTERVAL 90 DAY FROM t;\n",
        "loop i 0 3\n\nstatement ok\nINSERT INTO t VALUES (${i})\n\nendloop\n\nquery I rowsort\nSELECT a FROM t\n----\n1\n\nstatement error\nSELECT x\n",
    ];
    let mut originals: Vec<Vec<u8>> = DUMPS.iter().map(|text| text.as_bytes().to_vec()).collect();
    for below in ["crates/core/seeds", "bugs"] {
        originals.extend(files(below, 300).iter().map(|path| fs::read(path).unwrap()));
    }
    let files = Files::built_in();
    let dialects: Vec<Dialect> = files.names().map(|name| Dialect::load(name, "99").unwrap()).collect();
    try_out("scripts", &originals, |text, rng| {
        let text = String::from_utf8_lossy(text);
        let (name, dialect) = (*rng.pick(&["a.sql", "a.test", "a.tcl", "a.jsonl"]), rng.pick(&dialects));
        for script in import::scripts(name, &text) {
            import::file(name, &script, dialect);
        }
        import::header::read(&text);
    });
}

#[test]
fn findings() {
    let directory = tempfile::tempdir().unwrap();
    let mut finding = norec_finding(BROKEN_INDEX);
    let mut originals = vec![serde_json::to_vec_pretty(&finding).unwrap()];
    finding.case.setup =
        BROKEN_INDEX.iter().map(|sql| import::statement(sql, 1, &sqlite()).statement).collect();
    originals.push(serde_json::to_vec(&finding).unwrap());
    let path = directory.path().join("finding.json");
    try_out("finding.json", &originals, |text, rng| {
        fs::write(&path, damaged(text, rng)).unwrap();
        if let Ok(finding) = record::read(&path) {
            use_finding(&finding);
        }
    });
}

fn sqlite() -> Dialect {
    Dialect::load("sqlite", "3.54.1").unwrap()
}

/// Does with a finding what commands do before an engine sees it.
fn use_finding(finding: &Finding) {
    let Ok(dialect) = Dialect::load(&finding.dialect, &finding.engine_version) else { return };
    report::title(finding, &dialect);
    report::id(finding, 6);
    report::failure(&finding.evidence);
    report::report(finding, &dialect);
    report::repro(finding, &dialect);
    Weight::of(&finding.case, &dialect);
    dissent_core::triage::signature(&finding.case, &finding.evidence);
}

/// JSON that is still JSON, with something else in one of its places; otherwise as it is.
fn damaged(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let Ok(mut json) = serde_json::from_slice::<Json>(text) else { return text.to_vec() };
    for _ in 0..rng.between(1, 4) {
        let steps = rng.below(12);
        let place = somewhere(&mut json, steps, rng);
        *place = match rng.below(8) {
            0 => Json::Null,
            1 => Json::from(rng.draw()),
            2 => Json::from(-1),
            3 => Json::from(1e308),
            4 => Json::from("\u{1F600}'".repeat(rng.below(50))),
            5 => Json::Array(vec![place.clone(); rng.below(4)]),
            6 => Json::from(*rng.pick(WORDS)),
            _ => serde_json::json!({ "select": place.clone() }),
        };
    }
    serde_json::to_vec(&json).unwrap()
}

/// A place in it, some steps down.
fn somewhere<'a>(json: &'a mut Json, steps: usize, rng: &mut Rng) -> &'a mut Json {
    let size = match json {
        Json::Object(map) => map.len(),
        Json::Array(list) => list.len(),
        _ => 0,
    };
    if steps == 0 || size == 0 {
        return json;
    }
    let at = rng.below(size);
    let next = match json {
        Json::Object(map) => map.values_mut().nth(at),
        Json::Array(list) => list.get_mut(at),
        _ => None,
    };
    somewhere(next.expect("it has so many"), steps - 1, rng)
}

/// What a short hunt leaves on disk: everything that another run reads.
#[test]
fn campaigns_and_corpora() {
    let directory = tempfile::tempdir().unwrap();
    let hunt =
        ["hunt", "--max-cases", "3000", "--jobs", "1", "--seed", "1", "--guide", "plan", "--out", "out"];
    let said = run(dissent(directory.path()).args(hunt));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    let out = directory.path().join("out");
    let read = |name: &str| fs::read(out.join(name)).unwrap();
    let originals: Vec<Vec<u8>> =
        ["campaign.json", "summary.json", "position.json", "counts.json"].map(read).to_vec();
    try_out("the files of a campaign", &originals, |text, rng| {
        let text = damaged(text, rng);
        for name in ["campaign.json", "summary.json", "bugs.json"] {
            fs::write(out.join(name), &text).unwrap();
        }
        let _ = store::read_campaign(&out);
        let _ = store::read_bugs(&out);
        if let Ok(summary) = store::read_summary(&out) {
            let _ = summary.json();
        }
    });
    let corpus = fs::read_dir(out.join("corpus")).unwrap().map(|entry| entry.unwrap().path());
    let entries: Vec<Vec<u8>> = corpus
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| fs::read(path).unwrap())
        .collect();
    assert!(!entries.is_empty());
    try_out("a corpus", &entries, |text, rng| {
        let _ = serde_json::from_slice::<Entry>(&damaged(text, rng));
    });
}

/// A campaign from elsewhere, resumed: by the program itself, because numbers that can be read may still make no sense.
#[test]
fn resumed_campaigns() {
    const FILES: [&str; 5] = ["campaign.json", "position.json", "counts.json", "bugs.json", "summary.json"];
    let directory = tempfile::tempdir().unwrap();
    let hunt = ["hunt", "--max-cases", "300", "--jobs", "2", "--seed", "1", "--no-reduce", "--guide", "plan"];
    let mut command = dissent(directory.path());
    let said = run(command.args(hunt).args(["--out", "out"]).env("DISSENT_TEST_FAULT", "crash@5"));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let read = |name: &&str| fs::read(directory.path().join("out").join(name)).unwrap();
    let originals: Vec<Vec<u8>> = FILES.iter().map(read).collect();
    let copy = directory.path().join("copy");
    try_out("a campaign that is resumed", &originals, |text, rng| {
        let _ = fs::remove_dir_all(&copy);
        let copied = Command::new("cp").arg("-r").arg(directory.path().join("out")).arg(&copy).status();
        assert!(copied.unwrap().success());
        // Half of them are still the file that they were.
        let like = |original: &&Vec<u8>| original[..20.min(original.len())] == text[..20.min(text.len())];
        let name = originals.iter().zip(FILES).find(|(original, _)| like(original)).map(|(_, name)| name);
        fs::write(copy.join(name.unwrap_or_else(|| *rng.pick::<&str>(&FILES))), damaged(text, rng)).unwrap();
        let mut resume = dissent(directory.path());
        let said = run(resume.args(["hunt", "--resume", "copy", "--time", "1s"]).timeout(LONG_PATIENCE));
        let told = format!("{}{}", said.stdout, said.stderr);
        assert!(
            matches!(said.code, Some(0..=2)) && !told.contains("bug in Dissent"),
            "{:?}: {told}",
            said.code
        );
    });
}

#[test]
fn known_bugs_and_catalogs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sqlite.toml");
    let known: Vec<Vec<u8>> =
        files("crates/core/known", 50).iter().map(|path| fs::read(path).unwrap()).collect();
    let places = [path.clone()];
    try_out("known bugs", &known, |text, _| {
        fs::write(&path, text).unwrap();
        let _ = all_known_of("sqlite", &places);
    });
    let originals = [CATALOG.as_bytes().to_vec()];
    let whole: Catalog = serde_json::from_str(CATALOG).unwrap();
    try_out("a catalog", &originals, |text, rng| {
        if let Ok(mut catalog) = serde_json::from_slice::<Catalog>(&damaged(text, rng)) {
            sqlite().learn(&catalog);
            catalog.keep_common(&whole);
            whole.clone().keep_common(&catalog);
        }
    });
}

/// An operation of every kind.
const CATALOG: &str = r#"{"format": 4, "dialect": "sqlite", "engine_version": "3.54.1", "fingerprint": 7, "types": [
  {"name": "TEXT", "kind": "text", "values": ["abc", "", "1.5"], "plain": true, "comparable": true, "ordered": true},
  {"name": "INTEGER", "kind": "int", "values": ["3", "0"], "plain": true, "comparable": true, "ordered": true}
], "operations": [
  {"kind": "function", "name": "abs", "signatures": [{"args": [{"types": [0, 1]}], "fragile": true}], "indexable": true},
  {"kind": "function", "name": "bm25", "unusable": {"why": "denied", "detail": "needs a virtual table"}},
  {"kind": "operator", "name": "+ {}", "form": "+ {}", "signatures": [{"args": [{"types": [0, 1]}]}]},
  {"kind": "cast", "name": "TEXT to TEXT", "form": "CAST({} AS TEXT)", "signatures": [{"args": [{"types": [0]}], "returns": 0}]},
  {"kind": "aggregate", "name": "count", "signatures": [{"args": [], "returns": 1}]},
  {"kind": "window", "name": "cume_dist", "signatures": [{"args": [], "returns": 1}]}
]}"#;

/// Eight thousand conditions used to end the whole check.
#[test]
fn a_deep_statement_is_refused_by_its_line() {
    let directory = tempfile::tempdir().unwrap();
    for sign in ["AND", "OR", "+", "||"] {
        let chain = vec!["a = 1"; 8000].join(&format!(" {sign} "));
        let script = format!(
            "CREATE TABLE t(a INT);\nINSERT INTO t VALUES (1);\nSELECT a FROM t WHERE {chain};\nSELECT a FROM t WHERE a > 0;\n"
        );
        fs::write(directory.path().join("deep.sql"), script).unwrap();
        let said = run(dissent(directory.path()).args(["check", "deep.sql"]));
        assert_eq!(said.code, Some(0), "{sign}: {}\n{}", said.stdout, said.stderr);
        assert!(said.stdout.contains("1 query checked"), "{}", said.stdout);
        let place = "only run, not understood: deep.sql:3: it is nested too deeply";
        assert!(said.stdout.contains(place), "{}", said.stdout);
    }
    // As deep as it may be, through every oracle.
    let chain = vec!["a = 1"; 100].join(" AND ");
    let script =
        format!("CREATE TABLE t(a INT);\nINSERT INTO t VALUES (1);\nSELECT a FROM t WHERE {chain};\n");
    fs::write(directory.path().join("deep.sql"), script).unwrap();
    let said = run(dissent(directory.path()).args(["check", "deep.sql"]));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("1 query checked") && !said.stdout.contains("not understood"),
        "{}",
        said.stdout
    );
}
