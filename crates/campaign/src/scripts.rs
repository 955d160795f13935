//! SQL files that the user names, one by one or by directory.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// What scripts are called: plain SQL, sqllogictest's and SQLite's own tests, and lists of statements as JSON lines.
const ENDINGS: [&str; 6] = ["sql", "test", "test_slow", "slt", "tcl", "jsonl"];

/// A script that a hunt starts from.
#[derive(Clone, Copy, Debug)]
pub enum Seed<'a> {
    /// One that comes with Dissent.
    BuiltIn {
        name: &'static str,
        text: &'static str,
    },
    File(&'a Path),
}

impl<'a> Seed<'a> {
    pub fn name(&self) -> Cow<'a, str> {
        match self {
            Seed::BuiltIn { name, .. } => Cow::Borrowed(name),
            Seed::File(path) => path.file_name().unwrap_or_default().to_string_lossy(),
        }
    }

    pub fn text(&self) -> anyhow::Result<Cow<'static, str>> {
        match self {
            Seed::BuiltIn { text, .. } => Ok(Cow::Borrowed(text)),
            Seed::File(path) => read(path).map(Cow::Owned),
        }
    }
}

/// The files that paths stand for; of a directory, all that look like scripts, by name.
pub fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files_in(path, &mut files)?,
            false => files.push(path.clone()),
        }
    }
    if let (true, Some(first)) = (files.is_empty(), paths.first()) {
        bail!("no scripts (.{}) in {}", ENDINGS.join(", ."), first.display());
    }
    Ok(files)
}

/// What stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// The text of a script. Some suites have tests of encodings: what is not UTF-8 is read with a sign in its place.
pub fn read(path: &Path) -> anyhow::Result<String> {
    if path == Path::new(STANDARD_INPUT) {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn files_in(directory: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries =
        std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() {
            files_in(&path, files)?;
        } else if ENDINGS.contains(&ending) {
            files.push(path);
        }
    }
    Ok(())
}
