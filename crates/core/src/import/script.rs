//! Scripts as statements: plain SQL, sqllogictest records, and the SQL in the tests of SQLite (TCL) and MySQL (mysqltest).

use super::{mysqltest, records, tcl};
use crate::dialect::Dialect;

/// A statement's text and the line it begins at, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The statement, without the semicolon that ends it.
    pub sql: String,
    /// The line it begins at.
    pub line: usize,
    /// Made of rows that are not SQL; nothing to understand.
    pub is_data: bool,
    /// Why it is not to be run.
    pub left_out: Option<&'static str>,
}

impl Part {
    /// A statement to run.
    pub fn new(sql: impl Into<String>, line: usize) -> Part {
        Part { sql: sql.into(), line, is_data: false, left_out: None }
    }

    /// A statement that is not to be run.
    pub fn left_out(self, why: &'static str) -> Part {
        Part { left_out: Some(why), ..self }
    }
}

/// Its test says that it fails.
pub const EXPECTED_TO_FAIL: &str = "the script expects an error";
/// Its text is made when the script runs.
pub const USES_VARIABLES: &str = "the script makes its text from variables";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sql,
    Sqllogictest,
    Tcl,
    Mysqltest,
}

fn kind(name: &str, text: &str, habits: Habits) -> Kind {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "tcl" => Kind::Tcl,
        // All three call their files `.test`.
        "test" | "slt" if tcl::has_any(text) => Kind::Tcl,
        "test" | "inc" if habits.mysql && !records::has_any(text) => Kind::Mysqltest,
        "test" | "slt" | "test_slow" => Kind::Sqllogictest,
        _ => Kind::Sql,
    }
}

/// What a script may hold that only some engines write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits<'a> {
    /// The engine's name, by which sqllogictest's records are meant for it or not.
    pub engine: &'a str,
    /// As `pg_dump` writes: COPY with its rows, `$$` quotes, names in the schema `public`.
    pub postgres: bool,
    /// As `mysqldump` writes: `DELIMITER`, and comments with a version, which are code.
    pub mysql: bool,
    /// `\\'` in quotes is a quote, as on MySQL.
    pub backslashes: bool,
}

impl Habits<'_> {
    /// Those of the engines that share a grammar.
    pub fn of(dialect: &Dialect) -> Habits<'_> {
        let grammar = &*dialect.engine.grammar;
        let mysql = grammar == "mysql";
        Habits {
            engine: &dialect.name,
            postgres: grammar == "postgres",
            mysql,
            backslashes: mysql || grammar == "clickhouse",
        }
    }
}

/// Takes a file apart, by what its name and first lines say it is: SQL, sqllogictest, SQLite's tests, JSON
/// lines.
pub fn split(name: &str, text: &str, habits: Habits) -> Vec<Part> {
    match kind(name, text, habits) {
        Kind::Sql => sql(text, 1, habits),
        Kind::Mysqltest => mysqltest::split(text, habits),
        Kind::Sqllogictest => records::split(text, habits),
        Kind::Tcl => tcl::split(text, habits),
    }
}

/// Statements end at semicolons outside quotes, comments and the bodies of triggers. Comments are left out, and the
/// commands of shells (`.mode`, `\d`).
pub(super) fn sql(text: &str, first_line: usize, habits: Habits) -> Vec<Part> {
    let mut splitter = Splitter {
        rest: text,
        line: first_line,
        habits,
        delimiter: ";".to_string(),
        current: String::new(),
        begins: first_line,
        blank: true,
        versioned: false,
        body: Body::default(),
        fails: false,
        parts: Vec::new(),
    };
    while splitter.step() {}
    splitter.end_statement();
    splitter.parts
}

struct Splitter<'a> {
    /// What is still to be read, and its line.
    rest: &'a str,
    line: usize,
    habits: Habits<'a>,
    /// What ends a statement.
    delimiter: String,
    current: String,
    begins: usize,
    /// The current statement has nothing but white space so far.
    blank: bool,
    /// In a comment whose text is code.
    versioned: bool,
    body: Body,
    /// A comment says that the current statement fails.
    fails: bool,
    parts: Vec<Part>,
}

impl Splitter<'_> {
    /// Takes the next piece; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        let at_line_start = self.blank && (c == '.' || c == '\\');
        if self.is_remark() || at_line_start {
            let line = self.rest.lines().next().unwrap_or_default();
            if ERRORS.iter().any(|error| line.contains(error)) {
                self.announce_error();
            }
            self.skip(self.rest.find('\n').map_or(self.rest.len(), |at| at + 1));
            self.current.push(' ');
        } else if c == '\\' && self.habits.postgres {
            // `\gset`, `\gexec`: psql sends what stands before them.
            self.skip(self.rest.find('\n').map_or(self.rest.len(), |at| at + 1));
            self.end_statement();
        } else if self.rest.starts_with("/*") && !self.rest.starts_with("/*+") {
            // But for a hint, which the optimizer reads.
            self.comment();
        } else if self.versioned && self.rest.starts_with("*/") {
            self.versioned = false;
            self.skip(2);
        } else if self.rest.starts_with(&*self.delimiter) && !(c == ';' && self.body.is_open()) {
            self.skip(self.delimiter.len());
            self.end_statement();
        } else if matches!(c, '\'' | '"' | '`') {
            self.take(self.quoted(c, self.habits.backslashes && c != '`'));
        } else if let Some(quote) = self.dollar_quote() {
            let length = quote.len();
            self.take(self.rest[length..].find(&quote).map_or(self.rest.len(), |at| at + 2 * length));
        } else if is_word(c) {
            self.word();
        } else {
            self.take(c.len_utf8());
        }
        true
    }

    /// Whether a comment begins here that ends with the line. On MySQL `5--1` is six.
    fn is_remark(&self) -> bool {
        let hash = self.habits.mysql && self.rest.starts_with('#');
        hash || self.rest.strip_prefix("--").is_some_and(|rest| {
            !self.habits.mysql || rest.chars().next().is_none_or(|c| c.is_whitespace() || c.is_control())
        })
    }

    /// The statement before the comment, or the one around it, is to fail.
    fn announce_error(&mut self) {
        match self.parts.last_mut().filter(|_| self.blank) {
            Some(part) => part.left_out = Some(EXPECTED_TO_FAIL),
            None => self.fails = true,
        }
    }

    /// The length of what is in quotes, with them.
    fn quoted(&self, quote: char, escapes: bool) -> usize {
        let mut escaped = false;
        let ends = |(_, c): &(usize, char)| {
            let end = *c == quote && !escaped;
            escaped = escapes && *c == '\\' && !escaped;
            end
        };
        self.rest.char_indices().skip(1).find(ends).map_or(self.rest.len(), |(at, _)| at + 1)
    }

    /// Leaves out so many bytes.
    fn skip(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        self.line += gone.matches('\n').count();
        self.rest = rest;
    }

    /// Adds so many bytes to the statement.
    fn take(&mut self, length: usize) {
        let taken = &self.rest[..length];
        if self.blank && !taken.trim().is_empty() {
            (self.blank, self.begins) = (false, self.line);
        }
        self.current.push_str(taken);
        self.skip(length);
    }

    fn comment(&mut self) {
        let version = self.rest.strip_prefix("/*").and_then(|rest| rest.strip_prefix('M').or(Some(rest)));
        let code = version.and_then(|rest| rest.strip_prefix('!')).filter(|_| self.habits.mysql);
        match code {
            Some(code) => {
                let digits = code.len() - code.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                self.skip(self.rest.len() - code.len() + digits);
                self.versioned = true;
            }
            None => self.skip(self.length_of_comment()),
        }
        self.current.push(' ');
    }

    /// PostgreSQL's comments can hold others.
    fn length_of_comment(&self) -> usize {
        let (mut at, mut open) = (2, 1);
        while open > 0 {
            let Some(found) = self.rest[at..].find(['*', '/']) else { return self.rest.len() };
            at += found;
            let sign = &self.rest[at..];
            let (length, opens) = match () {
                _ if sign.starts_with("*/") => (2, -1),
                _ if sign.starts_with("/*") && self.habits.postgres => (2, 1),
                _ => (1, 0),
            };
            (at, open) = (at + length, open + opens);
        }
        at
    }

    /// `$$` or `$name$`.
    fn dollar_quote(&self) -> Option<String> {
        let name = self.rest.strip_prefix('$').filter(|_| self.habits.postgres)?;
        let end = name.find('$')?;
        let is_name =
            |name: &str| name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit());
        is_name(&name[..end]).then(|| format!("${}$", &name[..end]))
    }

    fn word(&mut self) {
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..length];
        let after = &self.rest[length..];
        if self.habits.postgres && word.eq_ignore_ascii_case("public") && after.starts_with('.') {
            // The schema that every name is looked up in.
            self.skip(length + 1);
        } else if self.habits.mysql && self.blank && word.eq_ignore_ascii_case("delimiter") {
            let line = after.lines().next().unwrap_or_default();
            if let Some(delimiter) = line.split_whitespace().next() {
                self.delimiter = delimiter.to_string();
            }
            self.skip(length + line.len());
        } else if word.eq_ignore_ascii_case("e") && after.starts_with('\'') {
            // `E'it\'s'`
            self.take(length);
            self.take(self.quoted('\'', true));
        } else {
            self.body.word(word);
            self.take(length);
        }
    }

    fn end_statement(&mut self) {
        let (sql, begins) = (std::mem::take(&mut self.current), self.begins);
        self.blank = true;
        self.body = Body::default();
        let fails = std::mem::take(&mut self.fails);
        let sql = sql.trim();
        if sql.is_empty() || (self.habits.postgres && is_without_search_path(sql)) {
            return;
        }
        match copied(sql).filter(|_| self.habits.postgres) {
            Some(table) => self.copy(table),
            None => {
                let left_out = fails.then_some(EXPECTED_TO_FAIL);
                self.parts.push(Part { left_out, ..Part::new(sql, begins) });
            }
        }
    }

    /// The rows behind a COPY, as statements that insert them.
    fn copy(&mut self, table: &str) {
        self.skip(self.rest.find('\n').map_or(self.rest.len(), |at| at + 1));
        let (mut rows, mut begins) = (Vec::new(), self.line);
        while !self.rest.is_empty() {
            let row = self.rest.lines().next().unwrap_or_default();
            let (over, line) = (row.trim_end() == "\\.", self.line);
            self.skip(self.rest.find('\n').map_or(self.rest.len(), |at| at + 1));
            if over {
                break;
            }
            if rows.is_empty() {
                begins = line;
            }
            rows.push(format!("({})", row.split('\t').map(copied_value).collect::<Vec<_>>().join(", ")));
            if rows.len() == ROWS_PER_INSERT {
                self.insert(table, &mut rows, begins);
            }
        }
        self.insert(table, &mut rows, begins);
    }

    fn insert(&mut self, table: &str, rows: &mut Vec<String>, line: usize) {
        if !rows.is_empty() {
            let sql = format!("INSERT INTO {table} VALUES {}", rows.join(", "));
            self.parts.push(Part { is_data: true, ..Part::new(sql, line) });
            rows.clear();
        }
    }
}

/// Of rows behind a COPY.
const ROWS_PER_INSERT: usize = 50;

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `pg_dump` empties the path along which names are looked up, and qualifies them all.
fn is_without_search_path(sql: &str) -> bool {
    let plain: String = sql.chars().filter(|c| !c.is_whitespace()).collect();
    plain.eq_ignore_ascii_case("SELECTpg_catalog.set_config('search_path','',false)")
}

/// `t (a, b)` of `COPY t (a, b) FROM stdin`.
fn copied(sql: &str) -> Option<&str> {
    let start = sql.get(..5).filter(|start| start.eq_ignore_ascii_case("copy "))?;
    let end = sql.to_ascii_lowercase().rfind(" from stdin").filter(|end| *end > start.len())?;
    Some(sql[start.len()..end].trim())
}

/// A value as COPY writes it, as a literal that takes the type of its column.
fn copied_value(text: &str) -> String {
    if text == "\\N" {
        return "NULL".to_string();
    }
    let (mut value, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            }),
            '\'' => value.push_str("''"),
            other => value.push(other),
        }
    }
    format!("'{value}'")
}

/// What a comment of ClickHouse's tests holds behind a statement that is to fail.
const ERRORS: [&str; 3] = ["{ serverError", "{ clientError", "{ error"];

/// How far a statement is with a body of other statements: the semicolons in it end nothing.
#[derive(Default)]
struct Body {
    words: usize,
    creates: bool,
    /// It is something that can have a body.
    has_one: bool,
    begun: bool,
    /// How many BEGINs and CASEs have no END yet.
    open: usize,
    /// The last word was END: what it ends may follow.
    ended: bool,
}

impl Body {
    /// Takes a word of the statement outside quotes.
    fn word(&mut self, word: &str) {
        /// Behind CREATE, where they say what is made: `CREATE OR REPLACE CONSTRAINT TRIGGER`.
        const MOST_WORDS: usize = 6;
        let is = |wanted: &[&str]| wanted.iter().any(|wanted| word.eq_ignore_ascii_case(wanted));
        self.words += 1;
        self.creates |= self.words == 1 && is(&["create"]);
        self.has_one |=
            self.creates && self.words <= MOST_WORDS && is(&["trigger", "function", "procedure", "event"]);
        let ended = std::mem::take(&mut self.ended);
        if is(&["begin"]) {
            (self.begun, self.open) = (true, self.open + 1);
        } else if is(&["case"]) && !ended {
            self.open += 1;
        } else if is(&["end"]) {
            (self.ended, self.open) = (true, self.open.saturating_sub(1));
        } else if ended && is(&["if", "loop", "while", "repeat"]) {
            // What these end was not counted.
            self.open += 1;
        }
    }

    fn is_open(&self) -> bool {
        self.has_one && self.begun && self.open > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, text: &str) -> Vec<String> {
        split(name, text, Habits::default()).into_iter().map(|part| part.sql).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes_and_comments() {
        let script = "-- one; two\nSELECT ';' /* ; */ AS \"a;b\";\n.mode csv\n\nSELECT 2\n  ;\nSELECT 3";
        let parts = split("s.sql", script, Habits::default());
        let lines: Vec<usize> = parts.iter().map(|part| part.line).collect();
        assert_eq!(texts("s.sql", script), ["SELECT ';'   AS \"a;b\"", "SELECT 2", "SELECT 3"]);
        assert_eq!(lines, [2, 5, 7]);
        assert_eq!(
            texts("a.sql", "SELECT /*+ HASH_JOIN(a) */ 1 /* no */;"),
            ["SELECT /*+ HASH_JOIN(a) */ 1"]
        );
    }

    #[test]
    fn a_trigger_is_one_statement() {
        let script = "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; SELECT 3;";
        assert_eq!(texts("s.sql", script).len(), 2);
        let case = "CREATE TEMP TRIGGER g AFTER INSERT ON t WHEN CASE 1 WHEN 1 THEN 1 END BEGIN \
            SELECT CASE 1 WHEN 1 THEN ';END' END; SELECT 2; END; SELECT 3;";
        assert_eq!(texts("s.sql", case).len(), 2);
        let nested = "CREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; CASE 1 WHEN 1 THEN SELECT 2; END CASE; END;\
            SELECT 3;";
        assert_eq!(texts("s.sql", nested).len(), 2);
        for alone in [
            "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
            "CREATE TRIGGER g \
            BEFORE INSERT ON t FOR EACH ROW SET @a = CASE 1 WHEN 1 THEN 2 END",
        ] {
            assert_eq!(
                texts("s.sql", &format!("{alone}; SELECT 1; SELECT 2;")),
                [alone, "SELECT 1", "SELECT 2"]
            );
        }
    }

    #[test]
    fn records_of_sqllogictest_lose_what_they_expect() {
        let script = "hash-threshold 8\n\nstatement ok\nCREATE TABLE t(a);\n\nskipif mysql\nquery I rowsort\nSELECT a\nFROM t\n----\n1\n\nhalt\n\nstatement ok\nDROP TABLE t\n";
        assert_eq!(texts("s.test", script), ["CREATE TABLE t(a)", "SELECT a\nFROM t"]);
    }

    #[test]
    fn comments_and_quotes_end_where_the_engine_ends_them() {
        let split =
            |text: &str, habits| sql(text, 1, habits).into_iter().map(|part| part.sql).collect::<Vec<_>>();
        let mysql = Habits { mysql: true, backslashes: true, ..Habits::default() };
        assert_eq!(split("SELECT 5--1; SELECT 2 -- no; more\n;", mysql), ["SELECT 5--1", "SELECT 2"]);
        let postgres = Habits { postgres: true, ..Habits::default() };
        assert_eq!(
            split("SELECT E'it\\'s; 1'; SELECT /* a /* b; */ c; */ 2; SELECT 3--1;\n", postgres),
            ["SELECT E'it\\'s; 1'", "SELECT   2", "SELECT 3"]
        );
        assert_eq!(split("SELECT /* a /* b */ 2;", Habits::default()), ["SELECT   2"]);
    }

    #[test]
    fn statements_that_clickhouse_refuses_are_left_out() {
        let script = "SELECT 1;\nSELECT x; -- { serverError 47 }\nSELECT 2; -- fine\nSELECT y -- { clientError SYNTAX_ERROR }\n;\nSELECT 3;";
        let parts = split("s.sql", script, Habits::default());
        let kept: Vec<&str> =
            parts.iter().filter(|part| part.left_out.is_none()).map(|part| part.sql.as_str()).collect();
        assert_eq!((parts.len(), kept), (5, vec!["SELECT 1", "SELECT 2", "SELECT 3"]));
    }

    #[test]
    fn a_dump_of_postgres_is_read() {
        let script = "\\restrict x\nSET x = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\n\
            CREATE TABLE public.t (\n    a integer,\n    b text\n);\n\
            COPY public.t (a, b) FROM stdin;\n1\tit's\n\\N\ta\\tb\n\\.\n\n\
            CREATE FUNCTION public.f() RETURNS int AS $_$ BEGIN; RETURN 1; END $_$ LANGUAGE plpgsql;\nSELECT 1;";
        let parts = split("dump.sql", script, Habits { postgres: true, ..Habits::default() });
        let sql: Vec<&str> = parts.iter().map(|part| part.sql.as_str()).collect();
        assert_eq!(sql[1], "CREATE TABLE t (\n    a integer,\n    b text\n)");
        assert_eq!(sql[2], "INSERT INTO t (a, b) VALUES ('1', 'it''s'), (NULL, 'a\tb')");
        assert!(parts[2].is_data && parts[2].line == 9, "{:?}", parts[2]);
        assert!(sql[3].starts_with("CREATE FUNCTION f()") && sql[3].ends_with("plpgsql"), "{sql:?}");
        assert_eq!((sql.len(), sql[4]), (5, "SELECT 1"));
    }

    #[test]
    fn commands_of_psql_end_a_statement() {
        let script = "\\set x 1\nSELECT 1 AS a \\gset\nSELECT 2\\g\nSELECT '\\';";
        let parts = split("regress.sql", script, Habits { postgres: true, ..Habits::default() });
        let sql: Vec<&str> = parts.iter().map(|part| part.sql.as_str()).collect();
        assert_eq!(sql, ["SELECT 1 AS a", "SELECT 2", "SELECT '\\'"]);
    }

    #[test]
    fn a_dump_of_mysql_is_read() {
        let script = "/*!40101 SET NAMES utf8 */;\n# a remark; of its own\nCREATE TABLE `t` (a int) /*!50100 COMMENT 'x' */;\n\
            DELIMITER ;;\n/*!50003 CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END */;;\n\
            DELIMITER ;\n/*M!100616 SET x = 1 */;\nSELECT 'it\\'s; 1';";
        let parts = split("dump.sql", script, Habits { mysql: true, backslashes: true, ..Habits::default() });
        let sql: Vec<&str> = parts.iter().map(|part| part.sql.as_str()).collect();
        assert_eq!(sql[0], "SET NAMES utf8");
        assert!(sql[1].starts_with("CREATE TABLE `t` (a int)") && sql[1].contains("COMMENT 'x'"), "{sql:?}");
        assert!(sql[2].starts_with("CREATE TRIGGER") && sql[2].ends_with("END"), "{sql:?}");
        assert_eq!(&sql[3..], ["SET x = 1", "SELECT 'it\\'s; 1'"]);
    }

    #[test]
    fn white_space_takes_no_time() {
        let start = std::time::Instant::now();
        assert_eq!(texts("s.sql", &" \n".repeat(2_000_000)).len(), 0);
        assert!(start.elapsed().as_secs() < 10);
    }
}
