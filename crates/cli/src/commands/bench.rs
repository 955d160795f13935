//! `dissent bench`: what Dissent itself costs. Two ways to run the same statements, or two builds, take turns, round after
//! round, so that a busy machine slows both.

use std::io::Write;

use clap::ValueEnum;
use dissent_campaign::{Against, Bench, Round, Way, bench_config, scan};
use dissent_core::guide;

use crate::args::BenchArgs;
use crate::numbers::grouped;
use crate::progress::LiveLine;

pub fn run(args: BenchArgs) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    match (compared(&args), args.coverage) {
        (Some((ways, names)), _) => in_turns(&args, ways, names, &mut out)?,
        (None, true) => coverage(&args, &mut out)?,
        (None, false) if args.costs => costs(&args, &mut out)?,
        (None, false) => bare(&args, &mut out)?,
    }
    Ok(crate::NOTHING_FOUND)
}

fn prepare(args: &BenchArgs, guide: guide::Kind, line: &mut LiveLine) -> anyhow::Result<Bench> {
    let config = bench_config(&args.target, &args.oracles, args.seed, guide);
    Bench::prepare(config, args.cases, line)
}

/// What a hunt as it is by default costs. What EXPLAIN costs is known only where something is explained.
fn costs(args: &BenchArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let mut line = LiveLine::new();
    let usual = bench_config(&args.target, &args.oracles, args.seed, guide::Kind::None).usual_guide();
    let bench = prepare(args, usual, &mut line)?;
    let hunts = (0..args.rounds).map(|_| bench.hunt()).collect::<anyhow::Result<Vec<_>>>()?;
    let guided = match usual {
        guide::Kind::None => vec![prepare(args, guide::Kind::Plan, &mut line)?.hunt()?],
        guide::Kind::Plan | guide::Kind::Coverage => Vec::new(),
    };
    Ok(write!(out, "{}", bench.costs(&hunts, &guided))?)
}

/// The hunt against its own statements through the bare client.
fn bare(args: &BenchArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let mut line = LiveLine::new();
    let bench = prepare(args, guide::Kind::None, &mut line)?;
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

/// Hunts that count code coverage against hunts that do not, of the same build.
fn coverage(args: &BenchArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let scanned = scan(&args.target, &mut LiveLine::new())?;
    let [functions, blocks] = [scanned.functions, scanned.blocks].map(|number| grouped(number as u64));
    writeln!(out, "{functions} functions, {blocks} blocks, found in {:.2} s", scanned.seconds)?;
    let plain = ["--guide", "none"];
    let ways = [Way::own(&[&plain[..], &["--count-coverage"]].concat()), Way::own(&plain)];
    let against = against(args, scanned.target, ways);
    let starts = against.starts()?;
    let rounds = take_turns(args, &against, starts, ["counting coverage", "without"], out)?;
    writeln!(
        out,
        "start-up, left out: {:.2} CPU seconds counting coverage, {:.2} without",
        starts[0], starts[1]
    )?;
    if let Some(arming) = rounds.iter().find_map(|(counting, _)| counting.arming) {
        writeln!(out, "breakpoints of an engine set in {:.3} s", arming.as_secs_f64())?;
    }
    let most = |memory: fn(&(Round, Round)) -> u64| rounds.iter().map(memory).max().unwrap_or(0) >> 20;
    let (counting, without) = (most(|(counting, _)| counting.memory), most(|(_, without)| without.memory));
    writeln!(out, "largest process: {counting} MB counting coverage, {without} MB without")?;
    Ok(())
}

/// What takes turns, if two hunts do: this build and another one, or a machine of a fleet and one on its own.
fn compared(args: &BenchArgs) -> Option<([Way; 2], [&'static str; 2])> {
    let guide = args.guide.and_then(|guide| Some(guide.to_possible_value()?.get_name().to_string()));
    let guide: Vec<&str> = guide.iter().flat_map(|guide| ["--guide", guide]).collect();
    if let Some(address) = &args.join {
        let joined = Way { fleet: Some(address.clone()), ..Way::own(&guide) };
        return Some(([joined, Way::own(&guide)], ["joined", "alone"]));
    }
    let other = args.against.clone()?;
    Some(([Way::own(&guide), Way::by(other, &guide)], ["this build", "the other"]))
}

fn in_turns(args: &BenchArgs, ways: [Way; 2], names: [&str; 2], out: &mut impl Write) -> anyhow::Result<()> {
    take_turns(args, &against(args, args.target.clone(), ways), [0.0; 2], names, out).map(drop)
}

fn against(args: &BenchArgs, target: String, ways: [Way; 2]) -> Against {
    let (oracles, seconds) = (args.oracles.clone(), args.time.as_secs().max(1));
    Against { ways, target, oracles, seed: args.seed, seconds }
}

/// `starts`: processor time of each way that is not counted.
fn take_turns(
    args: &BenchArgs,
    against: &Against,
    starts: [f64; 2],
    [one, other]: [&str; 2],
    out: &mut impl Write,
) -> anyhow::Result<Vec<(Round, Round)>> {
    let (mut rounds, mut by_cpu, mut by_clock) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=args.rounds {
        let (mut first, mut second) = against.round(u64::from(round) - 1)?;
        first.cpu_seconds -= starts[0];
        second.cpu_seconds -= starts[1];
        let ratio = first.checks_per_cpu_second() / second.checks_per_cpu_second().max(1e-9);
        writeln!(out, "round {round}: {one} {}, {other} {}: {ratio:.3} times", told(&first), told(&second))?;
        by_cpu.push(ratio);
        by_clock.push(first.checks_per_second() / second.checks_per_second().max(1e-9));
        rounds.push((first, second));
    }
    for (what, ratios) in [("CPU second", by_cpu), ("second", by_clock)] {
        writeln!(out, "checks per {what}: {one} {}", spread(ratios, other))?;
    }
    Ok(rounds)
}

/// So many times another one, round by round.
fn spread(mut ratios: Vec<f64>, other: &str) -> String {
    ratios.sort_by(f64::total_cmp);
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    format!("{mean:.3} times {other} ({least:.3} to {most:.3}, median {median:.3})")
}

fn told(round: &Round) -> String {
    let (by_cpu, by_clock) = (round.checks_per_cpu_second(), round.checks_per_second());
    let mut told = format!(
        "{by_cpu:.1} checks per CPU second, {by_clock:.1} per second, {} cases",
        grouped(round.cases)
    );
    if round.useful > 0.0 {
        told.push_str(&format!(" ({:.0} % useful)", 100.0 * round.useful));
    }
    if round.features > 0 {
        told.push_str(&format!(", {} seen", grouped(round.features)));
    }
    told
}
