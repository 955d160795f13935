//! One finding on disk: a directory of files, each written atomically.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report;
use serde::Serialize;

pub(crate) const FINDING_FILE: &str = "finding.json";
/// The finding as the hunt saw it, once `finding.json` is the reduced one.
pub(crate) const ORIGINAL_FINDING_FILE: &str = "finding.original.json";
const SCRIPT_FILE: &str = "repro.sql";
const REPORT_FILE: &str = "report.md";
/// The script as it was found: reduction rewrites the others and leaves this one.
const ORIGINAL_SCRIPT_FILE: &str = "original.sql";

/// Reads a finding by its directory or its file; errors are one sentence.
pub fn read(path: &Path) -> anyhow::Result<Finding> {
    let file = if path.is_dir() { path.join(FINDING_FILE) } else { path.to_path_buf() };
    let shown = file.display();
    let bytes = fs::read(&file).map_err(|error| anyhow!("cannot read {shown}: {error}"))?;
    Finding::from_json(&bytes).map_err(|error| anyhow!("{shown} {error}"))
}

/// The directory of a finding that a command is going to rewrite.
pub fn directory_of(path: &Path) -> anyhow::Result<PathBuf> {
    if path.is_dir() {
        return Ok(path.to_path_buf());
    }
    match (path.file_name(), path.parent()) {
        (Some(name), Some(parent)) if name == FINDING_FILE => {
            Ok(if parent == Path::new("") { PathBuf::from(".") } else { parent.to_path_buf() })
        }
        _ => bail!("cannot rewrite {}: give the finding's directory or its {FINDING_FILE}", path.display()),
    }
}

/// The files of a finding that has just been found.
pub(crate) fn new_files(finding: &Finding, dialect: &Dialect) -> anyhow::Result<Vec<(&'static str, String)>> {
    let script = report::repro(finding, dialect);
    Ok(vec![
        (ORIGINAL_SCRIPT_FILE, script.clone()),
        (SCRIPT_FILE, script),
        (REPORT_FILE, report::report(finding, dialect)),
        (FINDING_FILE, pretty(finding)?),
    ])
}

/// Replaces a finding by another form; what the hunt saw is kept.
pub fn rewrite(directory: &Path, finding: &Finding, dialect: &Dialect) -> anyhow::Result<()> {
    let rewritten = || -> anyhow::Result<()> {
        let original = directory.join(ORIGINAL_FINDING_FILE);
        if !original.exists() {
            replace(&original, &fs::read_to_string(directory.join(FINDING_FILE))?)?;
        }
        let script = directory.join(ORIGINAL_SCRIPT_FILE);
        if !script.exists() {
            replace(&script, &report::repro(&read(&original)?, dialect))?;
        }
        replace(&directory.join(SCRIPT_FILE), &report::repro(finding, dialect))?;
        replace(&directory.join(REPORT_FILE), &report::report(finding, dialect))?;
        // `finding.json` last: whoever reads it finds the other files in place.
        replace(&directory.join(FINDING_FILE), &pretty(finding)?)
    };
    rewritten().with_context(|| format!("cannot rewrite the finding {}", directory.display()))
}

/// Writes what was learned about a finding that stays the same.
pub fn annotate(directory: &Path, finding: &Finding, dialect: &Dialect) -> anyhow::Result<()> {
    replace(&directory.join(REPORT_FILE), &report::report(finding, dialect))?;
    replace(&directory.join(FINDING_FILE), &pretty(finding)?)
}

/// Writes a file under another name first, so that it appears atomically. The directory may come from elsewhere: a link
/// in it, under either name, is replaced and not followed.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.tmp"));
    let cleared = match fs::remove_file(&temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    cleared
        .and_then(|()| File::create_new(&temporary)?.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

pub(crate) fn pretty(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
