//! Plan coverage: the shapes of the steps of plans, for every engine that explains.

use super::{FEATURES, Feature, Guide};
use crate::engine::Trouble;
use crate::session::Session;
use crate::sql::Query;

/// Sees the plan of every query that is asked.
#[derive(Default)]
pub struct Plans {
    seen: Vec<Feature>,
}

impl Guide for Plans {
    fn asked(&mut self, query: &Query, session: &mut Session) -> Result<(), Trouble> {
        if let Some(plan) = session.explain(query)? {
            self.seen.extend(features(&plan));
        }
        Ok(())
    }

    fn take(&mut self, _: &mut Session, seen: &mut Vec<Feature>) {
        seen.append(&mut self.seen);
    }
}

/// What can be new about a plan: the shape of each of its steps, and of each two steps in a row. Whole plans are nearly
/// all different.
fn features(plan: &str) -> Vec<Feature> {
    let mut found = Vec::new();
    let mut before = String::new();
    for line in plan.lines() {
        let shape = abstracted(line);
        if shape.is_empty() || shape == before {
            continue;
        }
        found.push(feature(&["", &shape]));
        found.push(feature(&[&before, &shape]));
        before = shape;
    }
    found
}

fn feature(parts: &[&str]) -> Feature {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([b'\n']));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The upper half has mixed best.
    ((hash >> 32) as usize % FEATURES) as Feature
}

/// A line without what belongs to the example: names and numbers (objects of ours have a letter and a number for a
/// name), what is in quotes, and expressions, in parentheses or behind a colon. SQLite's `(c0=? AND c1>?)` is no
/// expression but how an index is used.
fn abstracted(line: &str) -> String {
    let line = line.split_once(": ").map_or(line, |(label, _)| label);
    let mut shape = String::new();
    let mut letters = line.chars().peekable();
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
    shape
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
    fn the_same_step_again_says_nothing_new() {
        assert_eq!(features("SCAN t0\nSCAN t1\nSCAN t2"), features("SCAN t0\nSCAN t1"));
    }
}
