//! `dissent bench`: what Dissent itself costs. Two ways to run the same statements, or two builds, take turns, round after
//! round, so that a busy machine slows both.

use std::io::Write;

use dissent_campaign::{Against, Bench, Round, bench_config, plain_and_counting};
use dissent_core::guide;

use crate::args::BenchArgs;
use crate::numbers::grouped;
use crate::progress::LiveLine;

pub fn run(args: BenchArgs) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    match (&args.against, &args.coverage) {
        (Some(other), _) => against(&args, other.clone(), &mut out)?,
        (None, Some(target)) => coverage(&args, target, &mut out)?,
        (None, None) => bare(&args, &mut out)?,
    }
    Ok(crate::NOTHING_FOUND)
}

fn prepare(args: &BenchArgs, line: &mut LiveLine) -> anyhow::Result<Bench> {
    // What EXPLAIN costs is known only where something is explained.
    let guide = if args.costs { guide::Kind::Plan } else { guide::Kind::None };
    let config = bench_config(&args.target, &args.oracles, args.seed, guide);
    Bench::prepare(config, args.cases, line)
}

/// The hunt against its own statements through the bare client.
fn bare(args: &BenchArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let mut line = LiveLine::new();
    let bench = prepare(args, &mut line)?;
    if args.costs {
        let hunts = (0..args.rounds).map(|_| bench.hunt()).collect::<anyhow::Result<Vec<_>>>()?;
        return Ok(write!(out, "{}", bench.costs(&hunts))?);
    }
    let statements = grouped(bench.statements() as u64);
    writeln!(out, "{statements} statements of a hunt of {} with {}", args.target, args.oracles.join(","))?;
    let (mut hunting, mut replaying) = (Vec::new(), Vec::new());
    for round in 1..=args.rounds {
        let (hunt, bare) = (bench.hunt()?, bench.bare()?);
        let (rate, useful) = (hunt.checks as f64 / hunt.cpu_seconds, 100.0 * hunt.useful);
        let share = bare / hunt.cpu_seconds;
        writeln!(
            out,
            "round {round}: {rate:.0} checks per CPU second, {useful:.0} % useful, hunt at {share:.2} of the bare client"
        )?;
        hunting.push(hunt);
        replaying.push(bare);
    }
    let cpu: f64 = hunting.iter().map(|hunt| hunt.cpu_seconds).sum();
    let checks: u64 = hunting.iter().map(|hunt| hunt.checks).sum();
    let useful = hunting.iter().map(|hunt| hunt.useful).sum::<f64>() / hunting.len() as f64;
    writeln!(out, "checks per CPU second: {:.0}", checks as f64 / cpu)?;
    writeln!(out, "useful share: {useful:.2}")?;
    let bare: f64 = replaying.iter().sum();
    writeln!(out, "statements per CPU second: hunt at {:.2} of the bare client", bare / cpu)?;
    Ok(())
}

fn coverage(args: &BenchArgs, target: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let mut line = LiveLine::new();
    let bench = prepare(args, &mut line)?;
    let (plain, counting) = plain_and_counting(target, &mut line)?;
    let mut total = (0.0, 0.0);
    for round in 1..=args.rounds {
        let (without, with) = (bench.bare_with(&plain)?, bench.bare_with(&counting)?);
        total = (total.0 + without, total.1 + with);
        writeln!(out, "round {round}: {:.2} times the plain library", with / without)?;
    }
    let ratio = total.1 / total.0;
    writeln!(out, "CPU time per statement with coverage: {ratio:.2} times the plain library")?;
    Ok(())
}

/// This build against another one.
fn against(args: &BenchArgs, other: std::path::PathBuf, out: &mut impl Write) -> anyhow::Result<()> {
    let (target, oracles) = (args.target.clone(), args.oracles.clone());
    let against = Against { other, target, oracles, seed: args.seed, seconds: args.time.as_secs().max(1) };
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let (own, other) = against.round(u64::from(round) - 1)?;
        let ratio = own.checks_per_cpu_second() / other.checks_per_cpu_second().max(1e-9);
        writeln!(out, "round {round}: {}, the other {}: {ratio:.2} times", told(&own), told(&other))?;
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    writeln!(out, "checks per CPU second: {mean:.2} times the other ({least:.2} to {most:.2})")?;
    Ok(())
}

fn told(round: &Round) -> String {
    let rate = format!("{:.1} checks per CPU second", round.checks_per_cpu_second());
    if round.useful > 0.0 { format!("{rate} ({:.0} % useful)", 100.0 * round.useful) } else { rate }
}
