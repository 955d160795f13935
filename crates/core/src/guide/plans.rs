//! Plan coverage: the shapes of plans, for every engine that explains.

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
            self.seen.push(fingerprint(&plan));
        }
        Ok(())
    }

    fn take(&mut self, _: &mut Session, seen: &mut Vec<Feature>) {
        seen.append(&mut self.seen);
    }
}

/// A plan's shape as a number: names and constants do not count, and neither does how often a line comes again.
fn fingerprint(plan: &str) -> Feature {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut last = String::new();
    for line in plan.lines() {
        let shape = abstracted(line);
        if shape == last {
            continue;
        }
        for byte in shape.bytes().chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        last = shape;
    }
    // The upper half has mixed best.
    ((hash >> 32) as usize % FEATURES) as Feature
}

/// A line without what belongs to the example. Objects of ours have a letter and a number for a name; numbers and
/// whatever is in quotes are constants, estimates or costs.
fn abstracted(line: &str) -> String {
    let mut shape = String::new();
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\'' | '"' | '`' => {
                letters.by_ref().take_while(|next| *next != c).for_each(drop);
                if !shape.ends_with('\'') {
                    shape.push('\'');
                }
            }
            _ if c.is_alphanumeric() || c == '_' => {
                let mut word = String::from(c);
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || "_.".contains(*next))
                {
                    word.push(next);
                }
                let constant = word.chars().any(|c| c.is_ascii_digit());
                shape.push_str(if constant { "n" } else { &word });
            }
            // How the engine draws its trees.
            _ if c.is_whitespace() || "│─┌┐└┘├┤┬┴|-+".contains(c) => {
                if !shape.ends_with(' ') {
                    shape.push(' ');
                }
            }
            _ => shape.push(c),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_constants_are_no_part_of_a_shape() {
        let one = fingerprint("SEARCH t0 USING INDEX i3 (c0=?)\nSCAN t1");
        assert_eq!(one, fingerprint("SEARCH t7 USING INDEX i0 (c2=?)\nSCAN t0"));
        assert_ne!(one, fingerprint("SEARCH t0 USING COVERING INDEX i3 (c0=?)\nSCAN t1"));
        assert_ne!(one, fingerprint("SCAN t1\nSEARCH t0 USING INDEX i3 (c0=?)"));
    }

    #[test]
    fn a_filter_is_known_by_its_operators() {
        let filter = |text: &str| fingerprint(&format!("Seq Scan on t0\n  Filter: {text}"));
        assert_eq!(filter("(c0 > 5)"), filter("(c1 > -77)"));
        assert_eq!(filter("(c0 ~~ 'a%'::text)"), filter("(c3 ~~ 'it''s'::text)"));
        assert_ne!(filter("(c0 > 5)"), filter("(c0 <= 5)"));
    }

    #[test]
    fn the_same_line_again_says_nothing_new() {
        assert_eq!(fingerprint("SCAN t0\nSCAN t1\nSCAN t2"), fingerprint("SCAN t0\nSCAN t1"));
    }
}
