//! `dissent replay`: check a finding again, in a process of its own.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, bail};
use dissent_core::finding::{Arm, Finding};
use dissent_core::report::{ROWS_SHOWN, outcome_lines};
use dissent_engine::Target;

use super::{check_hang_limit, obtain};
use crate::args::ReplayArgs;
use dissent_campaign::record;
use dissent_campaign::worker::process::{Ended, run_to_end};
use dissent_campaign::worker::protocol::{CheckOutcome, Event, ReplayTask, Replayed, Task};

pub fn run(args: ReplayArgs) -> anyhow::Result<u8> {
    check_hang_limit(args.hang_limit)?;
    let finding = record::read(&args.finding)?;
    let target = Target::parse(args.target.as_deref().unwrap_or(&finding.target))?;
    if target.dialect() != finding.dialect {
        bail!("the finding is in the dialect of {}, which {target} does not speak", finding.dialect);
    }
    let memory = args.worker_memory.saturating_mul(1 << 20);
    let engine = obtain(&target, memory, args.hang_limit)?;
    let task = Task::Replay(ReplayTask {
        source: engine.source,
        dialect: finding.dialect.clone(),
        case: finding.case.clone(),
        origin: finding.origin,
    });
    let ended = run_to_end(&task, memory, args.hang_limit)?;

    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} ({}), found on {} (version {}), replayed on {target} (version {})",
        finding.evidence.class,
        finding.case.subject.oracle,
        finding.target,
        finding.engine_version,
        engine.version
    );
    let size = finding.case.setup.len();
    let _ = writeln!(out, "setup: {size} statement{}", if size == 1 { "" } else { "s" });
    let code = judge(ended, &finding, &mut out)?;
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(code)
}

/// Says what happened and gives the exit code: 1 still fails, 0 no longer, 2 cannot tell.
fn judge(ended: Ended, finding: &Finding, out: &mut String) -> anyhow::Result<u8> {
    let mut replayed = None;
    for event in ended.events {
        match event {
            Event::Replayed(what) => replayed = Some(*what),
            Event::Trouble(message) => bail!(message),
            Event::Unreadable(why) => bail!("what the replay said cannot be read ({why})"),
            _ => {}
        }
    }
    let (dead, remains) = (&ended.dead, &ended.dead.remains);
    if ended.hung && !remains.running {
        bail!("the replay ran no statement for a minute and was ended; please report this");
    }
    if ended.hung || dead.crashed() {
        let sql = remains.statement.as_deref().unwrap_or_default();
        let _ = writeln!(out, "\nlast statement\n  {sql}\n");
        let what = match (ended.hung, dead.last_words.as_str()) {
            (true, _) => "the last statement does not end".to_string(),
            (false, "") => format!("the process dies by {}", dead.cause()),
            (false, words) => format!("the process dies by {} ({words})", dead.cause()),
        };
        let _ = writeln!(out, "still fails: {what}");
        return Ok(crate::FOUND);
    }
    let replayed =
        replayed.with_context(|| format!("the replay died by {}: {}", dead.cause(), dead.last_words))?;
    Ok(conclude(&replayed, finding, out))
}

fn conclude(replayed: &Replayed, finding: &Finding, out: &mut String) -> u8 {
    let failures = &replayed.setup_failures;
    for (sql, message) in failures {
        let _ = writeln!(out, "  fails here: {sql}\n    {message}");
    }
    if let CheckOutcome::Differs(evidence) = &replayed.outcome {
        evidence.arms.iter().for_each(|arm| show(arm, out));
        let _ = writeln!(out, "\nmust hold: {}", evidence.relation);
        let _ =
            writeln!(out, "still fails ({}): {}", evidence.class, dissent_core::report::failure(evidence));
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
        CheckOutcome::CannotTell(reason) => (format!("cannot tell: {reason}"), crate::TROUBLE),
        _ => (format!("no longer fails: {}", finding.evidence.relation), crate::NOTHING_FOUND),
    };
    let _ = writeln!(out, "\n{verdict}");
    code
}

fn show(arm: &Arm, out: &mut String) {
    let _ = writeln!(out, "\n{}\n  {}", arm.label, arm.sql);
    for line in outcome_lines(&arm.outcome, ROWS_SHOWN) {
        let _ = writeln!(out, "  {line}");
    }
}
