//! The finding in a worker's death: the statement it died in, on the state it died with.

use dissent_core::engine::{ErrorClass, SqlError};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Origin};
use dissent_core::oracle::health;
use dissent_core::sql::Statement;

use super::Plan;
use crate::worker::process::Dead;
use crate::worker::protocol::Difference;

pub fn of_hang(dead: &Dead, plan: &Plan) -> Difference {
    let limit = plan.hang_limit.as_secs();
    let difference = format!("the statement ran for {limit} s, beyond every limit, and had to be killed");
    let error = lost("hang".to_string(), "it did not end");
    difference_of(dead, plan, error, Class::Hang, difference)
}

pub fn of_crash(dead: &Dead, plan: &Plan) -> Difference {
    let cause = dead.cause();
    let place = if dead.remains.running { "in the last statement" } else { "after the last statement" };
    let memory = if dead.out_of_memory() { ", out of memory," } else { "" };
    let difference = format!("the process died by {cause}{memory} {place}");
    let error = lost(cause, "the process died");
    difference_of(dead, plan, error, Class::Crash, difference)
}

fn lost(code: String, message: &str) -> SqlError {
    SqlError { class: ErrorClass::ConnectionLost, code, message: message.to_string() }
}

fn difference_of(
    dead: &Dead,
    plan: &Plan,
    error: SqlError,
    class: Class,
    mut difference: String,
) -> Difference {
    let remains = &dead.remains;
    let sql = remains.statement.clone().unwrap_or_default();
    if !dead.last_words.is_empty() {
        difference += &format!("; its last words: {}", dead.last_words);
    }
    if remains.statement_cut || remains.setup_cut {
        difference += "; the script was too long for the journal and is cut";
    }
    let arm = Arm {
        label: "last statement".to_string(),
        sql: sql.clone(),
        outcome: ArmOutcome::Error(error),
        plan: None,
    };
    Difference {
        origin: Origin { seed: plan.seed, database: remains.database, case: remains.case },
        subject: health::subject(
            remains.setup.iter().cloned().map(Statement::Raw).collect(),
            Statement::Raw(sql),
        ),
        evidence: Evidence { class, relation: health::RELATION.to_string(), arms: vec![arm], difference },
    }
}
