//! The finding in a worker's death: the statement it died in, on the state it died with.

use std::time::Duration;

use dissent_core::engine::{ErrorClass, SqlError};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Origin};
use dissent_core::oracle::health;
use dissent_core::sql::Statement;

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
    let limit = limit.as_secs();
    let difference = format!("the statement ran for {limit} s, beyond every limit, and had to be killed");
    evidence(dead, lost("hang".to_string(), "it did not end"), Class::Hang, difference)
}

pub fn evidence_of_crash(dead: &Dead) -> Evidence {
    let cause = dead.cause();
    let place = if dead.remains.running { "in the last statement" } else { "after the last statement" };
    let memory = if dead.out_of_memory() { ", out of memory," } else { "" };
    let difference = format!("the process died by {cause}{memory} {place}");
    evidence(dead, lost(cause, "the process died"), Class::Crash, difference)
}

fn lost(code: String, message: &str) -> SqlError {
    SqlError { class: ErrorClass::ConnectionLost, code, message: message.to_string() }
}

fn evidence(dead: &Dead, error: SqlError, class: Class, mut difference: String) -> Evidence {
    let remains = &dead.remains;
    if !dead.last_words.is_empty() {
        difference += &format!("; its last words: {}", dead.last_words);
    }
    if remains.statement_cut || remains.setup_cut {
        difference += "; the script was too long for the journal and is cut";
    }
    let arm = Arm {
        label: "last statement".to_string(),
        sql: remains.statement.clone().unwrap_or_default(),
        outcome: ArmOutcome::Error(error),
        plan: None,
    };
    Evidence { class, relation: health::RELATION.to_string(), arms: vec![arm], difference }
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
        subject: health::subject(setup, Statement::Raw(remains.statement.clone().unwrap_or_default())),
        evidence,
    }
}
