//! The bugs of a campaign once its findings are dated: those that have different versions are taken apart, those
//! that came and went together are put together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::reduce::Weight;
use dissent_core::triage::known::Known;
use dissent_core::triage::{causes, span};

use super::bugs::Bug;
use super::store::{self, DUPLICATES, FINDINGS};

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
    let mut groups: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        let entry = known.iter().find(|known| finding.triage.signature.is_some() && known.marks(finding));
        let name = match (entry, &names[at]) {
            (Some(known), _) => Name::Known(known.id.clone()),
            (None, Some(name)) => Name::Cause(name.clone()),
            // One that is kept beside a bug stays beside it, and one that waits to be reduced goes on waiting.
            (None, None) if !listed.contains_key(&id(&directories[at])) => continue,
            (None, None) => Name::Own(at),
        };
        groups.entry(name).or_default().push(at);
    }
    let mut bugs = Vec::new();
    for (name, members) in groups {
        let size = |at: &usize| -> anyhow::Result<(usize, usize)> {
            let finding = &findings[*at];
            let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
            Ok((Weight::of(&finding.case, &dialect).tokens, finding.case.setup.len()))
        };
        let mut sized = Vec::new();
        for at in &members {
            // A name that was shown stays, if there is one.
            sized.push((!is_listed(&directories[*at]), size(at)?, *at));
        }
        sized.sort();
        let Some(&(_, (tokens, statements), example)) = sized.first() else { continue };
        let counted = members.iter().filter_map(|at| listed.get(&id(&directories[*at])));
        let count = if all_are_kept { members.len() as u64 } else { counted.map(|bug| bug.count).sum() };
        for (at, directory) in members.iter().map(|at| (*at, &directories[*at])) {
            let place = if at == example { FINDINGS } else { DUPLICATES };
            if is_listed(directory) != (place == FINDINGS) {
                store::move_within(campaign, place, directory)?;
            }
        }
        let finding = &findings[example];
        let id = id(&directories[example]);
        bugs.push(Bug {
            oracle: finding.case.subject.oracle.clone(),
            class: finding.evidence.class,
            signature: finding.triage.signature.clone(),
            known: if let Name::Known(known) = name { Some(known) } else { None },
            versions: finding.triage.history.as_ref().map(span),
            count: count.max(1),
            statements,
            tokens,
            directory: campaign.join(FINDINGS).join(&id),
            id,
        });
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

fn id(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
