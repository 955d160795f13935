//! `dissent stats coverage`: which functions of the engine a campaign reached.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::bail;
use dissent_campaign::{Covered, Seen};

use crate::numbers::{grouped, percent};
use crate::progress::LiveLine;

/// Smaller groups are counted together.
const LEAST_FUNCTIONS: usize = 5;
const OTHERS: &str = "others";
const NAMELESS: &str = "without a name";

/// Groups of functions; or, of one group, every function.
pub fn run(campaign: &Path, target: Option<&str>, group: Option<&str>) -> anyhow::Result<()> {
    let covered = Covered::of(campaign, target, &mut LiveLine::new())?;
    let text = match group {
        Some(group) => match functions(&covered, group) {
            table if table.is_empty() => bail!("no function is in the group '{group}'"),
            table => table,
        },
        None => groups(&covered),
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

#[derive(Default)]
struct Group {
    functions: usize,
    reached: usize,
    seen: Seen,
}

impl Group {
    fn add(&mut self, functions: usize, reached: usize, seen: Seen) {
        self.functions += functions;
        self.reached += reached;
        self.seen.blocks += seen.blocks;
        self.seen.all += seen.all;
    }

    fn row(&self, name: &str) -> String {
        let Group { functions, reached, seen } = self;
        let numbers = [reached, functions, &seen.blocks, &seen.all].map(|number| grouped(*number as u64));
        let [reached, functions, blocks, all] = numbers;
        let part = percent(seen.blocks as u64, seen.all as u64);
        format!("| {name} | {reached} of {functions} | {blocks} of {all} | {part} |\n")
    }
}

fn groups(covered: &Covered) -> String {
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    let mut all = Group::default();
    for (name, seen) in &covered.functions {
        let reached = usize::from(seen.blocks > 0);
        groups.entry(group_of(name)).or_default().add(1, reached, *seen);
        all.add(1, reached, *seen);
    }
    let mut nameless = Group::default();
    for seen in &covered.nameless {
        nameless.add(1, usize::from(seen.blocks > 0), *seen);
        all.add(1, usize::from(seen.blocks > 0), *seen);
    }
    let mut others = Group::default();
    groups.retain(|_, group| {
        let is_small = group.functions < LEAST_FUNCTIONS;
        if is_small {
            others.add(group.functions, group.reached, group.seen);
        }
        !is_small
    });
    let mut rows: Vec<(&str, Group)> = groups.into_iter().collect();
    // What is missed most comes first.
    rows.sort_by_key(|(name, group)| (std::cmp::Reverse(group.seen.all - group.seen.blocks), *name));
    rows.extend(
        [(OTHERS, others), (NAMELESS, nameless)].into_iter().filter(|(_, group)| group.functions > 0),
    );
    let mut table = String::from("| functions | reached | blocks | |\n| --- | --- | --- | --- |\n");
    table.push_str(&all.row("all"));
    rows.iter().for_each(|(name, group)| table.push_str(&group.row(name)));
    table
}

fn functions(covered: &Covered, group: &str) -> String {
    let mut table = String::new();
    for (name, seen) in covered.functions.iter().filter(|(name, _)| group_of(name) == group) {
        let _ = writeln!(table, "| {name} | {} of {} |", seen.blocks, seen.all);
    }
    match table.is_empty() {
        true => table,
        false => format!("| function | blocks |\n| --- | --- |\n{table}"),
    }
}

/// What a function belongs to, by its name: its class, or what names begin with that belong together.
fn group_of(name: &str) -> &str {
    if let Some((scope, _)) = name.rsplit_once("::") {
        // Below the second level there are hardly two functions in a group.
        let end = scope.match_indices("::").nth(1).map_or(scope.len(), |(at, _)| at);
        return &scope[..end];
    }
    let bare = name.trim_start_matches('_');
    let own = &name[name.len() - bare.len()..];
    let first = word(own);
    match &own[first..] {
        // Names of a library that all begin with its own say more behind that.
        rest if own[..first].ends_with(|c: char| c.is_ascii_digit()) && !rest.starts_with('_') => {
            &own[..first + word(rest)]
        }
        _ => &own[..first],
    }
}

/// The length of the first word: up to a large letter or an underscore.
fn word(text: &str) -> usize {
    let starts = text.char_indices().skip(1);
    let mut ends = starts.filter(|(_, c)| c.is_ascii_uppercase() || *c == '_');
    ends.next().map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_grouped_by_what_they_belong_to() {
        for (name, group) in [
            ("sqlite3VdbeExec", "sqlite3Vdbe"),
            ("sqlite3_open_v2", "sqlite3"),
            ("rtreeFilter", "rtree"),
            ("heap_insert", "heap"),
            ("_bt_search", "bt"),
            ("ExecInitNode", "Exec"),
            ("duckdb::Sort::Sink", "duckdb::Sort"),
            ("duckdb::a::b::c", "duckdb::a"),
            ("main", "main"),
        ] {
            assert_eq!(group_of(name), group, "{name}");
        }
    }

    #[test]
    fn what_was_never_entered_is_seen() {
        let seen = |blocks, all| Seen { blocks, all };
        let spatial = |number: usize| (format!("rtree{}", "X".repeat(number + 1)), seen(0, 20));
        let mut functions: BTreeMap<String, Seen> = (0..6).map(spatial).collect();
        functions.insert("whereLoop".to_string(), seen(5, 10));
        let covered = Covered { functions, nameless: vec![seen(1, 2)] };
        let table = groups(&covered);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| all | 2 of 8 | 6 of 132 | 4.5 % |",
                "| rtree | 0 of 6 | 0 of 120 | 0.0 % |",
                "| others | 1 of 1 | 5 of 10 | 50.0 % |",
                "| without a name | 1 of 1 | 1 of 2 | 50.0 % |",
            ]
        );
        assert_eq!(self::functions(&covered, "rtree").lines().count(), 8);
    }
}
