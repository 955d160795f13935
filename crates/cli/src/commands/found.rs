//! `dissent replay SCRIPT`: runs the scripts of bugs that Dissent found, and holds what their statements return against
//! what is written behind them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use dissent_campaign::{Tested, read_scripts, run_scripts, store, target_in_file};
use dissent_core::finding::ArmOutcome;
use dissent_core::import::found::{Answer, FoundBug, Judgement, Step, Verdict};
use dissent_engine::Target;

use super::announce;
use crate::args::ReplayArgs;
use crate::progress::LiveLine;
use crate::text::plain;

/// Whether a path stands for scripts, not for a finding.
pub fn is_script(path: &Path) -> bool {
    if path.is_dir() {
        let holds = |path: &Path| !path.join("finding.json").exists() && !store::is_campaign(path);
        return holds(path) && read_scripts(&[path.to_path_buf()]).is_ok();
    }
    path.extension().is_some_and(|ending| ending == "sql")
}

/// The bugs that scripts tell of, with the paths of these.
pub fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, FoundBug)>> {
    let read = |script: dissent_campaign::Script| {
        let bug = FoundBug::read(&script.text).map_err(|why| anyhow!("{} {why}", script.name))?;
        Ok((script.name, bug))
    };
    read_scripts(paths)?.into_iter().map(read).collect()
}

pub fn replay(args: &ReplayArgs) -> anyhow::Result<u8> {
    if args.against.is_some() || args.baseline.is_some() {
        bail!("a script says itself what is right, so --against and --baseline say nothing about it");
    }
    let mut targets: BTreeMap<String, Vec<(String, FoundBug)>> = BTreeMap::new();
    for (path, bug) in read(std::slice::from_ref(&args.finding))? {
        let own = target_in_file(&bug.on)?;
        let target = match &args.target {
            Some(named) if Target::parse(named)?.dialect() != own.dialect() => {
                bail!("{path} is for {}, whose SQL {named} does not speak", own.dialect())
            }
            Some(named) => named.clone(),
            None => bug.on.clone(),
        };
        targets.entry(target).or_default().push((path, bug));
    }
    let mut verdicts = Vec::new();
    for (target, bugs) in targets {
        let tested = Tested::obtain(&args.limits.config(&target), &mut LiveLine::new())?;
        let scripts: Vec<Vec<String>> = bugs.iter().map(|(_, bug)| statements(bug)).collect();
        announce(&tested.target, scripts.iter().flatten());
        let outcomes = run_scripts(scripts, &tested)?;
        let mut out = String::new();
        for ((path, bug), outcomes) in bugs.iter().zip(outcomes) {
            show(path, bug, &outcomes, &tested, &mut out);
            verdicts.push(bug.judge(&outcomes));
        }
        std::io::stdout().write_all(plain(&out).as_bytes())?;
    }
    Ok(match () {
        () if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Fails | Verdict::FailsOtherwise)) => {
            crate::FOUND
        }
        () if verdicts.contains(&Verdict::CannotTell) => crate::TROUBLE,
        () => crate::NOTHING_FOUND,
    })
}

fn statements(bug: &FoundBug) -> Vec<String> {
    bug.steps.iter().map(|step| step.sql.clone()).collect()
}

/// What the statements returned that the script says something about, and those that did something unexpected.
fn show(path: &str, bug: &FoundBug, outcomes: &[ArmOutcome], tested: &Tested, out: &mut String) {
    let (target, version) = (&tested.target, &tested.engine_version);
    let _ = writeln!(out, "{} ({})\non {target} (version {version})\n", bug.title, bug.class.name());
    for (at, step) in bug.steps.iter().enumerate() {
        let outcome = outcomes.get(at);
        let judgement = step.judge(outcome);
        if step.returns.is_some() || judgement == Judgement::Other {
            show_step(step, outcome, judgement, out);
        }
    }
    let verdict = match bug.judge(outcomes) {
        Verdict::Fails => "still fails",
        Verdict::FailsOtherwise => "still fails, but not as the script says",
        Verdict::Holds => "no longer fails",
        Verdict::CannotTell => "cannot tell",
    };
    let _ = writeln!(out, "\n{verdict}: {path}\n");
}

fn show_step(step: &Step, outcome: Option<&ArmOutcome>, judgement: Judgement, out: &mut String) {
    let _ = writeln!(out, "  {}", step.sql.trim().replace('\n', "\n  "));
    let returned =
        outcome.map_or("is not run".to_string(), |outcome| format!("returns: {}", Answer::from(outcome)));
    let _ =
        writeln!(out, "    {returned}{}", if judgement == Judgement::Right { ", as it must" } else { "" });
    match (&step.returns, &step.must_be) {
        (_, Some(must_be)) if judgement != Judgement::Right => {
            let _ = writeln!(out, "    must be: {must_be}");
        }
        (Some(returns), None) if judgement == Judgement::Other => {
            let _ = writeln!(out, "    the script says: {returns}");
        }
        _ => {}
    }
}
