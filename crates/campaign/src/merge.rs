//! Several campaigns as one: their counts added, their findings sorted into bugs as one hunt would have done, their
//! corpora united.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dissent_core::finding::Finding;
use dissent_core::guide::Entry;
use dissent_core::report::timeline::Timeline;
use dissent_engine::Target;

use crate::bugs::{Bug, Bugs, Sorted, id};
use crate::config::{self, Config};
use crate::counted::Counted;
use crate::known::known_of;
use crate::observer::Observer;
use crate::record;
use crate::share::{Figures, SharedBug, alone};
use crate::sorter::Sorter;
use crate::store::{self, CampaignFile, Store};
use crate::summary::{About, Results, Summary};
use dissent_core::triage::known::Known;

/// Makes one campaign of several on disk, which stay as they are. What they left to be reduced is left in the new one,
/// too; a hunt that resumes it draws other databases than they did.
///
/// # Errors
///
/// If they tested different engines or versions, or visited the same databases.
pub fn merge(directories: &[PathBuf], out: &Path, observer: &mut dyn Observer) -> anyhow::Result<Summary> {
    let mut files = Vec::new();
    for directory in directories {
        files.push((directory, store::read_campaign(directory)?));
    }
    let file = check_alike(&files)?;
    let parts = files.iter().flat_map(|(_, file)| file.all_parts()).collect();
    let jobs = files.iter().map(|(_, file)| file.config.jobs).sum();
    // Another seed: if it is resumed, it visits none of the databases again.
    let config = Config { seed: config::random(), jobs, shard: None, ..file.config.clone() };
    let union = Union::create(out, CampaignFile { config, parts, ..file.clone() })?;
    union.fill(observer, |sum, observer| {
        for (directory, _) in &files {
            sum.add_campaign(directory, observer)?;
        }
        Ok(())
    })
}

/// What machines of a fleet told.
#[derive(Debug)]
pub struct Told {
    /// The bugs.
    pub bugs: Vec<SharedBug>,
    /// The figures of each machine.
    pub figures: Vec<Vec<u8>>,
    /// Findings that were handed over and that nobody has reduced yet.
    pub queued: Vec<Finding>,
    /// Nobody hunts any more.
    pub is_over: bool,
}

/// Makes a campaign on disk of what machines of a fleet told.
pub fn gather(
    out: &Path,
    file: CampaignFile,
    told: Told,
    observer: &mut dyn Observer,
) -> anyhow::Result<Summary> {
    let Told { bugs, figures, queued, is_over } = told;
    let figures: Vec<Figures> = figures
        .iter()
        .map(|bytes| serde_json::from_slice(bytes).context("a machine sent figures that cannot be read"))
        .collect::<anyhow::Result<_>>()?;
    let jobs = figures.iter().map(|figures| figures.jobs).sum();
    let config = Config { jobs, ..file.config.clone() };
    let union = Union::create(out, CampaignFile { config, ..file })?;
    union.fill(observer, |sum, observer| {
        let found = || figures.iter().flat_map(|figures| &figures.bugs);
        for SharedBug { bug, finding } in bugs {
            // One that was not reduced is known by its name alone.
            let (is_known_by_name, key) = (bug.signature.is_none(), bug.key());
            let same = found().filter(|found| is_known_by_name && found.key() == key);
            let count = same.map(|found| found.count).sum();
            if let Some(directory) = sum.sorter.store.add_finding(&finding)? {
                let bug = Bug { id: id(&directory), directory: directory.clone(), count, ..bug };
                sum.sorter.sort_as(bug, &finding, &directory, observer)?;
            }
        }
        for found in found() {
            if let Sorted::Smaller(at) | Sorted::Again(at) = sum.sorter.bugs.sort(found) {
                sum.sorter.bugs.count(at, found.count, None);
            }
        }
        sum.sorter.bugs.count_all_once();
        for finding in queued {
            sum.add_unreduced(&finding, is_over)?;
        }
        for figures in figures {
            sum.waiting += figures.waiting;
            sum.counted.push(figures.counted);
        }
        Ok(())
    })
}

/// All of one engine at one version, and no two that visited the same databases. Gives the first.
fn check_alike<'a>(files: &'a [(&PathBuf, CampaignFile)]) -> anyhow::Result<&'a CampaignFile> {
    let Some(((first, file), others)) = files.split_first() else { bail!("name the campaigns to merge") };
    let tested = |file: &CampaignFile| format!("{} {}", file.dialect, file.engine_version);
    for (directory, other) in others {
        if tested(other) != tested(file) {
            bail!(
                "{} tested {} and {} tested {}; only campaigns of one version can be merged",
                first.display(),
                tested(file),
                directory.display(),
                tested(other)
            );
        }
    }
    for (at, (directory, file)) in files.iter().enumerate() {
        let parts = file.all_parts();
        let overlaps = |other: &CampaignFile| {
            other.all_parts().iter().any(|theirs| parts.iter().any(|part| part.overlaps(theirs)))
        };
        let Some((other, theirs)) = files[..at].iter().find(|(_, other)| overlaps(other)) else { continue };
        let (one, other) = (other.display(), directory.display());
        if file.joined && theirs.joined {
            bail!(
                "{one} and {other} are machines of one fleet, which `dissent fleet report --keep DIR` merges"
            );
        }
        bail!("{one} and {other} visited the same databases");
    }
    Ok(file)
}

/// A campaign that is being made of others.
struct Union {
    file: CampaignFile,
    store: Store,
    known: Vec<Known>,
}

/// What is in it so far.
struct Sum<'a> {
    sorter: Sorter<'a>,
    counted: Vec<Counted>,
    waiting: u64,
    /// What the entries of its corpus show, and the files of those that show nothing of their own.
    shown: BTreeSet<u32>,
    seeds: BTreeSet<Vec<u8>>,
}

impl Union {
    fn create(out: &Path, file: CampaignFile) -> anyhow::Result<Union> {
        let store = Store::create(Some(out), &file)?;
        let known = known_of(&file.dialect, &file.engine_version, &file.config.known)?;
        Ok(Union { file, store, known })
    }

    /// Puts everything in and writes the figures.
    fn fill(
        self,
        observer: &mut dyn Observer,
        fill: impl FnOnce(&mut Sum, &mut dyn Observer) -> anyhow::Result<()>,
    ) -> anyhow::Result<Summary> {
        let Union { file, store, known } = &self;
        let bugs = Bugs::default();
        let keep_duplicates = file.config.keep_duplicates;
        let sorter = Sorter { known, store, share: alone(), keep_duplicates, bugs };
        let (shown, seeds) = (BTreeSet::new(), BTreeSet::new());
        let mut sum = Sum { sorter, counted: Vec::new(), waiting: 0, shown, seeds };
        fill(&mut sum, observer)?;
        let bugs = sum.sorter.bugs.into_list();
        let new = bugs.iter().filter(|bug| bug.known.is_none()).count() as u64;
        let results = Results {
            operations: None,
            counted: Counted::side_by_side(sum.counted, new),
            bugs,
            waiting: sum.waiting,
            running: None,
        };
        let about = About {
            target: Target::parse(&file.config.target)?.public(),
            engine_version: file.engine_version.clone(),
            dialect: file.dialect.clone(),
        };
        let summary = Summary::new(&file.config, &about, &results);
        store.write_bugs(&results.bugs)?;
        store.write_counts(&results.counted)?;
        store.write_summary(&summary)?;
        Ok(summary)
    }
}

impl Sum<'_> {
    fn add_campaign(&mut self, directory: &Path, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let listed = store::read_bugs(directory)?;
        for path in store::finding_directories(directory)? {
            let finding = record::read(&path)?;
            let listed = listed.iter().find(|bug| bug.id == id(&path));
            // Two campaigns may have drawn the same: one hunt would have kept one of them.
            let Some(copy) = self.sorter.store.copy_finding(&path, &finding)? else { continue };
            match listed {
                Some(listed) => self.add_bug(listed, &finding, &copy, observer)?,
                None => self.waiting += 1,
            }
        }
        self.sorter.store.copy_others(directory)?;
        self.counted.push(store::read_counts(directory)?);
        self.unite_corpus(directory)
    }

    /// What a hunt has not reduced in the end is a bug of its own, unless a listed one explains it.
    fn add_unreduced(&mut self, finding: &Finding, is_over: bool) -> anyhow::Result<()> {
        let Some(directory) = self.sorter.store.add_finding(finding)? else { return Ok(()) };
        match is_over && !self.sorter.is_explained(finding) {
            true => self.sorter.bugs.add(self.sorter.bug(finding, &directory)),
            false => self.waiting += 1,
        }
        Ok(())
    }

    fn add_bug(
        &mut self,
        listed: &Bug,
        finding: &Finding,
        copy: &Path,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let bug = self.sorter.bug(finding, copy);
        // What was known there is known, though the file that said so may not be here.
        let known = bug.known.clone().or_else(|| listed.known.clone());
        self.sorter.sort_as(Bug { count: listed.count, known, ..bug }, finding, copy, observer)
    }

    /// Of two entries that show the same, one is kept.
    fn unite_corpus(&mut self, directory: &Path) -> anyhow::Result<()> {
        let (from, to) = (directory.join("corpus"), self.sorter.store.corpus());
        let files = fs::read_dir(&from).into_iter().flatten().filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        let number = self.counted.len();
        for path in paths {
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let Ok(entry) = serde_json::from_slice::<Entry>(&bytes) else { continue };
            let before = self.shown.len();
            self.shown.extend(&entry.features);
            let given = entry.features.is_empty() && self.seeds.insert(bytes.clone());
            if self.shown.len() > before || given {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                fs::create_dir_all(&to)
                    .and_then(|()| fs::write(to.join(format!("part{number}-{name}")), &bytes))
                    .with_context(|| format!("cannot write to {}", to.display()))?;
            }
        }
        Ok(())
    }
}

impl Counted {
    /// What campaigns counted that ran side by side, on several machines, and found so many bugs together.
    fn side_by_side(parts: Vec<Counted>, bugs: u64) -> Counted {
        let wall_seconds = parts.iter().map(|part| part.wall_seconds).fold(0.0, f64::max);
        let timelines: Vec<&Timeline> = parts.iter().map(|part| &part.timeline).collect();
        let mut timeline = Timeline::side_by_side(&timelines);
        let sum = parts.iter().fold(Counted::default(), |sum, part| sum.with(part.clone()));
        if !timeline.is_empty() {
            // What each saw is known in the end; of what several saw before that, only how much it was at least.
            let mut last = timeline.last();
            (last.features, last.bugs) = (sum.tally.learned.features.len() as u64, bugs);
            timeline.push(last);
        }
        Counted { wall_seconds, timeline, ..sum }
    }
}
