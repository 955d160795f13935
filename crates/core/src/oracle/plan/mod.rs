//! PLAN: a query returns the same rows under any optimizer setting (Ba and Rigger, "Keep It Simple: Testing
//! Databases via Differential Query Plans", 2024; here with any number of session settings).
//!
//! ```sql
//! SELECT COUNT(*) FROM t0 JOIN t1 ON t0.c0 = t1.c0;
//! SET enable_hashjoin = off;
//! SELECT COUNT(*) FROM t0 JOIN t1 ON t0.c0 = t1.c0;
//! ```
//!
//! The tests of a subject are the query and the SET statements; the query runs before them and after each. The
//! dialect's `settings` list the settings with their values; the engine is asked for more
//! ([`Discovery`](crate::dialect::Discovery)). The first value of a setting is the one that switches off most, such
//! as every optimization at once, and is used more often.
//!
//! Conditions (SOUNDNESS 7):
//! - The setting is one of the dialect's: no result may depend on it.
//! - The result does not depend on the order of rows, as for [`index`](super::index).
//! - The old value is read first and restored afterwards. A setting that cannot be read is set to its initial value,
//!   and left alone if the dialect does not know that either.
//! - An error in one arm only is validated first: with another plan, the engine may never read the row that raises it.

use std::cmp::Reverse;

use crate::dialect::{Dialect, Setting};
use crate::engine::{Reply, Stop};
use crate::finding::{Switch, Verdict};
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::again::{self, Change, Words};
use crate::oracle::{Given, Oracle};
use crate::session::Session;
use crate::sql::{Name, Statement, Value};
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        /// A setting is first given the value that switches off most.
        STRONGEST = "plan.strongest": 40,
    }
}

/// Values under which one adopted subject is asked: a setting may have fifty.
const MOST_VALUES: usize = 8;

/// See [the module](self).
pub struct Plan;

const WORDS: Words = Words {
    relation: "a query returns the same rows under any optimizer setting",
    before: "as it is",
    change: "the setting",
    after: "under the setting",
    unchanged: "no setting can be changed and restored",
    may_raise: true,
};

impl Oracle for Plan {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows under other optimizer settings"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        !dialect.settings.is_empty() || !dialect.discovery.lists.is_empty()
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let dialect = generator.dialect;
        if dialect.settings.is_empty() {
            return None;
        }
        let weights: Vec<u32> = dialect.settings.iter().map(|setting| setting.weight).collect();
        let mut subject = Subject::new(self.name(), generator.any_query()?);
        for _ in 0..generator.rng.between(1, 2) {
            let setting = &dialect.settings[generator.rng.weighted(&weights)];
            // Two values, so that one of them is not what it is set to.
            let mut values: Vec<&Name> = setting.values.iter().collect();
            values.sort();
            values.dedup();
            generator.rng.shuffle(&mut values);
            if generator.odds(&STRONGEST) {
                values.insert(0, &setting.values[0]);
            }
            for value in values.into_iter().take(2) {
                subject.tests.push(set(setting, value));
            }
        }
        Some(subject.into())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    /// Under every value of each setting, in turn. What switches off most comes first.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let mut settings: Vec<&Setting> = given.dialect.settings.iter().collect();
        settings.sort_by_key(|setting| Reverse(setting.weight));
        let mut subjects = Vec::new();
        for setting in settings {
            for values in setting.values.chunks(MOST_VALUES) {
                let mut subject = Subject::new(self.name(), given.query.clone());
                subject.tests.extend(values.iter().map(|value| set(setting, value)));
                subjects.push(subject);
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let [Statement::Query(query), rest @ ..] = subject.tests.as_slice() else {
            return Ok(Verdict::skip("not a query followed by settings"));
        };
        let mut changes: Vec<Change> = Vec::new();
        for statement in rest {
            let Statement::Set { name, .. } = statement else { continue };
            if session.dialect().setting(name).is_none() {
                return Ok(Verdict::skip("setting that may change results"));
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

    fn switch(&self, case: &TestCase, dialect: &Dialect) -> Option<Switch> {
        case.subject.tests.iter().rev().find_map(|test| match test {
            Statement::Set { name, value } => Some(Switch::setting(name, value, dialect)),
            _ => None,
        })
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

fn set(setting: &Setting, value: &Name) -> Statement {
    Statement::Set { name: setting.name.clone(), value: value.clone() }
}

fn sets(statement: &Statement, setting: &Name) -> bool {
    matches!(statement, Statement::Set { name, .. } if name == setting)
}

/// The statement that sets what is set now.
fn as_it_is(name: &Name, session: &mut Session) -> Result<Option<Statement>, Stop> {
    if let Some(value) = session.dialect().setting(name).and_then(|setting| setting.initial.clone()) {
        return Ok(Some(Statement::Set { name: name.clone(), value }));
    }
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
