//! Regroups the bugs of a campaign after bisection: findings with different version ranges are split, findings that
//! appeared and disappeared together are merged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::triage::causes;
use dissent_core::triage::known::Known;

use crate::bugs::Bug;
use crate::store::{self, DUPLICATES, FINDINGS};

/// Sorts findings into bugs again, moves each to where it belongs, and writes the list. Nothing is removed. What
/// has no history stays where it is.
pub fn regroup(
    campaign: &Path,
    all_are_kept: bool,
    directories: &[PathBuf],
    findings: &[Finding],
    known: &[Known],
) -> anyhow::Result<Vec<Bug>> {
    let listed: BTreeMap<String, Bug> =
        store::read_bugs(campaign)?.into_iter().map(|bug| (bug.id.clone(), bug)).collect();
    let names = causes(&findings.iter().collect::<Vec<_>>());
    let mut groups: BTreeMap<Name, Vec<Bug>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
        let bug = Bug::of(finding, &directories[at], &dialect, known);
        let name = match (&bug.known, &names[at]) {
            (Some(known), _) => Name::Known(known.clone()),
            (None, Some(name)) => Name::Cause(name.clone()),
            // One that is kept beside a bug stays beside it, and one that waits to be reduced goes on waiting.
            (None, None) if !listed.contains_key(&bug.id) => continue,
            (None, None) => Name::Own(at),
        };
        groups.entry(name).or_default().push(bug);
    }
    let mut bugs = Vec::new();
    for mut examples in groups.into_values() {
        // A name that was shown stays, if there is one.
        examples.sort_by_key(|bug| (!is_listed(&bug.directory), bug.size()));
        let counted = examples.iter().filter_map(|bug| listed.get(&bug.id));
        let count = if all_are_kept { examples.len() as u64 } else { counted.map(|bug| bug.count).sum() };
        for (at, example) in examples.iter().enumerate() {
            let place = if at == 0 { FINDINGS } else { DUPLICATES };
            if is_listed(&example.directory) != (place == FINDINGS) {
                store::move_within(campaign, place, &example.directory)?;
            }
        }
        let smallest = examples.swap_remove(0);
        let directory = campaign.join(FINDINGS).join(&smallest.id);
        bugs.push(Bug { count: count.max(1), directory, ..smallest });
    }
    store::write_bugs(campaign, &bugs)?;
    Ok(bugs)
}

/// What makes findings one bug.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Cause(String),
    /// However it looks, and in whatever versions.
    Known(String),
    /// It was not dated, so nothing is said of it.
    Own(usize),
}

/// Whether a finding stands among the bugs, not among further examples of them.
fn is_listed(directory: &Path) -> bool {
    directory.parent().is_some_and(|parent| parent.ends_with(FINDINGS))
}
