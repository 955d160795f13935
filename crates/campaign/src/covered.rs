//! What a campaign has seen of the engine's code, function by function.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use dissent_coverage::{Map, Symbols};
use dissent_engine::Target;

use crate::observer::Observer;
use crate::store;
use crate::tested::target_in_file;

/// How much was seen of the functions of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Basic blocks that were passed.
    pub blocks: usize,
    /// Those there are.
    pub all: usize,
}

/// What a campaign has seen of the engine's code.
pub struct Covered {
    /// By the names of functions, as people write them.
    pub functions: BTreeMap<String, Seen>,
    /// Functions without a name: the binary does not tell.
    pub nameless: Vec<Seen>,
}

impl Covered {
    /// What a campaign has seen. `target` is needed for a library by its path.
    pub fn of(campaign: &Path, target: Option<&str>, observer: &mut dyn Observer) -> anyhow::Result<Covered> {
        let file = store::read_campaign(campaign)?;
        let map = store::map_in(campaign);
        if !map.exists() && !file.parts.is_empty() {
            bail!("{} was made of other campaigns: name one of those", campaign.display());
        }
        if !map.exists() {
            bail!("{} has no coverage: hunt with --guide coverage", campaign.display());
        }
        let target = match target {
            Some(target) => Target::parse(target)?,
            None => target_in_file(&file.config.target)?,
        };
        let source = target.obtain_watchable(&mut |step| observer.wait(&step.to_string()))?;
        let (binary, code) = source.code()?;
        let map = Map::open(&map)?;
        if !map.is_of(&code) {
            bail!("{} tested another build of {target} than the one on this machine", campaign.display());
        }
        let symbols = Symbols::of(&binary)?;
        let mut seen = vec![Seen::default(); code.functions.len()];
        for (number, place) in code.places.iter().enumerate() {
            let function = code.function_of(*place).context("a place outside of all functions")?;
            seen[function].all += 1;
            seen[function].blocks += usize::from(map.is_seen(number));
        }
        let mut covered = Covered { functions: BTreeMap::new(), nameless: Vec::new() };
        for (start, seen) in code.functions.iter().zip(seen) {
            match symbols.name(*start) {
                Some(name) => {
                    let of_name = covered.functions.entry(name).or_default();
                    of_name.blocks += seen.blocks;
                    of_name.all += seen.all;
                }
                None => covered.nameless.push(seen),
            }
        }
        Ok(covered)
    }
}
