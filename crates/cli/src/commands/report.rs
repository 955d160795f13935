//! `dissent report`: findings in a form that other tools read.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use dissent_campaign::{record, store};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report::export::{self, Exported};

use crate::args::ReportArgs;

pub fn run(args: ReportArgs) -> anyhow::Result<u8> {
    let exporter = export::exporters().iter().find(|exporter| exporter.name() == args.format);
    let exporter = exporter.with_context(|| format!("unknown format '{}'", args.format))?;
    let findings = read(&args.directory.map_or_else(store::newest, Ok)?)?;
    let exported: Vec<Exported> =
        findings.iter().map(|(id, finding, dialect)| Exported { id, finding, dialect }).collect();
    let text = exporter.export(&exported);
    match &args.out {
        Some(path) => record::replace(path, &text)?,
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(if findings.is_empty() { crate::NOTHING_FOUND } else { crate::FOUND })
}

/// One finding, or those of a campaign that are bugs nobody knew.
fn read(directory: &Path) -> anyhow::Result<Vec<(String, Finding, Dialect)>> {
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
        .iter()
        .map(|path| {
            let finding = record::read(path)?;
            let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
            Ok((name(path), finding, dialect))
        })
        .collect()
}

/// A finding may be named by its file too.
fn finding_directory(path: &Path) -> PathBuf {
    if path.is_file() { path.parent().unwrap_or(Path::new(".")).to_path_buf() } else { path.to_path_buf() }
}

fn name(directory: &Path) -> String {
    let name = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    name.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
