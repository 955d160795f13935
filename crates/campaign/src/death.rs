//! The finding in a worker's death: the statement it died in, on the state it died with.

use std::time::Duration;

use dissent_core::engine::{ErrorClass, SqlError};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Failure, Origin};
use dissent_core::oracle::crash;
use dissent_core::sql::Statement;
use dissent_core::subject::TestCase;

use super::Plan;
use crate::worker::process::Dead;
use crate::worker::protocol::Difference;

pub fn of_hang(dead: &Dead, plan: &Plan) -> Difference {
    difference(dead, plan, evidence_of_hang(dead, plan.hang_limit))
}

pub fn of_crash(dead: &Dead, plan: &Plan) -> Difference {
    difference(dead, plan, evidence_of_crash(dead))
}

pub fn evidence_of_hang(dead: &Dead, limit: Duration) -> Evidence {
    let failure = Failure::Hang { seconds: limit.as_secs() };
    evidence(dead, lost("hang".to_string(), "it did not end"), Class::Hang, failure)
}

pub fn evidence_of_crash(dead: &Dead) -> Evidence {
    let cause = dead.cause();
    let failure = Failure::Death {
        cause: cause.clone(),
        running: dead.remains.running,
        out_of_memory: dead.out_of_memory(),
        last_words: dead.last_words.clone(),
    };
    evidence(dead, lost(cause, "the process died"), Class::Crash, failure)
}

fn lost(code: String, message: &str) -> SqlError {
    SqlError { class: ErrorClass::ConnectionLost, code, message: message.to_string() }
}

fn evidence(dead: &Dead, error: SqlError, class: Class, failure: Failure) -> Evidence {
    let remains = &dead.remains;
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
        explanation: cut.then(|| "the script was too long for the journal and is cut".to_string()),
    }
}

/// The finding itself: what the journal holds, as text.
fn difference(dead: &Dead, plan: &Plan, evidence: Evidence) -> Difference {
    let remains = &dead.remains;
    let setup = remains.setup.iter().cloned().map(Statement::Raw).collect();
    Difference {
        origin: Origin {
            seed: plan.seed,
            database: remains.database,
            case: remains.case,
            ..Origin::default()
        },
        case: TestCase {
            setup,
            subject: crash::subject(Statement::Raw(remains.statement.clone().unwrap_or_default())),
        },
        evidence,
    }
}
