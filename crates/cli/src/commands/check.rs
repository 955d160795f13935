//! `dissent check`: the user's own scripts, each query asked in every way that the oracles know.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use dissent_core::check::Read as ScriptRead;
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Evidence, FINDING_FORMAT, Finding, Origin};
use dissent_core::import;
use dissent_core::oracle::crash;
use dissent_core::reduce::Weight;
use dissent_core::report;
use dissent_core::sql::Statement;
use dissent_core::subject::TestCase;
use dissent_engine::Target;

use super::{Obtained, bug_table, check_hang_limit, choose_oracles, obtain};
use crate::args::CheckArgs;
use dissent_campaign::bugs::{Bug, Bugs, Sorted};
use dissent_campaign::reducer::{Allowance, Job, Observer, Place, Reduced};
use dissent_campaign::scripts;
use dissent_campaign::store::{self, Store};
use dissent_campaign::worker::process::run_to_end;
use dissent_campaign::worker::protocol::{Difference, Event, Script, ScriptsTask, Tally, Task};
use dissent_campaign::{Guidance, Plan, death};

/// What reducing one finding may cost.
const REDUCTION: Allowance = Allowance { checks: 5_000, time: Duration::from_secs(30) };

/// What the scripts are run with.
pub struct Setting {
    pub oracles: Vec<String>,
    pub memory: u64,
    pub hang_limit: Duration,
}

pub fn run(args: CheckArgs) -> anyhow::Result<u8> {
    check_hang_limit(args.hang_limit)?;
    let setting = Setting {
        oracles: choose_oracles(&args.oracles)?,
        memory: args.worker_memory.saturating_mul(1 << 20),
        hang_limit: args.hang_limit,
    };
    let scripts = read_scripts(&args.scripts)?;
    if args.markdown {
        return bug_table::run(&scripts, &setting);
    }
    let target = Target::parse(&args.target)?;
    if let Some(directory) = &args.out {
        store::check_vacant(directory)?;
    }
    let engine = obtain(&target, setting.memory, setting.hang_limit)?;
    let outcome = check(&target, &engine, &scripts, &setting)?;
    let mut out = String::new();
    summarise(&target, &engine, &scripts, &outcome, &mut out);
    match &args.out {
        Some(directory) => keep(directory, &target, &engine, &setting, &scripts, &outcome, &mut out)?,
        None => outcome.findings.iter().for_each(|found| show(found, &scripts, &outcome, &mut out)),
    }
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(if outcome.findings.is_empty() { crate::NOTHING_FOUND } else { crate::FOUND })
}

/// Scripts by their paths; a file that lists several is as many.
fn read_scripts(paths: &[PathBuf]) -> anyhow::Result<Vec<Script>> {
    let mut scripts = Vec::new();
    for path in scripts::files(paths)? {
        let name = path.display().to_string();
        let texts = import::scripts(&name, &scripts::read(&path)?);
        scripts.extend(texts.into_iter().map(|text| Script { name: name.clone(), text }));
    }
    Ok(scripts)
}

/// What came of some scripts.
#[derive(Default)]
pub struct Outcome {
    pub tally: Tally,
    /// What was read of each; none for one that the engine did not survive.
    pub read: Vec<Option<ScriptRead>>,
    /// `Origin::database` is the script's number, `Origin::case` that of the query.
    pub findings: Vec<Difference>,
    pub unstable: usize,
}

/// Goes through scripts in a process of its own; in another one after each that the engine does not survive.
pub fn check(
    target: &Target,
    engine: &Obtained,
    scripts: &[Script],
    setting: &Setting,
) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    while outcome.read.len() < scripts.len() {
        let task = Task::Scripts(ScriptsTask {
            source: engine.source.clone(),
            dialect: target.dialect().to_string(),
            oracles: setting.oracles.clone(),
            scripts: scripts.to_vec(),
            skip: outcome.read.len(),
        });
        let ended = run_to_end(&task, setting.memory, setting.hang_limit)?;
        for event in ended.events {
            match event {
                Event::Progress(tally) => outcome.tally.add(tally),
                Event::Script(read) => outcome.read.push(Some(read)),
                Event::Finding(found) => outcome.findings.push(*found),
                Event::Unstable(_) => outcome.unstable += 1,
                Event::Trouble(message) => bail!(message),
                Event::Unreadable(why) => bail!("what the worker said cannot be read ({why})"),
                _ => {}
            }
        }
        if outcome.read.len() == scripts.len() {
            break;
        }
        let dead = &ended.dead;
        let evidence = match (ended.hung, dead.crashed()) {
            (true, _) => death::evidence_of_hang(dead, setting.hang_limit),
            (false, true) => death::evidence_of_crash(dead),
            (false, false) => bail!("the worker died by {}: {}", dead.cause(), dead.last_words),
        };
        outcome.findings.push(fatal(&dead.remains, outcome.read.len() as u64, evidence));
        outcome.read.push(None);
    }
    Ok(outcome)
}

fn fatal(
    remains: &dissent_campaign::worker::journal::Remains,
    script: u64,
    evidence: Evidence,
) -> Difference {
    let setup = remains.setup.iter().cloned().map(Statement::Raw).collect();
    let statement = Statement::Raw(remains.statement.clone().unwrap_or_default());
    Difference {
        origin: Origin { database: script, case: remains.case, ..Origin::default() },
        case: TestCase { setup, subject: crash::subject(statement) },
        evidence,
    }
}

fn counted(number: usize, what: &str) -> String {
    match (number, what) {
        (1, what) => format!("1 {what}"),
        (number, "query") => format!("{number} queries"),
        (number, what) => format!("{number} {what}s"),
    }
}

fn summarise(target: &Target, engine: &Obtained, scripts: &[Script], outcome: &Outcome, out: &mut String) {
    let read = || outcome.read.iter().flatten();
    let _ = writeln!(
        out,
        "{} on {target} (version {}): {}, {} checked",
        counted(scripts.len(), "script"),
        engine.version,
        counted(read().map(|read| read.statements).sum(), "statement"),
        counted(read().map(|read| read.queries.len()).sum(), "query"),
    );
    for (script, read) in scripts.iter().zip(&outcome.read) {
        let Some(read) = read else { continue };
        for (line, message) in &read.failures {
            let _ = writeln!(out, "  fails here: {}:{line}: {message}", script.name);
        }
        for (line, why) in &read.refused {
            let _ = writeln!(out, "  only run, not understood: {}:{line}: {why}", script.name);
        }
    }
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for difference in &outcome.findings {
        *found.entry(&difference.case.subject.oracle).or_insert(0) += 1;
    }
    let _ = writeln!(out, "\n{:<16}{:>8}{:>10}{:>10}", "oracle", "checks", "findings", "skipped");
    for (oracle, tally) in &outcome.tally.oracles {
        let skipped: u64 = tally.skips.values().sum();
        let findings = found.get(&**oracle).copied().unwrap_or(0);
        let _ = writeln!(out, "{oracle:<16}{:>8}{findings:>10}{skipped:>10}", tally.checks);
    }
    let _ = writeln!(out);
    for (oracle, tally) in &outcome.tally.oracles {
        for (reason, count) in &tally.skips {
            let _ = writeln!(out, "  skipped by {oracle}: {reason} ({count})");
        }
    }
    if outcome.unstable > 0 {
        let _ = writeln!(out, "  differences that did not hold on a fresh database: {}", outcome.unstable);
    }
}

/// `FILE:LINE` of the query that a finding is about.
fn place(found: &Difference, scripts: &[Script], outcome: &Outcome) -> String {
    let number = found.origin.database as usize;
    let read = outcome.read.get(number).and_then(Option::as_ref);
    let line = read.and_then(|read| read.queries.get((found.origin.case as usize).wrapping_sub(1)));
    let name = scripts.get(number).map(|script| script.name.as_str()).unwrap_or_default();
    line.map_or_else(|| name.to_string(), |line| format!("{name}:{line}"))
}

fn show(found: &Difference, scripts: &[Script], outcome: &Outcome, out: &mut String) {
    let (evidence, oracle) = (&found.evidence, &found.case.subject.oracle);
    let _ = writeln!(out, "\n{}: {} ({oracle})", place(found, scripts, outcome), evidence.class);
    for arm in &evidence.arms {
        let _ = writeln!(out, "  {}\n    {}", arm.label, arm.sql);
    }
    let _ = writeln!(out, "  must hold: {}\n  but: {}", evidence.relation, report::failure(evidence));
}

/// Puts the findings on disk, reduced, each bug once.
fn keep(
    directory: &Path,
    target: &Target,
    engine: &Obtained,
    setting: &Setting,
    scripts: &[Script],
    outcome: &Outcome,
    out: &mut String,
) -> anyhow::Result<()> {
    let plan = plan(target, engine, setting);
    let store = Store::create(Some(directory), &plan)?;
    let dialect = Dialect::load(&plan.dialect, &plan.engine_version)?;
    let place_of = Place {
        source: engine.source.clone(),
        dialect: plan.dialect.clone(),
        memory_bytes: setting.memory,
        hang_limit: setting.hang_limit,
    };
    let job = Job { place: &place_of, dialect: &dialect, allowance: REDUCTION };
    let mut bugs = Bugs::default();
    for found in &outcome.findings {
        let finding = finding(found, &plan);
        let Some(stored) = store.add_finding(&finding)? else { continue };
        let finding = match job.run(&finding, &mut Patient)?.0 {
            Reduced::Confirmed(reduced) => *reduced,
            Reduced::Unstable(_) => {
                store.move_to_unstable(&stored.directory)?;
                continue;
            }
        };
        store.rewrite(&stored.directory, &finding)?;
        let bug = Bug {
            id: stored.id.clone(),
            oracle: finding.case.subject.oracle.clone(),
            class: finding.evidence.class,
            signature: finding.triage.signature.clone(),
            known: None,
            versions: None,
            count: 1,
            statements: finding.case.setup.len(),
            tokens: Weight::of(&finding.case, &dialect).tokens,
            directory: stored.directory.clone(),
        };
        match bugs.sort(&bug) {
            Sorted::New => {
                let _ = writeln!(
                    out,
                    "\n{}: {} ({}): {}\n  {}",
                    place(found, scripts, outcome),
                    bug.class,
                    bug.oracle,
                    report::failure(&finding.evidence),
                    stored.directory.display()
                );
                bugs.add(bug);
            }
            Sorted::Smaller(at) => {
                let kept = bugs.count(at, Some(&bug)).directory.clone();
                store.exchange(&kept, &stored.directory)?;
                store.discard(&stored.directory)?;
            }
            Sorted::Again(at) => {
                bugs.count(at, None);
                store.discard(&stored.directory)?;
            }
        }
        store.write_bugs(bugs.list())?;
    }
    Ok(())
}

/// Whoever waits for a check waits for its reduction too.
struct Patient;

impl Observer for Patient {
    fn goes_on(&mut self) -> bool {
        true
    }
}

fn finding(found: &Difference, plan: &Plan) -> Finding {
    Finding {
        format: FINDING_FORMAT,
        target: plan.target.clone(),
        dialect: plan.dialect.clone(),
        engine_version: plan.engine_version.clone(),
        case: found.case.clone(),
        evidence: found.evidence.clone(),
        origin: found.origin,
        triage: Default::default(),
    }
}

/// The check as a campaign: what its directory says of it.
fn plan(target: &Target, engine: &Obtained, setting: &Setting) -> Plan {
    Plan {
        target: target.to_string(),
        source: engine.source.clone(),
        dialect: target.dialect().to_string(),
        engine_version: engine.version.clone(),
        catalog: None,
        oracles: setting.oracles.clone(),
        seed: 0,
        jobs: 1,
        time: None,
        max_cases: None,
        max_findings: None,
        hang_limit: setting.hang_limit,
        worker_memory: setting.memory,
        error_validation: true,
        log_statements: None,
        reduce: Some(REDUCTION),
        keep_duplicates: false,
        known: Vec::new(),
        position: None,
        mark: String::new(),
        guidance: Guidance::default(),
    }
}
