//! Known bugs and accepted behaviours on disk: the built-in ones, `./known`, and paths that the user gives.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use dissent_core::finding::Finding;
use dissent_core::triage::known::{self, Known, KnownFile, Status};

use crate::bugs::id;
use crate::record;
use crate::store::file_name_safe;
use crate::system;

/// Where a user's own entries are, unless named otherwise.
const OWN: &str = "known";

/// What is known of a dialect at a version: built in, in `./known`, and in the places the user names.
pub fn known_of(dialect: &str, version: &str, places: &[PathBuf]) -> anyhow::Result<Vec<Known>> {
    let mut entries = all_known_of(dialect, places)?;
    entries.retain(|known| known.concerns(version));
    Ok(entries)
}

/// The same at any version.
pub fn all_known_of(dialect: &str, places: &[PathBuf]) -> anyhow::Result<Vec<Known>> {
    read_all(dialect, own_place().iter().chain(places))
}

/// The dialects of which something is known: built in, and by the files in the directories of the user.
///
/// # Errors
///
/// If a file in such a directory is not named after a dialect.
pub fn known_dialects(places: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut dialects: BTreeSet<String> = known::dialects().map(str::to_string).collect();
    for place in own_place().iter().chain(places).filter(|place| place.is_dir()) {
        let entries = fs::read_dir(place).with_context(|| format!("cannot read {}", place.display()))?;
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if !is_dialect(&name) {
                bail!("{} is not named after an engine; `dissent engines` lists them", file.display());
            }
            dialects.insert(name);
        }
    }
    Ok(dialects.into_iter().collect())
}

/// Whether there is an engine of this name.
pub fn is_dialect(name: &str) -> bool {
    dissent_engine::products().any(|product| product.name() == name)
}

fn own_place() -> Option<PathBuf> {
    Path::new(OWN).is_dir().then(|| PathBuf::from(OWN))
}

fn read_all<'a>(dialect: &str, places: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<Vec<Known>> {
    let mut entries = known::built_in(dialect);
    for place in places {
        let file = if place.is_dir() { place.join(format!("{dialect}.toml")) } else { place.clone() };
        match read(&file) {
            Ok(Some(more)) => add_missing(&mut entries, more.known),
            // A directory need not know anything of every dialect; a file that is named must be there.
            Ok(None) if place.is_dir() => {}
            Ok(None) => bail!("cannot read {}: no such file", file.display()),
            Err(error) => return Err(error),
        }
    }
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

/// `None`: there is no such file.
fn read(file: &Path) -> anyhow::Result<Option<KnownFile>> {
    let Some(text) = read_text(file)? else { return Ok(None) };
    let parsed = toml::from_str(&text).with_context(|| format!("cannot parse {}", file.display()));
    parsed.map(Some)
}

fn read_text(file: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => bail!("cannot read {}: {error}", file.display()),
    }
}

/// What a user says of a finding that is to be known.
pub struct NewEntry {
    /// The entry's name; the finding's, if none is given.
    pub id: Option<String>,
    /// A bug, or a behaviour that is accepted.
    pub status: Status,
    /// What is wrong and which arm is, or why it is accepted.
    pub reason: String,
    /// Where it was reported.
    pub link: Option<String>,
    /// The file to add it to; `known/DIALECT.toml`, if none is given.
    pub file: Option<PathBuf>,
}

/// The directory of examples, beside the file with the entries.
const EXAMPLES: &str = "examples";

/// Adds a reduced finding to what is known; gives the entry and the file that has it now. The finding is kept beside it,
/// so that it can be checked again.
pub fn add_known(finding: &Path, new: NewEntry) -> anyhow::Result<(Known, PathBuf)> {
    let directory = if finding.is_dir() { finding } else { finding.parent().unwrap_or(Path::new(".")) };
    let found = record::read(directory)?;
    if found.triage.signature.is_none() {
        let shown = directory.display();
        bail!("{shown} is not reduced; run `dissent reduce {shown}` first");
    }
    let name = new.id.unwrap_or_else(|| id(directory));
    let file = new.file.unwrap_or_else(|| Path::new(OWN).join(format!("{}.toml", found.dialect)));
    let example = format!("{EXAMPLES}/{}.json", file_name_safe(&name));
    let mut entry = Known::of(&found, name, new.status, new.reason, new.link);
    entry.added = Some(system::today());
    entry.example = Some(example.clone());
    append(&file, &entry)?;
    let kept = file.with_file_name(example);
    if let Some(parent) = kept.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    record::replace(&kept, &record::pretty(&found)?)?;
    Ok((entry, file))
}

/// An entry, and the file that has it; none if it is built in.
pub struct KnownEntry {
    /// What it says.
    pub known: Known,
    /// Where it is.
    pub file: Option<PathBuf>,
}

impl KnownEntry {
    /// The finding that shows it, if one was kept.
    pub fn example(&self) -> anyhow::Result<Option<Finding>> {
        self.example_file().map(|file| record::read(&file)).transpose()
    }

    /// Only a file below the one with the entry: it may be removed with the entry.
    fn example_file(&self) -> Option<PathBuf> {
        let (file, example) = (self.file.as_ref()?, Path::new(self.known.example.as_ref()?));
        let below = example.components().all(|part| matches!(part, Component::Normal(_)));
        below.then(|| file.with_file_name(example))
    }
}

/// Every entry of a dialect with the file that has it.
pub fn known_entries(dialect: &str, places: &[PathBuf]) -> anyhow::Result<Vec<KnownEntry>> {
    let mut entries: Vec<KnownEntry> =
        known::built_in(dialect).into_iter().map(|known| KnownEntry { known, file: None }).collect();
    for place in own_place().iter().chain(places) {
        let file = if place.is_dir() { place.join(format!("{dialect}.toml")) } else { place.clone() };
        let Some(more) = read(&file)? else { continue };
        entries.retain(|entry| more.known.iter().all(|known| known.id != entry.known.id));
        entries.extend(more.known.into_iter().map(|known| KnownEntry { known, file: Some(file.clone()) }));
    }
    Ok(entries)
}

/// Removes an entry from its file, and its example. What else is in the file stays as it is.
pub fn remove_known(entry: &KnownEntry) -> anyhow::Result<()> {
    let Some(file) = &entry.file else { bail!("{} is built in", entry.known.id) };
    let text = read_text(file)?.unwrap_or_default();
    let kept: String = blocks(&text).filter(|block| !is_entry(block, &entry.known.id)).collect();
    record::replace(file, &kept)?;
    if let Some(example) = entry.example_file() {
        // Gone already is gone.
        let _ = fs::remove_file(example);
    }
    Ok(())
}

/// The text before the first entry, then each entry up to the next one.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("[[known]]").map(|(at, _)| at);
    let starts = starts.filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let mut edges: Vec<usize> = std::iter::once(0).chain(starts).chain([text.len()]).collect();
    edges.dedup();
    let pairs: Vec<(usize, usize)> = edges.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().map(|(from, to)| &text[from..to])
}

fn is_entry(block: &str, id: &str) -> bool {
    let parsed = toml::from_str::<KnownFile>(block);
    parsed.is_ok_and(|file| matches!(file.known.as_slice(), [known] if known.id == id))
}

/// What is there keeps its comments: the entry is put behind it.
fn append(file: &Path, entry: &Known) -> anyhow::Result<()> {
    let present = read(file)?.unwrap_or_default();
    if present.known.iter().any(|known| known.id == entry.id) {
        bail!("{} already has an entry {}; use --id to name this one", file.display(), entry.id);
    }
    let mut text = read_text(file)?.unwrap_or_default();
    if !text.is_empty() {
        text.push('\n');
    }
    text += &toml::to_string(&KnownFile { known: vec![entry.clone()] })?;
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    record::replace(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_goes_and_comments_of_others_stay() {
        let text = "# About this file.\n\n[[known]]\nid = \"a\"\nstatus = \"bug\"\nreason = \"[[known]] in words\"\n\
                    fails = \"crash\"\n\n[[known]]\nid = \"b\" # fixed soon\nstatus = \"bug\"\nreason = \"\"\nfails = \"hang\"\n";
        let without = |id: &str| blocks(text).filter(|block| !is_entry(block, id)).collect::<String>();
        assert_eq!(blocks(text).collect::<String>(), text);
        assert!(!without("a").contains("in words") && without("a").contains("# fixed soon"));
        assert!(without("a").starts_with("# About this file."));
        assert!(without("b").ends_with("fails = \"crash\"\n\n"));
        assert_eq!(without("c"), text);
    }
}
