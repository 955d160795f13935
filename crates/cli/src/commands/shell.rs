//! `dissent shell`: a prompt for SQL over any engine that Dissent has, on a scratch database of its own.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::Context;
use dissent_core::confine::{Confinement, Place};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, ErrorClass, Limits, Reply, Rows, SqlError};
use dissent_core::sql::Value;
use dissent_engine::{Target, Wall};

use crate::args::ShellArgs;
use crate::progress::LiveLine;

/// A person may ask for more, and wait longer, than a hunt does.
const LIMITS: Limits = Limits { steps: u64::MAX, millis: 600_000, memory_bytes: 4 << 30, rows: 1_000_000 };

/// How deep scripts may read other scripts: one may read itself.
const MOST_SCRIPTS: usize = 16;

const HELP: &str = "\
SQL ends with a semicolon. The database is a scratch one that is gone when the shell ends.
.read FILE                 run a script
.parameter set ?1 VALUE    bind a parameter of the statements that follow
.parameter clear           forget all parameters
.reset                     start again with an empty database
.quit                      end";

pub fn run(args: ShellArgs) -> anyhow::Result<u8> {
    let target = Target::parse(&args.target)?;
    let mut live = LiveLine::new();
    let source = target.obtain(&mut |step| dissent_campaign::Observer::note(&mut live, &step.to_string()))?;
    drop(live);
    source.visit();
    // A script may come from somebody else; whoever runs it may read any file into it.
    Wall::around([&source]).reading("/").raise().context("cannot confine the shell")?;
    let mut engine = source.open()?;
    engine.set_limits(LIMITS);
    engine.reset().map_err(|trouble| anyhow::anyhow!(trouble))?;
    let stdin = std::io::stdin();
    let interactive = stdin.is_terminal();
    let mut out = std::io::stdout();
    if interactive {
        writeln!(
            out,
            "{target}, version {}: an empty scratch database. .help lists commands.",
            engine.version()
        )?;
    }
    let mut dialect = Dialect::load(target.dialect(), engine.version())?;
    dialect.discover(&mut *engine).map_err(|trouble| anyhow::anyhow!(trouble))?;
    let place = if source.is_shared() { Place::SharedServer } else { Place::OwnEngine };
    let (parameters, pending) = (BTreeMap::new(), String::new());
    let mut shell = Shell { engine, dialect, place, parameters, pending, depth: 0, failed: false };
    let mut input = stdin.lock();
    let mut line = String::new();
    loop {
        if interactive {
            write!(out, "{}", if shell.pending.trim().is_empty() { "dissent> " } else { "     ...> " })?;
            out.flush()?;
        }
        line.clear();
        if input.read_line(&mut line).context("cannot read standard input")? == 0 {
            break;
        }
        if shell.take(&line, &mut out)? == Goes::Out {
            break;
        }
    }
    shell.finish(&mut out)?;
    // A person has seen what failed; a script's caller has not.
    Ok(if shell.failed && !interactive { crate::TROUBLE } else { crate::NOTHING_FOUND })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    On,
    Out,
}

struct Shell {
    engine: Box<dyn Engine>,
    dialect: Dialect,
    /// What a script that somebody sent must not leave.
    place: Place,
    /// By their numbers, from 1.
    parameters: BTreeMap<usize, Value>,
    /// What was typed of a statement that is not complete.
    pending: String,
    /// How many scripts are being read, each by the one before it.
    depth: usize,
    failed: bool,
}

impl Shell {
    fn take(&mut self, line: &str, out: &mut impl Write) -> anyhow::Result<Goes> {
        if self.pending.trim().is_empty() && line.trim_start().starts_with('.') {
            self.pending.clear();
            return self.command(line.trim(), out);
        }
        self.pending.push_str(line);
        while let Some(end) = end_of_statement(&self.pending) {
            let statement: String = self.pending.drain(..end).collect();
            self.statement(statement.trim_end_matches(|c: char| c == ';' || c.is_whitespace()), out)?;
        }
        Ok(Goes::On)
    }

    /// A last statement may do without its semicolon.
    fn finish(&mut self, out: &mut impl Write) -> anyhow::Result<()> {
        let rest = std::mem::take(&mut self.pending);
        self.statement(rest.trim(), out)
    }

    fn command(&mut self, line: &str, out: &mut impl Write) -> anyhow::Result<Goes> {
        let words: Vec<&str> = line.splitn(4, char::is_whitespace).collect();
        match words.as_slice() {
            [".quit" | ".exit" | ".q"] => return Ok(Goes::Out),
            [".help"] => writeln!(out, "{HELP}")?,
            [".reset"] => self.reset(out)?,
            [".read", file @ ..] => return self.read(file.join(" ").trim(), out),
            [".parameter", "clear" | "init"] => self.parameters.clear(),
            [".parameter", "set", name, value] => self.bind(name, value.trim(), out)?,
            // A switch of the optimizer, which the engine takes as it is.
            [".testctrl", ..] => self.statement(line, out)?,
            _ => self.fail(out, &format!("unknown command {line}; .help lists commands"))?,
        }
        Ok(Goes::On)
    }

    fn read(&mut self, file: &str, out: &mut impl Write) -> anyhow::Result<Goes> {
        if self.depth == MOST_SCRIPTS {
            self.fail(
                out,
                &format!("not read: {file}: scripts can read each other only {MOST_SCRIPTS} deep"),
            )?;
            return Ok(Goes::On);
        }
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                self.fail(out, &format!("cannot read {file}: {error}"))?;
                return Ok(Goes::On);
            }
        };
        self.depth += 1;
        let mut goes = Goes::On;
        for line in text.split_inclusive('\n') {
            goes = self.take(line, out)?;
            if goes == Goes::Out {
                break;
            }
        }
        self.depth -= 1;
        if goes == Goes::On {
            self.finish(out)?;
        }
        Ok(goes)
    }

    /// The value is an expression of the engine's, in double quotes if it has blanks or quotes in it.
    fn bind(&mut self, name: &str, value: &str, out: &mut impl Write) -> anyhow::Result<()> {
        let Some(number) = name.strip_prefix('?').and_then(|number| number.parse().ok()) else {
            return self.fail(out, &format!("use numbered parameters here: ?1, not {name}"));
        };
        let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let text = match quoted {
            Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
            None => value.to_string(),
        };
        let select = format!("SELECT {text}");
        if let Some(why) = self.refusal(&select) {
            return self.fail(out, &why);
        }
        match self.engine.execute(&select).map_err(|trouble| anyhow::anyhow!(trouble))? {
            Reply::Rows(rows) if rows.single().is_some() => {
                self.parameters.insert(number, rows.values[0].clone());
                Ok(())
            }
            Reply::Failed(error) => self.fail(out, &error.message),
            _ => self.fail(out, &format!("{value} is not a value")),
        }
    }

    fn statement(&mut self, sql: &str, out: &mut impl Write) -> anyhow::Result<()> {
        if is_blank(sql) {
            return Ok(());
        }
        if let Some(why) = self.refusal(sql) {
            return self.fail(out, &why);
        }
        let reply = self.execute(sql).map_err(|trouble| anyhow::anyhow!(trouble))?;
        match reply {
            Reply::Rows(rows) => write!(out, "{}", table(&rows))?,
            Reply::Done { .. } => {}
            Reply::Failed(error) => {
                self.fail(out, &told(&error))?;
                if error.class == ErrorClass::ConnectionLost {
                    self.reset(out)?;
                }
            }
        }
        Ok(out.flush()?)
    }

    /// Why a statement must not run. Everything that goes to the engine passes here.
    fn refusal(&self, sql: &str) -> Option<String> {
        Some(format!("not run: {}", Confinement::new(&self.dialect, self.place).refusal(sql)?))
    }

    /// As it is, or prepared where it has parameters that were given values.
    fn execute(&mut self, sql: &str) -> Result<Reply, dissent_core::engine::Trouble> {
        let wanted = parameters_of(sql);
        if wanted == 0 || self.parameters.is_empty() {
            return self.engine.execute(sql);
        }
        let statement = match self.engine.prepare(sql, &[])? {
            Ok(statement) => statement,
            Err(error) => return Ok(Reply::Failed(error)),
        };
        let value = |number| self.parameters.get(&number).cloned().unwrap_or(Value::Null);
        let values: Vec<Value> = (1..=wanted).map(value).collect();
        let reply = self.engine.execute_prepared(&statement, &values)?;
        self.engine.close_prepared(statement)?;
        Ok(reply)
    }

    fn reset(&mut self, out: &mut impl Write) -> anyhow::Result<()> {
        self.engine.reset().map_err(|trouble| anyhow::anyhow!(trouble))?;
        Ok(writeln!(out, "the database is empty again")?)
    }

    /// Errors go where results go, so that they stand in order.
    fn fail(&mut self, out: &mut impl Write, message: &str) -> anyhow::Result<()> {
        self.failed = true;
        Ok(writeln!(out, "Error: {message}")?)
    }
}

fn told(error: &SqlError) -> String {
    match error.code.as_str() {
        "" => error.message.clone(),
        code => format!("{} ({code})", error.message),
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

/// Calls `f` with each character that is code, and where it is; `false` ends the walk.
fn each_code(sql: &str, mut f: impl FnMut(usize, char) -> bool) {
    let mut inside = Inside::Code;
    let mut chars = sql.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        inside = match (inside, c) {
            (Inside::LineComment, '\n') => Inside::Code,
            (Inside::BlockComment, '*') if next == Some('/') => {
                chars.next();
                Inside::Code
            }
            (Inside::Quotes(quote), c) if c == quote => Inside::Code,
            (Inside::Code, '-') if next == Some('-') => Inside::LineComment,
            (Inside::Code, '/') if next == Some('*') => Inside::BlockComment,
            (Inside::Code, '\'' | '"' | '`') => Inside::Quotes(c),
            (Inside::Code, c) => {
                if !f(at, c) {
                    return;
                }
                Inside::Code
            }
            (other, _) => other,
        };
    }
}

/// Where the first statement ends, after its semicolon; those of a trigger's body end nothing.
fn end_of_statement(sql: &str) -> Option<usize> {
    let mut end = None;
    each_code(sql, |at, c| {
        if c == ';' && !is_open_trigger(&sql[..at]) {
            end = Some(at + 1);
        }
        end.is_none()
    });
    end
}

fn is_open_trigger(sql: &str) -> bool {
    let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_uppercase).collect();
    let creates = words.first().is_some_and(|word| word == "CREATE");
    let trigger = words.iter().skip(1).take(2).any(|word| word == "TRIGGER");
    creates && trigger && words.last().is_none_or(|word| word != "END")
}

/// Nothing but blanks and comments.
fn is_blank(sql: &str) -> bool {
    let mut blank = true;
    each_code(sql, |_, c| {
        blank &= c.is_whitespace() || c == ';';
        blank
    });
    // A walk does not see quotes.
    blank && !sql.contains(['\'', '"', '`'])
}

/// The largest number of a parameter `?N`.
fn parameters_of(sql: &str) -> usize {
    let mut most = 0;
    each_code(sql, |at, c| {
        if c == '?' {
            let digits: String = sql[at + 1..].chars().take_while(char::is_ascii_digit).collect();
            most = most.max(digits.parse().unwrap_or(0));
        }
        true
    });
    most
}

/// Columns as wide as their widest value; the engine gives no names.
fn table(rows: &Rows) -> String {
    let cell = |value: &Value| match value {
        Value::Text(text) => text.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\""),
        other => other.to_string(),
    };
    let lines: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let width =
        |at: usize| lines.iter().map(|line: &Vec<String>| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.columns).map(width).collect();
    let mut out = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        out.push_str(cells.collect::<Vec<_>>().join(" | ").trim_end());
        out.push('\n');
    }
    if lines.is_empty() {
        out.push_str("(no rows)\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_code_has_a_semicolon() {
        let first = |sql: &str| end_of_statement(sql).map(|end| sql[..end].to_string());
        assert_eq!(first("SELECT ';'; SELECT 2;").as_deref(), Some("SELECT ';';"));
        assert_eq!(first("SELECT 1 -- ;\n"), None);
        assert_eq!(first("/* ; */ SELECT 1;").as_deref(), Some("/* ; */ SELECT 1;"));
        let trigger = "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END;";
        assert_eq!(first(trigger).as_deref(), Some(trigger));
    }

    #[test]
    fn parameters_are_counted_outside_of_quotes() {
        assert_eq!(parameters_of("SELECT ?1, '?9', ?3 -- ?7"), 3);
        assert_eq!(parameters_of("SELECT '?1'"), 0);
    }

    #[test]
    fn comments_are_no_statements() {
        assert!(is_blank(" -- a\n /* b */ ;"));
        assert!(!is_blank("'a'") && !is_blank("SELECT 1"));
    }

    #[test]
    fn results_are_aligned() {
        let text = |text: &str| Value::Text(text.to_string());
        let rows =
            Rows { columns: 2, values: vec![text("it's"), Value::Int(1), Value::Null, Value::Int(20)] };
        assert_eq!(table(&rows), "it's | 1\nNULL | 20\n");
        assert_eq!(table(&Rows { columns: 1, values: Vec::new() }), "(no rows)\n");
    }
}
