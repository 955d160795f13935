//! Evidence in words: what was expected, and what happened.

use crate::finding::{Evidence, Failure, Side};
use crate::sql::Value;

/// What happened instead of what the relation says, in one or two sentences.
pub fn failure(evidence: &Evidence) -> String {
    let told = match &evidence.failure {
        Failure::Rows { first, second } => rows(first, second),
        Failure::Columns { first, second } => {
            format!(
                "The first result has {}, the second {}.",
                many(*first, "column"),
                many(*second, "column")
            )
        }
        Failure::Counts { first, second } => {
            format!("The first query counts {}, the second {second}.", many_signed(*first, "row"))
        }
        Failure::Lengths { first, second } => {
            format!("The first query returns {}, the second {}.", many(*first, "row"), many(*second, "row"))
        }
        Failure::Unpaired { in_first, row, first, second } => {
            let (here, there) = if *in_first { ("first", "second") } else { ("second", "first") };
            format!(
                "The row {} of the {here} result has no partner in the {there} one. \
                 The first query returns {}, the second {}.",
                row_text(row),
                many(*first, "row"),
                many(*second, "row")
            )
        }
        Failure::Order { place, returned, expected } => {
            let (returned, expected) = (row_text(returned), row_text(expected));
            format!("The rows are the same, but row {place} is {returned} instead of {expected}.")
        }
        Failure::OneSided { error } => format!("One fails, the other does not: {}", error.message),
        Failure::Harm { error, .. } => match evidence.class {
            crate::finding::Class::Crash => {
                format!("The connection to the server is lost: {}", error.message)
            }
            _ => format!("The engine reports an internal error: {}", error.message),
        },
        Failure::Death { cause, running, out_of_memory, last_words } => {
            let place = if *running { "in the last statement" } else { "after the last statement" };
            let memory = if *out_of_memory { ", out of memory," } else { "" };
            let words = match last_words.as_str() {
                "" => String::new(),
                words => format!(" Its last words: {words}"),
            };
            format!("The process died by {cause}{memory} {place}.{words}")
        }
        Failure::Hang { seconds } => {
            format!("The statement ran for {seconds} s, past every limit, and had to be killed.")
        }
        Failure::Described(sentence) => sentence.clone(),
    };
    match &evidence.explanation {
        Some(explanation) => format!("{told} Likely {explanation}."),
        None => told,
    }
}

fn rows(first: &Side, second: &Side) -> String {
    format!("The first query returns {}; the second returns {}.", side(first), side(second))
}

fn side(side: &Side) -> String {
    let count = many(side.rows, "row");
    let examples: Vec<String> = side.examples.iter().map(|row| row_text(row)).collect();
    match (side.rows, side.only, examples.as_slice()) {
        (0, ..) => "none".to_string(),
        (1, 1, [only]) => only.clone(),
        (_, 0, _) | (_, _, []) => count,
        (_, only, examples) if only == examples.len() => {
            format!("{count}, only here {}", examples.join(", "))
        }
        (_, only, [example, ..]) => format!("{count}, {only} of them only here, such as {example}"),
    }
}

/// `1 row`, `2 rows`.
fn many(count: usize, what: &str) -> String {
    many_signed(count as i64, what)
}

fn many_signed(count: i64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn row_text(row: &[Value]) -> String {
    let cells: Vec<String> = row.iter().map(Value::to_string).collect();
    format!("({})", cells.join(", "))
}
