//! The statements of sqllogictest's records. What they expect is not read; those that are to fail are not run.

use super::script::{EXPECTED_TO_FAIL, Habits, Part, sql};

/// `skipif`, `onlyif`.
const FOR_ANOTHER_ENGINE: &str = "the script skips it on this engine";

/// Loops may multiply what they hold.
const MOST_STATEMENTS: usize = 20_000;

pub fn split(text: &str, habits: Habits) -> Vec<Part> {
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader { lines: &lines, habits, parts: Vec::new(), halted: false };
    reader.read(0..lines.len(), &mut Vec::new());
    reader.parts
}

/// Whether a text has records at all.
pub fn has_any(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("statement ok") || line.starts_with("query "))
}

struct Reader<'a> {
    lines: &'a [&'a str],
    habits: Habits<'a>,
    parts: Vec<Part>,
    halted: bool,
}

impl<'a> Reader<'a> {
    /// Reads these lines with the variables of the loops around them.
    fn read(&mut self, range: std::ops::Range<usize>, variables: &mut Variables<'a>) {
        let (mut at, mut skipped) = (range.start, false);
        while at < range.end && !self.halted && self.parts.len() < MOST_STATEMENTS {
            let words: Vec<&str> = self.lines[at].split_whitespace().collect();
            at += 1;
            match words.as_slice() {
                ["halt", ..] => self.halted = !std::mem::take(&mut skipped),
                ["skipif", engine, ..] => skipped |= self.is_for(engine),
                ["onlyif", engine, ..] => skipped |= !self.is_for(engine),
                ["statement" | "query", expected @ ..] => {
                    let end = self.end_of_record(at, range.end);
                    let fails = expected.first() == Some(&"error") || expected.first() == Some(&"maybe");
                    let left_out = match (std::mem::take(&mut skipped), fails) {
                        (true, _) => Some(FOR_ANOTHER_ENGINE),
                        (_, true) => Some(EXPECTED_TO_FAIL),
                        _ => None,
                    };
                    self.record(at..end, variables, left_out);
                    at = end;
                }
                ["loop" | "concurrentloop", name, first, last, ..] => {
                    let end = self.end_of_loop(at, range.end);
                    let (first, last) = (first.parse().unwrap_or(0_i64), last.parse().unwrap_or(0));
                    let values = (first..last).take(MOST_STATEMENTS).map(|number| vec![number.to_string()]);
                    self.repeat(&[name], values, at..end, variables);
                    at = end + 1;
                }
                ["foreach" | "concurrentforeach", name, values @ ..] => {
                    let end = self.end_of_loop(at, range.end);
                    // `foreach a,b 1,2 3,4` sets two variables at a time.
                    let names: Vec<&str> = name.split(',').collect();
                    let values = listed(values).into_iter().map(|value| match names.len() {
                        1 => vec![value],
                        _ => value.split(',').map(str::to_string).collect(),
                    });
                    self.repeat(&names, values, at..end, variables);
                    at = end + 1;
                }
                _ => {}
            }
        }
    }

    fn repeat(
        &mut self,
        names: &[&'a str],
        values: impl Iterator<Item = Vec<String>>,
        body: std::ops::Range<usize>,
        variables: &mut Variables<'a>,
    ) {
        for values in values {
            if self.parts.len() >= MOST_STATEMENTS || self.halted || variables.len() > MOST_VARIABLES {
                return;
            }
            let (before, outside) = (self.parts.len(), variables.len());
            variables.extend(names.iter().copied().zip(values));
            self.read(body.clone(), variables);
            variables.truncate(outside);
            // A loop without statements ends at once, however often it was to run.
            if self.parts.len() == before {
                return;
            }
        }
    }

    /// Up to an empty line or what is expected.
    fn end_of_record(&self, start: usize, limit: usize) -> usize {
        let ends = |line: &&str| line.trim().is_empty() || line.trim() == "----";
        self.lines[start..limit].iter().position(ends).map_or(limit, |length| start + length)
    }

    fn end_of_loop(&self, start: usize, limit: usize) -> usize {
        let mut depth = 1;
        for (at, line) in self.lines[start..limit].iter().enumerate() {
            match line.split_whitespace().next() {
                Some("loop" | "foreach" | "concurrentloop" | "concurrentforeach") => depth += 1,
                Some("endloop") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return start + at;
            }
        }
        limit
    }

    fn record(
        &mut self,
        range: std::ops::Range<usize>,
        variables: &[(&str, String)],
        left_out: Option<&'static str>,
    ) {
        let mut text = self.lines[range.clone()].join("\n");
        for (name, value) in variables {
            // `${name}` in the first runners, `{name}` in DuckDB's newer one.
            text = text.replace(&format!("${{{name}}}"), value).replace(&format!("{{{name}}}"), value);
        }
        let parts = sql(&text, range.start + 1, self.habits).into_iter();
        self.parts.extend(parts.map(|part| Part { left_out: left_out.or(part.left_out), ..part }));
    }

    /// Whether a record for this engine is one for ours.
    fn is_for(&self, engine: &str) -> bool {
        let engine = engine.to_ascii_lowercase();
        engine == self.habits.engine || (engine == "postgresql" && self.habits.engine == "postgres")
    }
}

/// Of the loops around a record.
const MOST_VARIABLES: usize = 16;

/// A loop's variable and its value.
type Variables<'a> = Vec<(&'a str, String)>;

/// Types that DuckDB's loops name as a group.
const GROUPS: &[(&str, &[&str])] = &[
    ("<signed>", SIGNED),
    ("<unsigned>", UNSIGNED),
    ("<integral>", INTEGRAL),
    ("<numeric>", NUMERIC),
    ("<alltypes>", ALL_TYPES),
];
const SIGNED: &[&str] = &["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"];
const UNSIGNED: &[&str] = &["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"];
const INTEGRAL: &[&str] = &[
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
];
const NUMERIC: &[&str] = &[
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
];
const ALL_TYPES: &[&str] = &[
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "BOOL",
    "INTERVAL",
    "VARCHAR",
];

/// The values of a loop: groups of types one by one, without those behind a `!`.
fn listed(values: &[&str]) -> Vec<String> {
    let without = |value: &str| values.iter().any(|other| other.strip_prefix('!') == Some(value));
    let members = |value: &&str| match GROUPS.iter().find(|(group, _)| group == value) {
        Some((_, members)) => members.iter().map(|member| member.to_string()).collect(),
        None => vec![value.to_string()],
    };
    let named = values.iter().filter(|value| !value.starts_with('!'));
    named.flat_map(members).filter(|value| !without(&value.to_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str, engine: &str) -> Vec<String> {
        let parts = split(script, Habits { engine, ..Habits::default() }).into_iter();
        parts.filter(|part| part.left_out.is_none()).map(|part| part.sql).collect()
    }

    #[test]
    fn records_lose_what_they_expect() {
        let script = "hash-threshold 8\n\nstatement ok\nCREATE TABLE t(a);\n\nskipif mysql\nquery I rowsort\nSELECT a\nFROM t\n----\n1\n\nhalt\n\nstatement ok\nDROP TABLE t\n";
        assert_eq!(texts(script, "duckdb"), ["CREATE TABLE t(a)", "SELECT a\nFROM t"]);
        assert_eq!(texts(script, "mysql"), ["CREATE TABLE t(a)"]);
    }

    #[test]
    fn loops_are_run_and_expected_errors_are_left_out() {
        let script = "loop i 0 2\n\nforeach x a b\n\nstatement ok\nINSERT INTO t VALUES (${i}, '${x}')\n\nendloop\n\nendloop\n\n\
            statement error\nSELECT nonsense\n----\nParser Error\n\nonlyif postgresql\nquery I\nSELECT 1\n----\n1\n";
        let inserted =
            ["(0, 'a')", "(0, 'b')", "(1, 'a')", "(1, 'b')"].map(|row| format!("INSERT INTO t VALUES {row}"));
        assert_eq!(texts(script, "duckdb"), inserted);
        assert_eq!(texts(script, "postgres").last().map(String::as_str), Some("SELECT 1"));
        let left_out: Vec<_> = split(script, Habits { engine: "duckdb", ..Habits::default() })
            .into_iter()
            .filter_map(|part| Some((part.line, part.left_out?)))
            .collect();
        assert_eq!(left_out, [(13, EXPECTED_TO_FAIL), (19, FOR_ANOTHER_ENGINE)]);
    }

    #[test]
    fn loops_have_groups_of_types_and_several_variables() {
        let script = "foreach type <signed> !hugeint\n\nquery I\nSELECT 1::{type}\n----\n1\n\nendloop\n";
        let types = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT"].map(|ty| format!("SELECT 1::{ty}"));
        assert_eq!(texts(script, "duckdb"), types);
        let script = "foreach a,b 1,2 3,4\nstatement ok\nSELECT {a}, {b}, {'c': 1}\n\nendloop\n";
        assert_eq!(texts(script, "duckdb"), ["SELECT 1, 2, {'c': 1}", "SELECT 3, 4, {'c': 1}"]);
    }

    #[test]
    fn a_loop_that_would_never_end_does() {
        assert!(texts("loop i 0 999999999999\nstatement ok\nSELECT ${i}\n", "x").len() <= MOST_STATEMENTS);
        assert_eq!(texts("loop i 0 999999999999\nendloop\n", "x"), [""; 0]);
    }
}
