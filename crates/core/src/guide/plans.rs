//! Plan coverage: the shapes of plan steps, for every engine with EXPLAIN.

use std::collections::HashMap;

use super::shape::Shapes;
use super::{Feature, Guide};
use crate::engine::Stop;
use crate::session::Session;
use crate::sql::Query;
use crate::state::State;

/// Sees the plans of queries whose shape is new.
#[derive(Default)]
pub struct Plans {
    shapes: Shapes,
}

impl Guide for Plans {
    fn looks_at_queries(&self) -> bool {
        true
    }

    fn is_promising(&mut self, query: &Query, state: &State) -> bool {
        self.shapes.is_new(query, state)
    }

    fn look(&mut self, query: &Query, session: &mut Session) -> Result<Vec<Feature>, Stop> {
        Ok(session.plan(query)?.map(|plan| features(&plan)).unwrap_or_default())
    }
}

/// What can be new about a plan: the shape of each of its steps, and of each two steps in a row. Whole plans are nearly
/// all different.
fn features(plan: &str) -> Vec<Feature> {
    let mut found = Vec::new();
    // The step before, of each column of boxes.
    let mut before: HashMap<usize, String> = HashMap::new();
    for line in plan.lines() {
        for (column, step) in steps(line) {
            let parts: Vec<String> =
                step.split(" | ").flat_map(|cell| cell.split("; ")).filter_map(abstracted).collect();
            // A row of a table says in its first cells what is done, in the others how: all of them together would be
            // as many as whole plans.
            for pair in parts.windows(2) {
                found.push(feature(&["with", &pair[0], &pair[1]]));
            }
            found.extend(parts.iter().map(|part| feature(&["", part])));
            let shape = parts.iter().take(2).cloned().collect::<String>();
            let before = before.entry(column).or_default();
            if !shape.is_empty() && shape != *before {
                found.push(feature(&[before, &shape]));
                *before = shape;
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The steps of a line: itself, or, where a plan is drawn as boxes side by side, what is in each box and where that
/// stands.
fn steps(line: &str) -> Vec<(usize, String)> {
    let is_frame = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    if !line.contains(is_frame) {
        return vec![(0, line.to_string())];
    }
    let (mut steps, mut column, mut text) = (Vec::new(), 0, String::new());
    for (at, c) in line.chars().chain(['│']).enumerate() {
        if !is_frame(c) {
            text.push(c);
            continue;
        }
        if !text.trim().is_empty() {
            steps.push((column, text.trim().to_string()));
        }
        text.clear();
        if "╭┌│├╰└".contains(c) {
            column = at;
        }
    }
    steps
}

/// Shapes of steps are hashed to numbers below this.
const SHAPES: usize = 1 << 20;

fn feature(parts: &[&str]) -> Feature {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([b'\n']));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The upper half has mixed best.
    ((hash >> 32) as usize % SHAPES) as Feature
}

/// A step without what belongs to the example: names and numbers (objects of ours have a letter and a number for a
/// name), estimates, what is in quotes, and expressions, in parentheses or behind a colon. SQLite's `(c0=? AND c1>?)` is
/// no expression but how an index is used, and `LEFT` behind a colon is no expression either.
fn abstracted(step: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphabetic() || c == ' ';
    let step = match step.split_once(": ") {
        Some((label, value)) if !value.chars().all(is_word) => label,
        _ => step,
    };
    if step.starts_with('~') || step == "NULL" {
        return None;
    }
    let mut shape = String::new();
    let mut letters = step.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\'' | '"' | '`' => letters.by_ref().take_while(|next| *next != c).for_each(drop),
            '(' => {
                let mut depth = 1;
                let inside: String = letters
                    .by_ref()
                    .take_while(|next| {
                        depth += i32::from(*next == '(') - i32::from(*next == ')');
                        depth > 0
                    })
                    .collect();
                if inside.contains('?') {
                    shape.push_str(&inside.replace(|c: char| c.is_alphanumeric() || c == '_', ""));
                }
            }
            _ if c.is_alphabetic() => {
                let mut word = String::from(c);
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || "_.".contains(*next))
                {
                    word.push(next);
                }
                if !word.contains(|c: char| c.is_ascii_digit()) {
                    shape.push_str(&word);
                    shape.push(' ');
                }
            }
            _ => {}
        }
    }
    (!shape.is_empty()).then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_constants_are_no_part_of_a_shape() {
        let one = features("SEARCH t0 USING INDEX i3 (c0=?)\nSCAN t1");
        assert_eq!(one, features("SEARCH t7 USING INDEX i0 (c2=?)\nSCAN t0"));
        assert_ne!(one, features("SEARCH t0 USING COVERING INDEX i3 (c0=?)\nSCAN t1"));
        assert_ne!(one, features("SEARCH t0 USING INDEX i3 (c0=? AND c1>?)\nSCAN t1"));
        assert_ne!(one, features("SCAN t1\nSEARCH t0 USING INDEX i3 (c0=?)"));
    }

    #[test]
    fn expressions_are_no_part_of_a_shape() {
        let filter = |text: &str| features(&format!("->  Seq Scan on t0\n  {text}"));
        assert_eq!(filter("Filter: (c0 > 5)"), filter("Filter: ((c1)::text <= 'it''s'::text)"));
        assert_ne!(filter("Filter: (c0 > 5)"), filter("Index Cond: (c0 > 5)"));
    }

    #[test]
    fn boxes_side_by_side_have_nothing_to_do_with_each_other() {
        let left = "╭─ Filter ────┴──────╮\n│ Expression: c0 > 5 │\n│ ~1 row             │";
        let beside = "╭─ Filter ────┴──────╮  ╭─ Seq Scan ─╮\n│ Expression: c0 > 5 │  │ Table: t1  │\n│ ~1 row             │  │ ~7 rows    │";
        let mut both = [features(left), features("╭─ Seq Scan ─╮\n│ Table: t1  │")].concat();
        both.sort_unstable();
        assert_eq!(both, features(beside));
        let join = |kind: &str| features(&format!("╭─ Hash Join ─────╮\n│ Join Type: {kind} │"));
        assert_ne!(join("LEFT"), join("SEMI"));
    }

    #[test]
    fn cells_of_a_row_are_looked_at_two_by_two() {
        let row =
            |table: &str, extra: &str| features(&format!("1 | SIMPLE | {table} | ref | NULL | 4 | {extra}"));
        assert_eq!(row("t0", "Using where; Using filesort"), row("t5", "Using where; Using filesort"));
        let known =
            [row("t0", "Using where; Using index"), row("t0", "Using index; Using filesort")].concat();
        let three = row("t0", "Using where; Using index; Using filesort");
        assert!(three.iter().all(|feature| known.contains(feature)));
    }

    #[test]
    fn the_same_step_again_says_nothing_new() {
        assert_eq!(features("SCAN t0\nSCAN t1\nSCAN t2"), features("SCAN t0\nSCAN t1"));
    }
}
