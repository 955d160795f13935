//! PLAN: a query gives the same rows whatever the optimizer is told (Ba and Rigger, "Keep It Simple: Testing
//! Databases via Differential Query Plans", 2024; here by settings of the session, in any number).
//!
//! ```sql
//! SELECT COUNT(*) FROM t0 JOIN t1 ON t0.c0 = t1.c0;
//! SET enable_hashjoin = off;
//! SELECT COUNT(*) FROM t0 JOIN t1 ON t0.c0 = t1.c0;
//! ```
//!
//! The tests of a subject are the query and the SET statements; the query is asked before them and after each.
//! Which settings there are, with values, stands in the dialect's `settings`.
//!
//! Conditions (SOUNDNESS 7):
//! - The setting is one of the dialect's: no answer may depend on it.
//! - The answer does not depend on the order of rows, as for [`index`](super::index).
//! - What was set before is asked for first and set again; a setting that does not tell is not touched.
//! - An error of one arm only is validated first: another plan may spare the engine the row that raises it.

use crate::dialect::Dialect;
use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::generate::Generator;
use crate::oracle::kit::again::{self, Change, Words};
use crate::oracle::{Given, Oracle};
use crate::session::Session;
use crate::sql::{Name, Statement, Value};
use crate::subject::{Proposal, Subject, TestCase};

pub struct Plan;

const WORDS: Words = Words {
    relation: "a query returns the same rows whatever the optimizer is told",
    before: "as it is",
    change: "the setting",
    after: "under the setting",
    unchanged: "no setting that can be set and set back",
};

impl Oracle for Plan {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows under other settings of the optimizer"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let dialect = generator.dialect;
        if dialect.settings.is_empty() || dialect.setting_value.is_none() {
            return None;
        }
        let mut subject = Subject::new(self.name(), generator.any_query()?);
        for _ in 0..generator.rng.between(1, 2) {
            let setting = generator.rng.pick(&dialect.settings);
            // Two values, so that one of them is not what it is set to.
            let mut values: Vec<&Name> = setting.values.iter().collect();
            values.sort();
            values.dedup();
            generator.rng.shuffle(&mut values);
            for value in values.into_iter().take(2) {
                subject.tests.push(Statement::Set { name: setting.name.clone(), value: value.clone() });
            }
        }
        Some(subject.into())
    }

    /// Under each value of each setting.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let mut subjects = Vec::new();
        for setting in &given.dialect.settings {
            for value in &setting.values {
                let mut subject = Subject::new(self.name(), given.query.clone());
                subject.tests.push(Statement::Set { name: setting.name.clone(), value: value.clone() });
                subjects.push(subject);
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let [Statement::Query(query), rest @ ..] = subject.tests.as_slice() else {
            return Ok(Verdict::skip("not a query and settings"));
        };
        let mut changes: Vec<Change> = Vec::new();
        for statement in rest {
            let Statement::Set { name, .. } = statement else { continue };
            if !is_neutral(name, session.dialect()) {
                return Ok(Verdict::skip("setting that answers may depend on"));
            }
            let known =
                changes.iter().find(|change| sets(&change.back, name)).map(|change| change.back.clone());
            let back = match known {
                Some(back) => Some(back),
                None => as_it_is(name, session)?,
            };
            changes.extend(back.map(|back| Change { make: statement.clone(), back }));
        }
        again::ask(query, &changes, &WORDS, subject, session)
    }

    fn complaint(&self, case: &TestCase) -> String {
        let set = case.subject.tests.iter().rev().find_map(|test| match test {
            Statement::Set { name, .. } => Some(name),
            _ => None,
        });
        set.map_or("depends on a setting of the optimizer".to_string(), |name| {
            format!("depends on the setting {name}")
        })
    }
}

fn is_neutral(name: &Name, dialect: &Dialect) -> bool {
    dialect.settings.iter().any(|setting| setting.name == *name)
}

fn sets(statement: &Statement, setting: &Name) -> bool {
    matches!(statement, Statement::Set { name, .. } if name == setting)
}

/// The statement that sets what is set now.
fn as_it_is(name: &Name, session: &mut Session) -> Result<Option<Statement>, Stop> {
    let Some((before, after)) =
        session.dialect().setting_value.as_deref().and_then(|text| text.split_once("{}"))
    else {
        return Ok(None);
    };
    let question = Statement::Raw(format!("{before}{name}{after}"));
    let Reply::Rows(rows) = session.aside(|session| session.run(&question))? else {
        return Ok(None);
    };
    let quoted = |text: &str| Name::from(format!("'{}'", text.replace('\'', "''")));
    let value = match rows.single() {
        Some(Value::Int(number)) => Name::from(number.to_string()),
        Some(Value::Real(number)) => Name::from(number.to_string()),
        Some(Value::Bool(truth)) => Name::from(truth.to_string()),
        Some(Value::Text(text)) => quoted(text),
        Some(Value::Blob(text)) => quoted(&String::from_utf8_lossy(text)),
        _ => return Ok(None),
    };
    Ok(Some(Statement::Set { name: name.clone(), value }))
}
