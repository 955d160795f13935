//! Scripts of bugs that Dissent found. What an engine answers, and what it must answer, stands behind the statement, so a
//! script can be run again and held against what it says:
//!
//! ```sql
//! -- title: AND of two conditions on one column keeps no row
//! -- class: wrong result
//! -- oracle: norec
//! -- on: sqlite@3.28.0
//! -- …
//!
//! CREATE TABLE shelf(width INT);
//! INSERT INTO shelf VALUES (80);
//! SELECT width FROM shelf WHERE width > 3 AND width < 90;
//! -- returns: nothing
//! -- must be: 80
//! ```
//!
//! A statement with `returns` alone is context, and right. One with neither has to succeed, and that is all. The rows of
//! an answer are listed with commas, in any order, each in brackets if it has several columns. An answer can also be
//! `nothing`, `ok` (no result set), `error`, `error: part of the message` or `crash`.

use std::fmt;

use super::header::fields;
use super::script::{self, Habits};
use crate::engine::{ErrorClass, SqlError};
use crate::finding::ArmOutcome;
use crate::sql::Value;

/// A bug that Dissent found, as its script tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundBug {
    /// What is wrong, in one line.
    pub title: String,
    /// What is wrong about the answer.
    pub class: Class,
    /// The oracles that found it.
    pub oracles: String,
    /// The newest version that is known to have it, as a target: `mysql@9.7.4`.
    pub on: String,
    /// The first version that has it, in words.
    pub since: Option<String>,
    /// The first release without it.
    pub fixed: Option<String>,
    /// Which settings it needs; none: those that the engine comes with.
    pub settings: Option<String>,
    /// Which query is wrong, and why.
    pub why: String,
    /// Who gives the right answer.
    pub second: String,
    /// Where others reported it.
    pub reports: String,
    /// Why one may see it in another way.
    pub arguable: Option<String>,
    /// Why it was not run again for some time.
    pub unverified: Option<String>,
    /// The statements.
    pub steps: Vec<Step>,
    /// The script without its header.
    pub body: String,
}

/// What is wrong about the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Other rows or values, silently.
    WrongResult,
    /// An error where there must be none, or none where there must be one.
    WrongError,
    /// The engine says that it is broken.
    InternalError,
    /// The process or the connection ends.
    Crash,
}

impl Class {
    /// All, the most severe first.
    pub const ALL: [Class; 4] = [Class::WrongResult, Class::Crash, Class::WrongError, Class::InternalError];

    /// As a header and a page say it.
    pub fn name(self) -> &'static str {
        match self {
            Class::WrongResult => "wrong result",
            Class::WrongError => "wrong error",
            Class::InternalError => "internal error",
            Class::Crash => "crash",
        }
    }
}

/// One statement of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The statement, without its semicolon.
    pub sql: String,
    /// The line that it begins at, from 1.
    pub line: usize,
    /// What it returns where the bug is.
    pub returns: Option<Answer>,
    /// What it must return, if that is something else.
    pub must_be: Option<Answer>,
}

/// What a statement returns, as it is written behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A result set, each row as text.
    Rows(Vec<String>),
    /// Success without a result set.
    Done,
    /// An error whose message has this part.
    Error(String),
    /// The engine does not survive it.
    Crash,
}

/// What became of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It shows nothing of the bug, and did what it should.
    Context,
    /// It returns what it must not, as it is written.
    Wrong,
    /// It returns what it must.
    Right,
    /// Something else, or it was not run.
    Other,
}

/// What became of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is as it is written: the bug is there.
    Fails,
    /// The bug is there, but not everything is as it is written.
    FailsOtherwise,
    /// Every statement returns what it must.
    Holds,
    /// Neither.
    CannotTell,
}

impl FoundBug {
    /// Reads a script, or says in one sentence what is wrong with it.
    pub fn read(text: &str) -> Result<FoundBug, String> {
        let mut header = Fields(fields(text));
        let class = header.required("class")?;
        let class = Class::ALL.into_iter().find(|known| known.name() == class);
        let on = header.required("on")?;
        let engine = on.split('@').next().unwrap_or_default().to_string();
        let steps = steps(text, &engine)?;
        let bug = FoundBug {
            title: header.required("title")?,
            class: class.ok_or("has a class that is not known")?,
            oracles: header.required("oracle")?,
            on,
            since: header.take("since"),
            fixed: header.take("fixed"),
            settings: header.take("settings"),
            why: header.required("why")?,
            second: header.required("second opinion")?,
            reports: header.required("reports")?,
            arguable: header.take("arguable"),
            unverified: header.take("not run again"),
            body: body(text).to_string(),
            steps,
        };
        match header.0.first() {
            Some((key, _)) => Err(format!("has '{key}' in its header, which is not known")),
            None if !bug.steps.iter().any(|step| step.must_be.is_some()) => {
                Err("does not say what must be otherwise (`-- must be:`)".to_string())
            }
            None => Ok(bug),
        }
    }

    /// `mysql` of `mysql@9.7.4`.
    pub fn engine(&self) -> &str {
        self.on.split('@').next().unwrap_or_default()
    }

    /// `9.7.4` of `mysql@9.7.4`.
    pub fn version(&self) -> &str {
        self.on.split_once('@').map_or("", |(_, version)| version)
    }

    /// Holds what the statements returned against what is written. Those behind a crash were not run.
    pub fn judge(&self, outcomes: &[ArmOutcome]) -> Verdict {
        let judged: Vec<Judgement> =
            self.steps.iter().enumerate().map(|(at, step)| step.judge(outcomes.get(at))).collect();
        let any = |wanted| judged.contains(&wanted);
        match (any(Judgement::Wrong), any(Judgement::Other) || any(Judgement::Right)) {
            (true, false) => Verdict::Fails,
            (true, true) => Verdict::FailsOtherwise,
            (false, _) if any(Judgement::Other) => Verdict::CannotTell,
            (false, _) => Verdict::Holds,
        }
    }
}

impl Step {
    /// Holds what the statement returned against what is written; none: it was not run.
    pub fn judge(&self, outcome: Option<&ArmOutcome>) -> Judgement {
        let Some(outcome) = outcome else { return Judgement::Other };
        let in_order = self.order_counts();
        let is = |answer: &Answer| answer.matches(outcome, in_order);
        match (&self.returns, &self.must_be) {
            (None, _) if matches!(outcome, ArmOutcome::Error(_)) => Judgement::Other,
            (None, _) => Judgement::Context,
            (Some(returns), None) if is(returns) => Judgement::Context,
            (Some(returns), Some(_)) if is(returns) => Judgement::Wrong,
            (_, Some(must_be)) if is(must_be) => Judgement::Right,
            _ => Judgement::Other,
        }
    }

    /// Only where the same rows must come in another order.
    fn order_counts(&self) -> bool {
        match (&self.returns, &self.must_be) {
            (Some(Answer::Rows(wrong)), Some(Answer::Rows(right))) => sorted(wrong) == sorted(right),
            _ => false,
        }
    }
}

impl Answer {
    fn read(text: &str) -> Answer {
        match text {
            "nothing" => Answer::Rows(Vec::new()),
            "ok" => Answer::Done,
            "crash" => Answer::Crash,
            "error" => Answer::Error(String::new()),
            _ => match text.strip_prefix("error: ") {
                Some(part) => Answer::Error(part.to_string()),
                None => Answer::Rows(listed(text)),
            },
        }
    }

    fn matches(&self, outcome: &ArmOutcome, in_order: bool) -> bool {
        match (self, outcome) {
            (Answer::Rows(written), ArmOutcome::Rows(_)) => {
                let Answer::Rows(returned) = Answer::from(outcome) else { return false };
                if in_order { *written == returned } else { sorted(written) == sorted(&returned) }
            }
            (Answer::Done, ArmOutcome::Done) => true,
            (Answer::Crash, ArmOutcome::Error(error)) => error.class == ErrorClass::ConnectionLost,
            // An engine that is broken has not refused anything.
            (Answer::Error(part), ArmOutcome::Error(error)) if part.is_empty() => !error.class.is_harm(),
            (Answer::Error(part), ArmOutcome::Error(SqlError { class, message, .. })) => {
                *class != ErrorClass::ConnectionLost && message.contains(part)
            }
            _ => false,
        }
    }
}

/// What was returned, as it would be written.
impl From<&ArmOutcome> for Answer {
    fn from(outcome: &ArmOutcome) -> Answer {
        match outcome {
            ArmOutcome::Rows(rows) => Answer::Rows(rows.iter().map(row).collect()),
            ArmOutcome::Done => Answer::Done,
            ArmOutcome::Error(error) if error.class == ErrorClass::ConnectionLost => Answer::Crash,
            ArmOutcome::Error(error) => Answer::Error(error.message.lines().collect::<Vec<_>>().join(" ")),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Rows(rows) if rows.is_empty() => f.write_str("nothing"),
            Answer::Rows(rows) => f.write_str(&rows.join(", ")),
            Answer::Done => f.write_str("ok"),
            Answer::Error(part) if part.is_empty() => f.write_str("error"),
            Answer::Error(part) => write!(f, "error: {part}"),
            Answer::Crash => f.write_str("crash"),
        }
    }
}

/// A value alone, or several in brackets. A line break would end the comment.
fn row(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(|value| value.to_string().replace('\n', "\\n")).collect();
    match values.as_slice() {
        [value] => value.clone(),
        _ => format!("({})", values.join(", ")),
    }
}

fn sorted(rows: &[String]) -> Vec<String> {
    let mut rows = rows.to_vec();
    rows.sort();
    rows
}

/// Takes a list apart at the commas outside quotes and brackets.
fn listed(text: &str) -> Vec<String> {
    let (mut items, mut depth, mut quoted) = (vec![String::new()], 0, false);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items.iter().map(|item| item.trim().to_string()).collect()
}

/// What is left of a header once its fields were taken.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn take(&mut self, key: &str) -> Option<String> {
        let at = self.0.iter().position(|(found, _)| found == key)?;
        Some(self.0.remove(at).1)
    }

    fn required(&mut self, key: &str) -> Result<String, String> {
        let found = self.take(key).filter(|value| !value.is_empty());
        found.ok_or_else(|| format!("has no '{key}' in its header"))
    }
}

/// What follows the header.
fn body(text: &str) -> &str {
    let header: usize =
        text.split_inclusive('\n').take_while(|line| line.starts_with("--")).map(str::len).sum();
    text[header..].trim()
}

/// The statements with what is written behind each.
fn steps(text: &str, engine: &str) -> Result<Vec<Step>, String> {
    let habits = Habits { engine, ..Habits::default() };
    let header = text.lines().take_while(|line| line.starts_with("--")).count();
    let mut steps: Vec<Step> = Vec::new();
    let (mut pending, mut begins) = (String::new(), header + 1);
    let run = |pending: &mut String, begins: usize, steps: &mut Vec<Step>| {
        let parts = script::sql(pending, begins, habits).into_iter();
        steps.extend(parts.map(|part| Step { sql: part.sql, line: part.line, returns: None, must_be: None }));
        pending.clear();
    };
    for (at, line) in text.lines().enumerate().skip(header) {
        let returns = line.strip_prefix("-- returns: ");
        let Some(answer) = returns.or_else(|| line.strip_prefix("-- must be: ")) else {
            pending.push_str(line);
            pending.push('\n');
            continue;
        };
        run(&mut pending, begins, &mut steps);
        begins = at + 2;
        let step = steps.last_mut().ok_or("says what is returned before its first statement")?;
        let place = if returns.is_some() { &mut step.returns } else { &mut step.must_be };
        if place.replace(Answer::read(answer.trim())).is_some() {
            return Err(format!("says twice what line {} returns", step.line));
        }
    }
    run(&mut pending, begins, &mut steps);
    match steps.iter().find(|step| step.returns.is_none() && step.must_be.is_some()) {
        Some(step) => Err(format!("says what line {} must return, but not what it returns", step.line)),
        None => Ok(steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Rows;

    const SCRIPT: &str = "\
-- title: A row is lost
-- class: wrong result
-- oracle: norec
-- on: sqlite@3.28.0
-- why: The row meets the condition,
--   whatever: it is 1.
-- second opinion: 3.29.0
-- reports: none found

CREATE TABLE shelf(width INT); -- not an answer
INSERT INTO shelf VALUES (1);
SELECT width,
  'a;b' FROM shelf WHERE width;
-- returns: nothing
-- must be: (1, 'a;b')
SELECT width FROM shelf;
-- returns: 1
";

    fn rows(columns: usize, values: &[Value]) -> ArmOutcome {
        ArmOutcome::Rows(Rows { columns, values: values.to_vec() })
    }

    fn failed(class: ErrorClass, message: &str) -> ArmOutcome {
        ArmOutcome::Error(SqlError { class, code: String::new(), message: message.to_string() })
    }

    fn step(returns: &str, must_be: &str) -> Step {
        let (returns, must_be) = (Some(Answer::read(returns)), Some(Answer::read(must_be)));
        Step { sql: String::new(), line: 1, returns, must_be }
    }

    #[test]
    fn a_script_is_read_with_what_stands_behind_its_statements() {
        let bug = FoundBug::read(SCRIPT).unwrap();
        assert_eq!((bug.engine(), bug.version()), ("sqlite", "3.28.0"));
        assert_eq!(bug.why, "The row meets the condition, whatever: it is 1.");
        assert!(bug.body.starts_with("CREATE TABLE shelf") && bug.settings.is_none());
        let lines: Vec<usize> = bug.steps.iter().map(|step| step.line).collect();
        assert_eq!(lines, [10, 11, 12, 16]);
        assert_eq!(bug.steps[2].must_be, Some(Answer::Rows(vec!["(1, 'a;b')".to_string()])));
        assert_eq!(bug.steps[3].returns, Some(Answer::Rows(vec!["1".to_string()])));
    }

    #[test]
    fn a_script_that_says_too_little_or_too_much_is_refused() {
        let refused = |old: &str, new: &str| FoundBug::read(&SCRIPT.replace(old, new)).unwrap_err();
        assert_eq!(refused("-- oracle: norec\n", ""), "has no 'oracle' in its header");
        assert_eq!(
            refused("-- oracle: norec\n", "-- oracle: a\n-- orcale: b\n"),
            "has 'orcale' in its header, which is not known"
        );
        assert_eq!(refused("wrong result", "bad luck"), "has a class that is not known");
        assert!(refused("-- must be: (1, 'a;b')\n", "").contains("must be"));
        assert!(
            refused("-- returns: nothing\n", "").contains("line 12 must return, but not what it returns")
        );
        assert!(refused("-- returns: nothing\n", "-- returns: 1\n-- returns: 2\n").contains("twice"));
        let unknown = SCRIPT.replace("CREATE TABLE shelf(width INT); -- not an answer\n", "-- returns: 1\n");
        assert!(FoundBug::read(&unknown).unwrap_err().contains("before its first statement"));
    }

    #[test]
    fn a_script_is_held_against_what_is_written() {
        let bug = FoundBug::read(SCRIPT).unwrap();
        let right = || rows(2, &[Value::Int(1), Value::Text("a;b".to_string())]);
        let judge = |query: ArmOutcome, last: ArmOutcome| {
            bug.judge(&[ArmOutcome::Done, ArmOutcome::Done, query, last])
        };
        let one = || rows(1, &[Value::Int(1)]);
        assert_eq!(judge(rows(2, &[]), one()), Verdict::Fails);
        assert_eq!(judge(right(), one()), Verdict::Holds);
        assert_eq!(judge(rows(2, &[]), rows(1, &[])), Verdict::FailsOtherwise);
        assert_eq!(judge(right(), rows(1, &[])), Verdict::CannotTell);
        assert_eq!(judge(one(), one()), Verdict::CannotTell);
        assert_eq!(bug.judge(&[ArmOutcome::Done, ArmOutcome::Done, right()]), Verdict::CannotTell);
        let unbuilt = failed(ErrorClass::Syntax, "no");
        assert_eq!(bug.judge(&[unbuilt, ArmOutcome::Done, right(), one()]), Verdict::CannotTell);
    }

    #[test]
    fn rows_are_compared_in_any_order_unless_it_is_the_order_that_is_wrong() {
        let both = rows(1, &[Value::Int(2), Value::Text("x, y".to_string())]);
        assert_eq!(step("'x, y', 2", "2").judge(Some(&both)), Judgement::Wrong);
        assert_eq!(step("'x, y', 2", "2, 'x, y'").judge(Some(&both)), Judgement::Right);
        assert_eq!(step("2, 'x, y'", "'x, y', 2").judge(Some(&both)), Judgement::Wrong);
    }

    #[test]
    fn errors_are_told_from_an_engine_that_is_broken() {
        let judge = |returns: &str, must_be: &str, class, message: &str| {
            step(returns, must_be).judge(Some(&failed(class, message)))
        };
        assert_eq!(judge("crash", "1", ErrorClass::ConnectionLost, "gone"), Judgement::Wrong);
        assert_eq!(judge("error: gone", "1", ErrorClass::ConnectionLost, "gone"), Judgement::Other);
        assert_eq!(judge("error: Oops", "error", ErrorClass::Internal, "Oops: 7"), Judgement::Wrong);
        assert_eq!(judge("error: Oops", "error", ErrorClass::Internal, "other"), Judgement::Other);
        assert_eq!(judge("error: Oops", "error", ErrorClass::Semantic, "no such"), Judgement::Right);
        assert_eq!(step("ok", "error").judge(Some(&ArmOutcome::Done)), Judgement::Wrong);
    }

    #[test]
    fn an_answer_is_written_as_it_is_read() {
        for text in
            ["nothing", "ok", "crash", "error", "error: no, not (this", "1, 'a'", "(1, NULL), (2, x'00')"]
        {
            assert_eq!(Answer::read(text).to_string(), text);
        }
        let broken = rows(1, &[Value::Text("a\nb".to_string())]);
        assert_eq!(Answer::from(&broken).to_string(), "'a\\nb'");
    }
}
