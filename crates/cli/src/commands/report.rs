//! `dissent report`: findings as a page, or in a form that other tools read.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use dissent_campaign::{CheckOutcome, Replay, record, replay, store};
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Finding, Newest};
use dissent_core::report::export::{Exported, Exporter};

use super::obtain_for;
use super::page::{Contents, nonce};
use crate::args::{Format, ReportArgs};
use crate::progress::LiveLine;
use crate::text::plain;

pub fn run(args: ReportArgs) -> anyhow::Result<u8> {
    let directories =
        if args.directories.is_empty() { vec![store::newest()?] } else { args.directories.clone() };
    let mut findings = Vec::new();
    if args.check_newest || !matches!(args.format, Format::Page) {
        for directory in &directories {
            findings.extend(read(directory)?);
        }
    }
    if args.check_newest {
        for found in &mut findings {
            check_newest(found, &args)?;
        }
    }
    let (text, found) = match args.format {
        Format::Page => page(&directories)?,
        Format::Export(exporter) => (export(&findings, exporter), !findings.is_empty()),
    };
    match &args.out {
        Some(path) => record::replace(path, &text)?,
        // Whoever reads it on a terminal must see all of it; a file gets it as it is.
        None if std::io::stdout().is_terminal() => std::io::stdout().write_all(plain(&text).as_bytes())?,
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(if found { crate::FOUND } else { crate::NOTHING_FOUND })
}

/// A page, and whether there is a bug on it that was not known.
fn page(directories: &[PathBuf]) -> anyhow::Result<(String, bool)> {
    let contents = Contents::read(directories)?;
    let found = contents.has_new_bugs();
    Ok((contents.page(&nonce(), false), found))
}

/// Writes the bugs of a campaign that nobody knew, in one of the forms.
pub(super) fn write(campaign: &Path, exporter: &dyn Exporter, out: &Path) -> anyhow::Result<()> {
    record::replace(out, &export(&read(campaign)?, exporter))
}

struct Found {
    id: String,
    directory: PathBuf,
    finding: Finding,
    dialect: Dialect,
}

fn export(findings: &[Found], exporter: &dyn Exporter) -> String {
    let shown: Vec<String> = findings.iter().map(|found| found.directory.display().to_string()).collect();
    let exported: Vec<Exported> = findings
        .iter()
        .zip(&shown)
        .map(|(Found { id, finding, dialect, .. }, directory)| Exported { id, directory, finding, dialect })
        .collect();
    exporter.export(&exported)
}

/// One finding, or those of a campaign that are bugs nobody knew.
fn read(directory: &Path) -> anyhow::Result<Vec<Found>> {
    let mut directories = vec![finding_directory(directory)];
    if store::is_campaign(directory) {
        let known: Vec<String> = store::read_bugs(directory)?
            .into_iter()
            .filter(|bug| bug.known.is_some())
            .map(|bug| bug.id)
            .collect();
        directories = store::finding_directories(directory)?;
        directories.retain(|path| !known.contains(&name(path)));
    }
    directories
        .into_iter()
        .map(|directory| {
            let finding = record::read(&directory)?;
            let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
            Ok(Found { id: name(&directory), directory, finding, dialect })
        })
        .collect()
}

/// Replays a finding on the newest version of its engine, and keeps what came of it.
fn check_newest(found: &mut Found, args: &ReportArgs) -> anyhow::Result<()> {
    let Found { finding, directory, dialect, .. } = found;
    // By the name of the dialect alone: whatever target the file names is not asked.
    let target = finding.dialect.clone();
    let tested = obtain_for(finding, Some(&target), None, &args.limits, &mut LiveLine::new())?;
    let fails = match replay(finding, &tested)? {
        Replay::Fatal { .. } => true,
        Replay::Checked(replayed) => match replayed.outcome {
            CheckOutcome::Differs(_) => true,
            _ if !replayed.setup_failures.is_empty() => return Ok(()),
            CheckOutcome::CannotTell(_) => return Ok(()),
            _ => false,
        },
    };
    finding.triage.newest = Some(Newest { version: tested.engine_version, fails });
    record::annotate(directory, finding, dialect)
}

/// A finding may be named by its file too.
fn finding_directory(path: &Path) -> PathBuf {
    match (path.is_file(), path.parent()) {
        (true, Some(parent)) if parent != Path::new("") => parent.to_path_buf(),
        (true, _) => PathBuf::from("."),
        (false, _) => path.to_path_buf(),
    }
}

fn name(directory: &Path) -> String {
    let name = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    name.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
