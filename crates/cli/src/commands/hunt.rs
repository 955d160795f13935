//! `dissent hunt`: settle every question first, then run the campaign.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail};
use dissent_core::guide;
use dissent_engine::Target;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::{Obtained, check_hang_limit, choose_oracles, known, obtain, obtain_with};
use crate::args::{DEFAULT_TARGET, GuideName, HuntArgs, SummaryFormat};
use crate::progress::Progress;
use crate::summary;
use dissent_campaign::catalog::{self, KeptCatalog};
use dissent_campaign::position::Position;
use dissent_campaign::reducer::Allowance;
use dissent_campaign::scripts;
use dissent_campaign::store::{self, Store};
use dissent_campaign::summary::Summary;
use dissent_campaign::{Guidance, Plan, Supervisor};

/// How long reducing one finding may take, whatever its checks cost.
const REDUCE_TIME: Duration = Duration::from_secs(15);

pub fn run(args: HuntArgs) -> anyhow::Result<u8> {
    let (plan, store) = match &args.resume {
        Some(directory) => {
            let plan = settle_again(&args, directory)?;
            let store = Store::reopen(directory, &plan)?;
            (plan, store)
        }
        None => {
            let plan = settle(&args)?;
            let store = Store::create(args.out.as_deref(), &plan)?;
            (plan, store)
        }
    };
    start_statement_logs(&plan)?;
    let interrupted = listen_for_signals()?;
    introduce(&plan, &store);

    let mut progress = Progress::new(args.summary == SummaryFormat::Json);
    let mut supervisor = Supervisor::new(&plan, &store, &mut progress, interrupted);
    let ended = supervisor.run();
    let outcome = supervisor.outcome();
    if let Err(error) = plan.source.sweep() {
        let _ = writeln!(std::io::stderr(), "dissent: {error}");
    }

    // Trouble after a night of hunting must not take the night's figures with it.
    if ended.is_ok() || outcome.tally.counts.statements > 0 {
        let summary = Summary::new(&plan, &outcome);
        let json = summary.json()?;
        print_summary(&summary, &json, args.summary, &store)?;
        let written = store.write_summary(&json);
        ended.and(written)?;
    } else {
        ended?;
    }
    let found = outcome.bugs.iter().any(|bug| bug.known.is_none());
    Ok(if found { crate::FOUND } else { crate::NOTHING_FOUND })
}

fn print_summary(summary: &Summary, json: &str, format: SummaryFormat, store: &Store) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        SummaryFormat::Json => out.write_all(json.as_bytes())?,
        SummaryFormat::Text => {
            write!(out, "\n{}", summary::text(summary, &store.root().display().to_string()))?;
        }
    }
    out.flush()
}

/// Everything that can be wrong with the arguments is found here, before anything is written.
fn settle(args: &HuntArgs) -> anyhow::Result<Plan> {
    check_hang_limit(args.hang_limit)?;
    let oracles = choose_oracles(&args.oracles)?;
    let target = Target::parse(&args.target)?;
    if let Some(directory) = &args.out {
        store::check_vacant(directory)?;
    }
    let memory = args.worker_memory.saturating_mul(1 << 20);
    let guidance = guidance(args)?;
    let engine = obtain_guided(&target, &guidance, memory, args.hang_limit)?;
    let version = engine.version.clone();
    let catalog = learn(&target, &engine, memory);
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let mark = new_mark();
    Ok(Plan {
        target: target.to_string(),
        source: engine.source.marked(&mark),
        dialect: target.dialect().to_string(),
        engine_version: engine.version,
        catalog,
        oracles,
        seed: args.seed.unwrap_or_else(random_seed),
        jobs: u64::from(args.jobs.unwrap_or_else(cores)),
        time: args.time,
        max_cases: args.max_cases,
        error_validation: !args.no_error_validation,
        max_findings: args.max_findings,
        hang_limit: args.hang_limit,
        worker_memory: memory,
        log_statements: args.log_statements.clone(),
        reduce: (!args.no_reduce).then_some(Allowance { checks: args.reduce_checks, time: REDUCE_TIME }),
        keep_duplicates: args.keep_duplicates,
        known: known::of(target.dialect(), &version, &args.known)?,
        position: None,
        mark,
        guidance,
    })
}

/// The plan of a campaign that goes on: its own, but for when to stop.
fn settle_again(args: &HuntArgs, directory: &Path) -> anyhow::Result<Plan> {
    let campaign = store::read_campaign(directory)?;
    let position = store::read_position(directory)?;
    let hang_limit = Duration::from_secs(campaign.hang_limit_seconds);
    check_hang_limit(hang_limit)?;
    let target = match args.target.as_str() {
        DEFAULT_TARGET => Target::parse(&campaign.target)?,
        named => Target::parse(named)?,
    };
    if target.to_string() != campaign.target {
        bail!("the campaign in {} hunts {}, not {target}", directory.display(), campaign.target);
    }
    let memory = args.worker_memory.saturating_mul(1 << 20);
    let guidance = campaign.guidance;
    let engine = obtain_guided(&target, &guidance, memory, hang_limit)?;
    if engine.version != campaign.engine_version {
        bail!(
            "the campaign in {} tested version {} of {target}, which is now version {}; begin another one",
            directory.display(),
            campaign.engine_version,
            engine.version
        );
    }
    let catalog = learn(&target, &engine, memory);
    let known = known::of(&campaign.dialect, &campaign.engine_version, &args.known)?;
    // What the workers of then left behind goes before new ones come.
    let source = match campaign.mark.as_str() {
        "" => engine.source,
        mark => engine.source.marked(mark),
    };
    source.sweep()?;
    Ok(Plan {
        target: campaign.target,
        source,
        dialect: campaign.dialect,
        engine_version: campaign.engine_version,
        catalog,
        oracles: choose_oracles(&campaign.oracles)?,
        seed: campaign.seed,
        jobs: campaign.jobs,
        time: args.time.or(campaign.time_seconds.map(Duration::from_secs)),
        max_cases: campaign.max_cases,
        error_validation: true,
        max_findings: args.max_findings.or(campaign.max_findings),
        hang_limit,
        worker_memory: memory,
        log_statements: None,
        reduce: campaign.reduce_checks.map(|checks| Allowance { checks, time: REDUCE_TIME }),
        keep_duplicates: campaign.keep_duplicates,
        known,
        // Killed before it had any: from the beginning.
        position: Some(position.unwrap_or_else(|| {
            Position {
                next_databases: (0..campaign.jobs).collect(),
                cases_left: (0..campaign.jobs)
                    .map(|worker| Plan::even_share(campaign.max_cases, worker, campaign.jobs))
                    .collect(),
            }
        })),
        mark: campaign.mark,
        guidance,
    })
}

fn guidance(args: &HuntArgs) -> anyhow::Result<Guidance> {
    let guide = match args.guide {
        GuideName::Coverage => guide::Kind::Coverage,
        GuideName::Plan => guide::Kind::Plan,
        GuideName::None if args.count_coverage => guide::Kind::Coverage,
        GuideName::None => guide::Kind::None,
    };
    if args.count_coverage && args.guide != GuideName::None {
        bail!("--count-coverage is for comparing with a hunt that learns nothing: add --guide none");
    }
    let seeds = scripts::files(&args.seeds)?;
    // Workers may run elsewhere.
    let seeds = seeds.into_iter().map(|path| std::path::absolute(&path).unwrap_or(path)).collect();
    Ok(Guidance { guide, counts_only: args.count_coverage, seeds, seeds_only: args.seeds_only })
}

/// The engine, instrumented where the guide wants it.
fn obtain_guided(
    target: &Target,
    guidance: &Guidance,
    memory: u64,
    limit: Duration,
) -> anyhow::Result<Obtained> {
    match guidance.guide {
        guide::Kind::Coverage => obtain_with(target, Target::obtain_counting, memory, limit),
        guide::Kind::Plan | guide::Kind::None => obtain(target, memory, limit),
    }
}

/// What the engine can compute. Without it a hunt has the functions of the dialect's file.
fn learn(target: &Target, engine: &Obtained, memory: u64) -> Option<Arc<KeptCatalog>> {
    match catalog::obtain(target, &engine.source, &engine.version, memory, false) {
        Ok(kept) => kept.map(Arc::new),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "dissent: hunting with few functions: {error:#}");
            None
        }
    }
}

fn new_mark() -> String {
    format!("{:08x}", RandomState::new().build_hasher().finish() >> 32)
}

/// Nine or ten digits: enough never to meet twice, short enough to type.
fn random_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

/// The first Ctrl-C (or SIGTERM) asks the campaign to end, the second ends the process at once; the
/// workers then die with it.
fn listen_for_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, i32::from(crate::TROUBLE), interrupted.clone())
            .and_then(|_| flag::register(signal, interrupted.clone()))
            .context("cannot listen for Ctrl-C")?;
    }
    Ok(interrupted)
}

/// Workers append to their logs, because a restarted one goes on with its predecessor's: start empty.
fn start_statement_logs(plan: &Plan) -> anyhow::Result<()> {
    for path in (0..plan.jobs).filter_map(|worker| plan.statement_log(worker)) {
        File::create(&path).with_context(|| format!("cannot write statements to {}", path.display()))?;
    }
    Ok(())
}

fn introduce(plan: &Plan, store: &Store) {
    let _ = writeln!(
        std::io::stderr(),
        "hunting {} (version {}) with {}; seed {}, {} worker{}; findings go to {}",
        plan.target,
        plan.engine_version,
        plan.oracles.join(", "),
        plan.seed,
        plan.jobs,
        if plan.jobs == 1 { "" } else { "s" },
        store.root().display(),
    );
}
