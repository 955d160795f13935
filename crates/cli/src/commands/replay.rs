//! `dissent replay`: check a finding again, in a process of its own.

use std::fmt::Write as _;
use std::io::Write as _;

use dissent_campaign::{CheckOutcome, Replay, Replayed, record, replay};
use dissent_core::finding::{Arm, ArmOutcome, Finding};
use dissent_core::report::{ROWS_SHOWN, failure, outcome_lines};

use super::{found, obtain_for, show_script};
use crate::args::ReplayArgs;
use crate::numbers::counted;
use crate::progress::LiveLine;
use crate::text::plain;

pub fn run(args: ReplayArgs) -> anyhow::Result<u8> {
    if found::is_script(&args.finding) {
        return found::replay(&args);
    }
    let finding = record::read(&args.finding)?;
    let tested = obtain_for(
        &finding,
        args.target.as_deref(),
        args.against.as_deref(),
        &args.limits,
        &mut LiveLine::new(),
    )?;
    show_script(&finding, &tested.target, &tested.dialect()?);
    let replayed = replay(&finding, &tested)?;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} ({}), found on {} (version {}), replayed on {} (version {}){}",
        finding.evidence.class,
        finding.case.subject.oracle,
        finding.target,
        finding.engine_version,
        tested.target,
        tested.engine_version,
        super::check::compared(&tested)
    );
    let _ = writeln!(out, "setup: {}", counted(finding.case.setup.len() as u64, "statement"));
    let mut code = judge(&replayed, &finding, &mut out);
    if let Some(baseline) = args.baseline.as_deref().filter(|_| code == crate::FOUND) {
        let against = args.against.as_deref();
        let old = obtain_for(&finding, Some(baseline), against, &args.limits, &mut LiveLine::new())?;
        let also = replay(&finding, &old)?.still_fails();
        let (told, new) = match also {
            Some(true) => ("not new: it also fails on", crate::NOTHING_FOUND),
            Some(false) => ("new: it does not fail on", crate::FOUND),
            None => ("cannot tell whether it is new: it cannot be checked on", crate::TROUBLE),
        };
        let _ = writeln!(out, "{told} {} (version {})", old.target, old.engine_version);
        code = new;
    }
    std::io::stdout().write_all(plain(&out).as_bytes())?;
    Ok(code)
}

/// Says what happened and gives the exit code: 1 still fails, 0 no longer, 2 cannot tell.
fn judge(replay: &Replay, finding: &Finding, out: &mut String) -> u8 {
    match replay {
        Replay::Checked(replayed) => conclude(replayed, finding, out),
        Replay::Fatal { statement, how } => {
            let _ = writeln!(out, "\nlast statement\n  {statement}\n\nstill fails: {how}");
            crate::FOUND
        }
    }
}

fn conclude(replayed: &Replayed, finding: &Finding, out: &mut String) -> u8 {
    let failures = &replayed.setup_failures;
    for (sql, message) in failures {
        let _ = writeln!(out, "  fails here: {sql}\n    {message}");
    }
    if let CheckOutcome::Differs(evidence) = &replayed.outcome {
        evidence.arms.iter().for_each(|arm| show(arm, out));
        let _ = writeln!(out, "\nmust hold: {}", evidence.relation);
        let _ = writeln!(out, "still fails ({}): {}", evidence.class, failure(evidence));
        return crate::FOUND;
    }
    replayed.ran.iter().for_each(|arm| show(arm, out));
    let (verdict, code) = match &replayed.outcome {
        // Statements that worked where the finding was made and fail here leave another state: agreement
        // on it says nothing about the finding.
        _ if !failures.is_empty() => {
            let (failed, all) = (failures.len(), finding.case.setup.len());
            (format!("cannot tell: {failed} of {all} setup statements fail on this target"), crate::TROUBLE)
        }
        CheckOutcome::CannotTell(reason) => {
            (format!("cannot tell: {reason}{}", refused(&replayed.ran)), crate::TROUBLE)
        }
        _ => (format!("no longer fails: {}", finding.evidence.relation), crate::NOTHING_FOUND),
    };
    let _ = writeln!(out, "\n{verdict}");
    code
}

/// Why a check came to no conclusion: the first of its statements that this target refuses.
fn refused(ran: &[Arm]) -> String {
    let refused = ran.iter().find_map(|arm| match &arm.outcome {
        ArmOutcome::Error(error) => Some((&arm.sql, &error.message)),
        _ => None,
    });
    refused.map_or(String::new(), |(sql, message)| format!("\nthis target refuses: {sql}\n  {message}"))
}

fn show(arm: &Arm, out: &mut String) {
    let _ = writeln!(out, "\n{}\n  {}", arm.label, arm.sql);
    for line in outcome_lines(&arm.outcome, ROWS_SHOWN) {
        let _ = writeln!(out, "  {line}");
    }
}
