//! Scripts as statements: plain SQL, sqllogictest records, and the SQL in SQLite's TCL tests.

/// A statement's text and the line it begins at, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The statement, without the semicolon that ends it.
    pub sql: String,
    /// The line it begins at.
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sql,
    Sqllogictest,
    Tcl,
}

/// The commands of SQLite's TCL tests whose block in braces is SQL.
const TCL_COMMANDS: &[&str] =
    &["do_execsql_test", "do_catchsql_test", "do_eqp_test", "execsql", "catchsql", "db eval"];

fn kind(name: &str, text: &str) -> Kind {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "tcl" => Kind::Tcl,
        // Both call their files `.test`.
        "test" | "slt" | "slow" if TCL_COMMANDS.iter().any(|command| text.contains(command)) => Kind::Tcl,
        "test" | "slt" | "slow" => Kind::Sqllogictest,
        _ => Kind::Sql,
    }
}

/// Takes a file apart, by what its name and first lines say it is: SQL, sqllogictest, SQLite's tests, JSON
/// lines.
pub fn split(name: &str, text: &str) -> Vec<Part> {
    match kind(name, text) {
        Kind::Sql => sql(text, 1),
        Kind::Sqllogictest => records(text),
        Kind::Tcl => tcl(text),
    }
}

/// What a character of SQL stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    Quotes(char),
    LineComment,
    BlockComment,
}

/// Statements end at semicolons outside quotes and comments, those of a trigger at its END. Comments are left
/// out, and the commands of shells (`.mode`, `\d`).
fn sql(text: &str, first_line: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut current, mut begins, mut line) = (String::new(), first_line, first_line);
    let mut inside = Inside::Code;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        let next = chars.peek().copied();
        match inside {
            Inside::LineComment => {
                if c == '\n' {
                    inside = Inside::Code;
                    current.push(' ');
                }
            }
            Inside::BlockComment => {
                if c == '*' && next == Some('/') {
                    chars.next();
                    inside = Inside::Code;
                    current.push(' ');
                }
            }
            Inside::Quotes(quote) => {
                current.push(c);
                if c == quote {
                    inside = Inside::Code;
                }
            }
            Inside::Code => match c {
                '-' if next == Some('-') => inside = Inside::LineComment,
                '/' if next == Some('*') => inside = Inside::BlockComment,
                '.' | '\\' if current.trim().is_empty() => inside = Inside::LineComment,
                ';' if !is_open_trigger(&current) => {
                    push(&mut parts, &mut current, begins);
                }
                '\'' | '"' | '`' => {
                    if current.trim().is_empty() {
                        begins = line;
                    }
                    inside = Inside::Quotes(c);
                    current.push(c);
                }
                _ => {
                    if current.trim().is_empty() && !c.is_whitespace() {
                        begins = line;
                    }
                    current.push(c);
                }
            },
        }
    }
    push(&mut parts, &mut current, begins);
    parts
}

fn push(parts: &mut Vec<Part>, current: &mut String, line: usize) {
    let sql = std::mem::take(current);
    if !sql.trim().is_empty() {
        parts.push(Part { sql: sql.trim().to_string(), line });
    }
}

/// A trigger whose body is not over: the semicolons in it end nothing.
fn is_open_trigger(current: &str) -> bool {
    let mut words = current.split_whitespace().map(str::to_ascii_uppercase);
    let creates = words.next().is_some_and(|word| word == "CREATE");
    let trigger = words.take(2).any(|word| word == "TRIGGER");
    let ends = current.split_whitespace().next_back().is_some_and(|word| word.eq_ignore_ascii_case("END"));
    creates && trigger && !ends
}

/// The statements of sqllogictest's records; what they expect is left out.
fn records(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let word = line.split_whitespace().next().unwrap_or_default();
        if word == "halt" {
            break;
        }
        if word != "statement" && word != "query" {
            continue;
        }
        let (mut record, mut begins) = (String::new(), None);
        for (at, line) in lines.by_ref() {
            if line.trim().is_empty() || line.trim() == "----" {
                break;
            }
            begins.get_or_insert(at + 1);
            record.push_str(line);
            record.push('\n');
        }
        parts.extend(sql(&record, begins.unwrap_or(1)));
    }
    parts
}

/// The SQL in the braces behind the commands that run it. Statements that use TCL's variables are left out.
fn tcl(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut line_begins = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim_start();
        let runs = TCL_COMMANDS.iter().any(|command| {
            let bracketed =
                trimmed.contains(&format!("[{command}")) || trimmed.contains(&format!("{{{command}"));
            trimmed.strip_prefix(command).is_some_and(|rest| rest.starts_with([' ', '{'])) || bracketed
        });
        if runs && let Some(opens) = line.find('{') {
            // `do_test name {execsql {…}}`: the innermost block that opens on this line.
            let opens = line_begins + line.rfind("execsql {").map_or(opens, |at| at + "execsql ".len());
            let body = braced(&text[opens..]);
            parts.extend(sql(body, number + 1).into_iter().filter(|part| !part.sql.contains('$')));
        }
        line_begins += line.len();
    }
    parts
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
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, text: &str) -> Vec<String> {
        split(name, text).into_iter().map(|part| part.sql).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes_and_comments() {
        let script = "-- one; two\nSELECT ';' /* ; */ AS \"a;b\";\n.mode csv\n\nSELECT 2\n  ;\nSELECT 3";
        let parts = split("s.sql", script);
        let lines: Vec<usize> = parts.iter().map(|part| part.line).collect();
        assert_eq!(texts("s.sql", script), ["SELECT ';'   AS \"a;b\"", "SELECT 2", "SELECT 3"]);
        assert_eq!(lines, [2, 5, 7]);
    }

    #[test]
    fn a_trigger_is_one_statement() {
        let script = "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; SELECT 3;";
        assert_eq!(texts("s.sql", script).len(), 2);
    }

    #[test]
    fn records_of_sqllogictest_lose_what_they_expect() {
        let script = "hash-threshold 8\n\nstatement ok\nCREATE TABLE t(a);\n\nskipif mysql\nquery I rowsort\nSELECT a\nFROM t\n----\n1\n\nhalt\n\nstatement ok\nDROP TABLE t\n";
        assert_eq!(texts("s.test", script), ["CREATE TABLE t(a)", "SELECT a\nFROM t"]);
    }

    #[test]
    fn sql_in_the_braces_of_tcl_is_found() {
        let script = "set testdir x\ndo_execsql_test a-1 {\n  CREATE TABLE t(a);\n  SELECT '{}' IS NULL;\n} {0}\ndo_test a-2 {execsql {SELECT 1}} {1}\nexecsql {SELECT $x}\n";
        let wanted = ["CREATE TABLE t(a)", "SELECT '{}' IS NULL", "SELECT 1"];
        assert_eq!(texts("a.test", script), wanted);
        assert_eq!(texts("a.test", &script.replace('\n', "\r\n")), wanted);
    }
}
