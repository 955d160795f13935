//! Health: a statement that takes the engine down, never ends, or makes the engine say of itself that it
//! is broken. Every hunt watches for it, so it proposes nothing; findings of this kind are checked here.

use super::Oracle;
use crate::engine::{ErrorClass, Reply, SqlError, Trouble};
use crate::finding::{Arm, ArmOutcome, Class, Evidence, Verdict};
use crate::generate::Generator;
use crate::session::Session;
use crate::sql::Statement;
use crate::sql::render::to_sql;
use crate::subject::Subject;

pub struct Health;

/// The name findings of this kind carry.
pub const NAME: &str = "crash";

pub const RELATION: &str = "a statement ends with an answer or an ordinary error";

impl Oracle for Health {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "no statement crashes the engine, hangs it or makes it report an internal error"
    }

    fn propose(&self, _: &mut Generator) -> Option<Subject> {
        None
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Trouble> {
        for test in &subject.tests {
            if let Reply::Failed(error) = session.run(test)?
                && error.class.is_harm()
            {
                let sql = to_sql(test, session.dialect());
                return Ok(Verdict::Bug(Box::new(evidence(sql, error))));
            }
        }
        Ok(Verdict::Pass { nonempty: false })
    }
}

/// The subject of a statement that did the engine no good.
pub fn subject(setup: Vec<Statement>, statement: Statement) -> Subject {
    Subject {
        oracle: NAME.to_string(),
        setup,
        tests: vec![statement],
        exprs: Vec::new(),
        choices: Default::default(),
    }
}

/// What comes before an engine's own words about its state.
pub const SAYS_OF_ITSELF: &str = "the engine says of itself: ";

/// The class and the sentence for an error that says the engine came to harm.
pub fn harm(error: &SqlError) -> (Class, String) {
    match error.class {
        ErrorClass::ConnectionLost => (Class::Crash, format!("the server is gone: {}", error.message)),
        _ => (Class::InternalError, format!("{SAYS_OF_ITSELF}{}", error.message)),
    }
}

/// The evidence of an error that says the engine came to harm.
pub fn evidence(sql: String, error: SqlError) -> Evidence {
    let (class, difference) = harm(&error);
    Evidence {
        class,
        relation: RELATION.to_string(),
        difference,
        arms: vec![Arm {
            label: String::from("statement"),
            sql,
            outcome: ArmOutcome::Error(error),
            plan: None,
        }],
    }
}
