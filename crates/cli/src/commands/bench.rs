//! `dissent bench`: what Dissent itself costs. Two ways to run the same statements take turns, round after round, so
//! that a busy machine slows both.

use std::io::Write;

use dissent_campaign::{Bench, plain_and_counting};

use crate::args::BenchArgs;
use crate::progress::LiveLine;

pub fn run(args: BenchArgs) -> anyhow::Result<u8> {
    let mut line = LiveLine::new();
    let bench = Bench::prepare(&args.oracles, args.seed, args.cases, &mut line)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} statements of a hunt with {}", bench.statements(), args.oracles.join(","))?;
    if let Some(target) = &args.coverage {
        let (plain, counting) = plain_and_counting(target, &mut line)?;
        let mut total = (0.0, 0.0);
        for round in 1..=args.rounds {
            let (without, with) = (bench.bare_with(&plain)?, bench.bare_with(&counting)?);
            total = (total.0 + without, total.1 + with);
            writeln!(out, "round {round}: {:.2} times the plain library", with / without)?;
        }
        let ratio = total.1 / total.0;
        writeln!(out, "CPU time per statement with coverage: {ratio:.2} times the plain library")?;
        return Ok(crate::NOTHING_FOUND);
    }
    let mut total = (0.0, 0.0);
    for round in 1..=args.rounds {
        let (hunting, bare) = (bench.hunt()?, bench.bare()?);
        total = (total.0 + hunting, total.1 + bare);
        writeln!(out, "round {round}: hunt at {:.2} of the bare C API", bare / hunting)?;
    }
    writeln!(out, "statements per CPU second: hunt at {:.2} of the bare C API", total.1 / total.0)?;
    Ok(crate::NOTHING_FOUND)
}
