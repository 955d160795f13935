//! `dissent known`: bugs and behaviours that need no report.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use dissent_campaign::{NewEntry, add_known, all_known_of, is_dialect, known_dialects};
use dissent_core::triage::known::Status;

use super::recheck::check_known;
use crate::args::{KnownAction, KnownArgs};

pub fn run(args: KnownArgs) -> anyhow::Result<u8> {
    match args.action {
        Some(KnownAction::Add { finding, reason, link, accepted, id, file }) => {
            let status = if accepted { Status::Accepted } else { Status::Bug };
            add(&finding, NewEntry { id, status, reason, link, file })
        }
        Some(KnownAction::Check { engine, target, known, prune, limits }) => {
            let dialects = dialects(engine.as_deref(), &known)?;
            check_known(&dialects, target.as_deref(), &known, prune, &limits)
        }
        None => list(args.engine.as_deref(), &args.known),
    }
}

fn dialects(engine: Option<&str>, places: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    match engine {
        Some(engine) if !is_dialect(engine) => {
            bail!("unknown engine '{engine}'; `dissent engines` lists them")
        }
        Some(engine) => Ok(vec![engine.to_string()]),
        None => known_dialects(places),
    }
}

fn list(engine: Option<&str>, places: &[PathBuf]) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    for dialect in dialects(engine, places)? {
        for known in all_known_of(&dialect, places)? {
            let status = if known.status == Status::Bug { "bug" } else { "accepted" };
            let versions = known.versions.as_deref().unwrap_or("all versions");
            writeln!(out, "{dialect:<11} {:<28} {status:<9} {versions}", known.id)?;
            writeln!(out, "    {}", known.reason.split_whitespace().collect::<Vec<_>>().join(" "))?;
            let added = known.added.as_ref().map(|day| format!("added {day}"));
            let notes: Vec<&str> = known.link.iter().chain(&added).map(String::as_str).collect();
            if !notes.is_empty() {
                writeln!(out, "    {}", notes.join(", "))?;
            }
        }
    }
    Ok(crate::NOTHING_FOUND)
}

fn add(finding: &Path, new: NewEntry) -> anyhow::Result<u8> {
    let (entry, file) = add_known(finding, new)?;
    let words: Vec<&str> = entry.features.iter().map(String::as_str).collect();
    writeln!(
        std::io::stdout(),
        "{} in {}: every finding that {} with {} is this one from now on",
        entry.id,
        file.display(),
        if entry.fails == "wrong-result" { "returns a wrong result" } else { "fails like it" },
        if words.is_empty() { "any query".to_string() } else { words.join(", ") },
    )?;
    Ok(crate::NOTHING_FOUND)
}
