//! The SQL in SQLite's tests, which are TCL: what stands in braces behind the commands that run it.

use super::script::{EXPECTED_TO_FAIL, Habits, Part, USES_VARIABLES, sql};

/// Commands whose first argument is SQL.
const RUN: &[&str] = &["execsql", "catchsql", "db eval", "db2 eval", "db one", "db onecolumn"];
/// Commands with a name before it, and what it returns behind it.
const TEST: &[&str] = &["do_execsql_test", "do_catchsql_test", "do_eqp_test"];

/// Whether a text has such commands.
pub fn has_any(text: &str) -> bool {
    RUN.iter().chain(TEST).any(|command| text.contains(command))
}

pub fn split(text: &str, habits: Habits) -> Vec<Part> {
    let (mut parts, mut line, mut at) = (Vec::new(), 1, 0);
    // A command can stand here.
    let mut begins = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match c {
            '\n' | '{' | '[' | ';' => {
                begins = true;
                1
            }
            c if c.is_whitespace() => c.len_utf8(),
            '#' if begins => rest.find('\n').unwrap_or(rest.len()),
            _ if std::mem::take(&mut begins) => match argument(rest) {
                Some(argument) => argument.read(line, habits, &mut parts),
                None => c.len_utf8(),
            },
            c => c.len_utf8(),
        };
        line += rest[..length].matches('\n').count();
        at += length;
    }
    parts
}

/// Where the SQL of a command begins.
struct Argument<'a> {
    command: &'a str,
    rest: &'a str,
    at: usize,
}

fn argument(rest: &str) -> Option<Argument<'_>> {
    let named =
        |command: &&&str| rest.strip_prefix(**command).is_some_and(|rest| rest.starts_with([' ', '\t', '{']));
    let command = RUN.iter().chain(TEST).find(named)?;
    let mut at = past_blanks(rest, command.len());
    if TEST.contains(command) {
        while rest[at..].starts_with('-') {
            at = past_blanks(rest, past_word(rest, past_blanks(rest, past_word(rest, at))));
        }
        at = past_blanks(rest, past_word(rest, at));
    }
    Some(Argument { command, rest, at })
}

impl Argument<'_> {
    /// Adds its statements, and gives how far it goes.
    fn read(&self, line: usize, habits: Habits, parts: &mut Vec<Part>) -> usize {
        let Argument { rest, at, .. } = *self;
        let line = line + rest[..at].matches('\n').count();
        let found = parts.len();
        let length = match rest[at..].chars().next() {
            Some('{') => {
                let body = braced(&rest[at..]);
                parts.extend(sql(body, line, habits));
                body.len() + 2
            }
            Some('"') => {
                let body = rest[at + 1..].split('"').next().unwrap_or_default();
                match body.contains(['$', '[']) {
                    true => parts.push(Part::new(body, line).left_out(USES_VARIABLES)),
                    false => parts.extend(sql(body, line, habits)),
                }
                body.len() + 2
            }
            // A variable, or a command that makes the text.
            _ => {
                let text = rest[at..].lines().next().unwrap_or_default();
                parts.push(Part::new(text, line).left_out(USES_VARIABLES));
                0
            }
        };
        let end = (at + length).min(rest.len());
        let found = &mut parts[found..];
        found.iter_mut().filter(|part| has_variable(&part.sql)).for_each(|part| {
            part.left_out = Some(USES_VARIABLES);
        });
        // Those before it did not fail.
        if let Some(last) = found.last_mut().filter(|_| self.command.contains("catchsql"))
            && is_error(&rest[end..])
        {
            last.left_out = Some(EXPECTED_TO_FAIL);
        }
        end
    }
}

/// Whether a test expects `1` and a message.
fn is_error(after: &str) -> bool {
    let result = after.trim_start_matches(|c: char| c.is_whitespace() || c == '}' || c == '\\');
    result.strip_prefix('{').is_some_and(|result| result.trim_start().starts_with("1 "))
}

/// Whether a statement takes a value from the script: `$x` outside quotes.
fn has_variable(sql: &str) -> bool {
    let mut quote = None;
    sql.chars().any(|c| match quote {
        Some(open) => {
            quote = (c != open).then_some(open);
            false
        }
        None if matches!(c, '\'' | '"' | '`') => {
            quote = Some(c);
            false
        }
        None => c == '$',
    })
}

/// Behind white space, and line ends behind a backslash.
fn past_blanks(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
    text.len() - rest.len()
}

/// Behind a word, which can hold commands in brackets: `1.[incr n]`.
fn past_word(text: &str, at: usize) -> usize {
    let mut open = 0_usize;
    let ends = |c: char| {
        match c {
            '[' => open += 1,
            ']' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && c.is_whitespace()
    };
    text[at..].find(ends).map_or(text.len(), |length| at + length)
}

/// What stands between the brace that a text begins with and the one that closes it.
fn braced(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(1..at).unwrap_or_default();
        }
    }
    text.get(1..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(script: &str) -> (Vec<String>, Vec<&'static str>) {
        let parts = split(script, Habits::default());
        let why = parts.iter().filter_map(|part| part.left_out).collect();
        (parts.into_iter().filter(|part| part.left_out.is_none()).map(|part| part.sql).collect(), why)
    }

    #[test]
    fn sql_in_braces_is_found() {
        let script = "set testdir x\ndo_execsql_test a-1 {\n  CREATE TABLE t(a);\n  SELECT '{}' IS NULL;\n} {0}\ndo_test a-2 {execsql {SELECT 1}} {1}\n\
            do_test a-3 { execsql { SELECT 2 } } {2}\ndo_test a-4 {db eval {SELECT 3}} 3\ndo_test a-5 {\n  db eval {SELECT 4}\n} 4\n\
            do_execsql_test -db db2 a-[incr n].5 { SELECT 5 } 5\ndo_execsql_test a-6 \\\n  \"SELECT 6\" 6\nset y [execsql {SELECT 7}]\n\
            # execsql {SELECT 8}\n";
        let wanted = [
            "CREATE TABLE t(a)",
            "SELECT '{}' IS NULL",
            "SELECT 1",
            "SELECT 2",
            "SELECT 3",
            "SELECT 4",
            "SELECT 5",
            "SELECT 6",
            "SELECT 7",
        ];
        assert_eq!(parts(script), (wanted.map(str::to_string).to_vec(), Vec::new()));
        assert_eq!(parts(&script.replace('\n', "\r\n")).0, wanted);
        let lines: Vec<usize> = split(script, Habits::default()).iter().map(|part| part.line).collect();
        assert_eq!(lines[..3], [3, 4, 6]);
    }

    #[test]
    fn only_statements_that_use_variables_are_left_out() {
        let script = "execsql {SELECT $x; SELECT json('$.a')}\nexecsql \"SELECT $y\"\nexecsql $sql\nexecsql [make]\nexecsql {SELECT 1}\n";
        let (kept, why) = parts(script);
        assert_eq!(kept, ["SELECT json('$.a')", "SELECT 1"]);
        assert_eq!(why, [USES_VARIABLES; 4]);
    }

    #[test]
    fn statements_that_are_to_fail_are_left_out() {
        let script = "do_catchsql_test b-1 {SELECT 1; SELECT x} {1 {no such column: x}}\n\
            do_catchsql_test b-2 {SELECT 2} {0 2}\ndo_test b-3 {catchsql {SELECT y}} {1 {no such column: y}}\n\
            do_test b-4 {\n  catchsql {\n SELECT z\n }\n} {1 {no such column: z}}\ncatchsql {SELECT 3}\n";
        let (kept, why) = parts(script);
        assert_eq!(kept, ["SELECT 1", "SELECT 2", "SELECT 3"]);
        assert_eq!(why, [EXPECTED_TO_FAIL; 3]);
    }
}
