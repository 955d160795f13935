//! `dissent report`: findings in a form that other tools read.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report::export::{self, Exported, Exporter};

use super::findings::newest;
use super::growth;
use crate::args::ReportArgs;
use dissent_campaign::{record, store};

pub fn run(args: ReportArgs) -> anyhow::Result<u8> {
    if args.growth {
        return growth::run(&args.directories, args.out.as_deref());
    }
    let exporter = exporter(&args.format)?;
    let directory = match args.directories.as_slice() {
        [] => newest()?,
        [one] => one.clone(),
        _ => bail!("name one finding or one campaign; only --growth compares several"),
    };
    let findings = read(&directory)?;
    let exported: Vec<Exported> =
        findings.iter().map(|(id, finding, dialect)| Exported { id, finding, dialect }).collect();
    let text = exporter.export(&exported);
    match &args.out {
        Some(path) => record::replace(path, &text)?,
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(if findings.is_empty() { crate::NOTHING_FOUND } else { crate::FOUND })
}

fn exporter(name: &str) -> anyhow::Result<&'static dyn Exporter> {
    let all = export::exporters();
    let Some(exporter) = all.iter().find(|exporter| exporter.name() == name) else {
        let names: Vec<&str> = all.iter().map(|exporter| exporter.name()).collect();
        bail!("there is no format '{name}'; there are {}", names.join(", "));
    };
    Ok(*exporter)
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
