//! `dissent merge`: the campaigns of several machines as one.

use std::io::Write;

use crate::args::MergeArgs;
use crate::numbers::counted;
use crate::progress::LiveLine;

pub fn run(args: MergeArgs) -> anyhow::Result<u8> {
    let summary = dissent_campaign::merge(&args.campaigns, &args.out, &mut LiveLine::new())?;
    let new = summary.new_findings().count() as u64;
    let shown = args.out.display();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{shown}: {} of {}, {} that nobody knew",
        counted(summary.checks.get("total").copied().unwrap_or(0), "check"),
        counted(args.campaigns.len() as u64, "campaign"),
        counted(new, "bug"),
    )?;
    if summary.waiting > 0 {
        let waiting = counted(summary.waiting, "finding");
        writeln!(out, "{waiting} still to reduce: dissent hunt --resume {shown} --time 1m")?;
    }
    Ok(if new > 0 { crate::FOUND } else { crate::NOTHING_FOUND })
}
