//! The rooms of this crate stand in an order, which ARCHITECTURE.md states: a room uses only those before it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The line of ARCHITECTURE.md that lists the rooms: `rng · hash · sql · …`.
fn order() -> Vec<String> {
    let page = include_str!("../../../ARCHITECTURE.md");
    let listed = page.split("<!-- rooms -->").nth(1).expect("a list of rooms between two marks");
    listed.split('·').map(|room| room.trim().trim_matches('`').to_string()).collect()
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The code of a file without its comments and its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The rooms that a file uses: what follows `crate::`.
fn uses(code: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let names =
        code.split("crate::").skip(1).map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default());
    names.filter(|name| !name.is_empty()).map(str::to_string).collect()
}

#[test]
fn no_room_uses_a_later_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let order = order();
    let place: BTreeMap<&str, usize> =
        order.iter().enumerate().map(|(at, room)| (room.as_str(), at)).collect();
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in files {
        let inside = path.strip_prefix(&root).unwrap();
        let room = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_string();
        let is_test = inside.to_string_lossy().contains("tests");
        if room == "lib" || is_test {
            continue;
        }
        let Some(own) = place.get(room.as_str()) else {
            wrong.push(format!("{room} is not among the rooms of ARCHITECTURE.md"));
            continue;
        };
        seen.insert(room.clone());
        for used in uses(&code(&path)) {
            // Macros of this crate are named by their paths, too.
            if place.get(used.as_str()).is_some_and(|other| other > own) {
                wrong.push(format!("{} uses {used}, a later room", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&String> = order.iter().filter(|room| !seen.contains(*room)).collect();
    assert!(missing.is_empty(), "rooms without code: {missing:?}");
}
