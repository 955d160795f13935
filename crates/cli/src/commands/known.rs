//! `dissent known`: bugs and behaviours that need no report.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dissent_core::triage::known::{self, Known, KnownFile, Status};

use crate::args::{KnownAction, KnownArgs};
use dissent_campaign::record;

/// Where a user's own entries are, unless named otherwise.
const OWN: &str = "known";

pub fn run(args: KnownArgs) -> anyhow::Result<u8> {
    match args.action {
        Some(KnownAction::Add { finding, reason, link, accepted, id, file }) => {
            let status = if accepted { Status::Accepted } else { Status::Bug };
            add(&finding, status, reason, link, id, file)
        }
        None => list(args.engine.as_deref(), &args.known),
    }
}

/// What is known of a dialect at a version: built in, in ./known, and in the places the user names.
pub fn of(dialect: &str, version: &str, places: &[PathBuf]) -> anyhow::Result<Vec<Known>> {
    let mut entries = known::built_in(dialect);
    let own = Path::new(OWN).is_dir().then(|| PathBuf::from(OWN));
    for place in own.iter().chain(places) {
        let file = if place.is_dir() { place.join(format!("{dialect}.toml")) } else { place.clone() };
        match read(&file) {
            Ok(more) => add_missing(&mut entries, more.known),
            // A directory need not know anything of every dialect; a file that is named must be there.
            Err(error) if place.is_dir() && is_missing(&error) => {}
            Err(error) => return Err(error),
        }
    }
    entries.retain(|known| known.concerns(version));
    Ok(entries)
}

/// An entry that is there already is not known twice: ./known may be the directory that was built in.
fn add_missing(entries: &mut Vec<Known>, more: Vec<Known>) {
    for known in more {
        match entries.iter_mut().find(|entry| entry.id == known.id) {
            Some(entry) => *entry = known,
            None => entries.push(known),
        }
    }
}

fn read(file: &Path) -> anyhow::Result<KnownFile> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    toml::from_str(&text).with_context(|| format!("{} cannot be understood", file.display()))
}

fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

fn list(engine: Option<&str>, places: &[PathBuf]) -> anyhow::Result<u8> {
    let dialects: Vec<&str> = match engine {
        Some(engine) => vec![engine],
        None => known::dialects().collect(),
    };
    let mut out = std::io::stdout().lock();
    for dialect in dialects {
        // Any version: what no version has is not listed anywhere.
        let mut entries = known::built_in(dialect);
        for place in places {
            add_missing(&mut entries, of(dialect, "", std::slice::from_ref(place))?);
        }
        for known in entries {
            let status = if known.status == Status::Bug { "bug" } else { "accepted" };
            let versions = known.versions.as_deref().unwrap_or("all versions");
            writeln!(out, "{dialect:<11} {:<28} {status:<9} {versions}", known.id)?;
            writeln!(out, "    {}", known.reason.split_whitespace().collect::<Vec<_>>().join(" "))?;
            if let Some(link) = &known.link {
                writeln!(out, "    {link}")?;
            }
        }
    }
    Ok(crate::NOTHING_FOUND)
}

fn add(
    finding: &Path,
    status: Status,
    reason: String,
    link: Option<String>,
    id: Option<String>,
    file: Option<PathBuf>,
) -> anyhow::Result<u8> {
    let directory = if finding.is_dir() { finding } else { finding.parent().unwrap_or(Path::new(".")) };
    let found = record::read(directory)?;
    if found.triage.signature.is_none() {
        bail!(
            "{} is not reduced, so what it needs is not known; run `dissent reduce {}` first",
            directory.display(),
            directory.display()
        );
    }
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entry = Known::of(&found, id.unwrap_or(name), status, reason, link);
    let file = file.unwrap_or_else(|| Path::new(OWN).join(format!("{}.toml", found.dialect)));
    let mut text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => bail!("cannot read {}: {error}", file.display()),
    };
    let present: KnownFile =
        toml::from_str(&text).with_context(|| format!("{} cannot be understood", file.display()))?;
    if present.known.iter().any(|known| known.id == entry.id) {
        bail!("{} has an entry {} already; name this one with --id", file.display(), entry.id);
    }
    // What is there keeps its comments: the entry is put behind it.
    if !text.is_empty() {
        text.push('\n');
    }
    text += &toml::to_string(&KnownFile { known: vec![entry.clone()] })?;
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    record::replace(&file, &text)?;
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
