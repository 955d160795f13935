//! CRASH: no statement crashes the engine, hangs, or makes it report an internal error.
//!
//! Every hunt watches for this, so the oracle is always on and proposes nothing. Findings of this kind are checked
//! again here.

use crate::engine::{ErrorClass, Harm, Stop};
use crate::finding::{Arm, ArmOutcome, Class, Evidence, Failure, Verdict};
use crate::generate::Generator;
use crate::oracle::Oracle;
use crate::session::Session;
use crate::sql::Statement;
use crate::subject::{Proposal, Subject};

/// Proposes nothing: it is the name of harm that any statement does.
pub struct Crash;

/// The name findings of this kind carry.
pub const NAME: &str = "crash";

/// The relation that harm violates.
pub const RELATION: &str = "a statement ends with a result or an ordinary error";

impl Oracle for Crash {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "no statement crashes the engine, hangs it or makes it report an internal error"
    }

    fn propose(&self, _: &mut Generator) -> Option<Proposal> {
        None
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        for test in &subject.tests {
            session.run(test)?;
        }
        Ok(Verdict::Pass { nonempty: false })
    }
}

/// The subject of a statement that did the engine harm.
pub fn subject(statement: Statement) -> Subject {
    Subject::of(NAME, vec![statement])
}

/// The evidence of harm: the one statement that caused it.
pub fn evidence(harm: Harm) -> Evidence {
    let class = match harm.error.class {
        ErrorClass::ConnectionLost => Class::Crash,
        _ => Class::InternalError,
    };
    Evidence {
        class,
        relation: RELATION.to_string(),
        failure: Failure::Harm { error: harm.error.clone(), stack: harm.stack },
        explanation: None,
        arms: vec![Arm {
            label: String::from("statement"),
            sql: harm.sql,
            outcome: ArmOutcome::Error(harm.error),
            plan: None,
        }],
    }
}
