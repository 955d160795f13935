//! Turns a worker's crash or hang into a finding: the statement that ran last, on the state it ran in.

use dissent_core::engine::{ErrorClass, SqlError};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Failure, Origin};
use dissent_core::oracle::crash;
use dissent_core::sql::Statement;
use dissent_core::subject::TestCase;

use crate::pool::{End, Ended};
use crate::worker::protocol::Difference;

/// What the engine did to a worker; none if it ended in another way.
pub fn evidence(ended: &Ended) -> Option<Evidence> {
    match ended.how {
        End::Hung { after } => {
            let failure = Failure::Hang { seconds: after.as_secs() };
            Some(evidence_of(
                ended,
                lost("hang".to_string(), "the statement did not finish"),
                Class::Hang,
                failure,
            ))
        }
        End::Crashed => {
            let cause = ended.cause();
            let failure = Failure::Death {
                cause: cause.clone(),
                running: ended.remains.running,
                out_of_memory: ended.out_of_memory(),
                last_words: ended.last_words.clone(),
            };
            Some(evidence_of(ended, lost(cause, "the process died"), Class::Crash, failure))
        }
        End::Well | End::Stopped | End::Stuck | End::FromOutside | End::Failed => None,
    }
}

fn lost(code: String, message: &str) -> SqlError {
    SqlError { class: ErrorClass::ConnectionLost, code, message: message.to_string() }
}

fn evidence_of(ended: &Ended, error: SqlError, class: Class, failure: Failure) -> Evidence {
    let remains = &ended.remains;
    let cut = remains.statement_cut || remains.setup_cut;
    let arm = Arm {
        label: "last statement".to_string(),
        sql: remains.statement.clone().unwrap_or_default(),
        outcome: ArmOutcome::Error(error),
        plan: None,
    };
    Evidence {
        class,
        relation: crash::RELATION.to_string(),
        arms: vec![arm],
        failure,
        explanation: cut.then(|| "the script was too long for the journal and is truncated".to_string()),
    }
}

/// The finding itself: what the journal holds, as text.
pub fn difference(ended: &Ended, seed: u64) -> Option<Difference> {
    let remains = &ended.remains;
    let setup = remains.setup.iter().cloned().map(Statement::Raw).collect();
    let statement = Statement::Raw(remains.statement.clone().unwrap_or_default());
    Some(Difference {
        origin: Origin { seed, database: remains.database, case: remains.case, ..Origin::default() },
        case: TestCase { setup, subject: crash::subject(statement) },
        evidence: evidence(ended)?,
    })
}
