//! Results with the rows that differ marked.

use std::collections::HashMap;

use super::markdown::fenced;
use super::one_line;
use super::script::ROWS_SHOWN;
use crate::engine::Rows;
use crate::sql::Value;

pub fn cells(row: &[Value], between: &str) -> String {
    let cells: Vec<String> = row.iter().map(|value| one_line(&value.to_string())).collect();
    cells.join(between)
}

/// For each row of one result, whether the other lacks it: a row that is there twice wants two partners.
pub fn only_here(rows: &Rows, other: &Rows) -> Vec<bool> {
    let mut partners: HashMap<String, usize> = HashMap::new();
    other.iter().for_each(|row| *partners.entry(cells(row, "\0")).or_default() += 1);
    let mut lacks = |row: &[Value]| match partners.get_mut(&cells(row, "\0")) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    rows.iter().map(&mut lacks).collect()
}

/// What follows "returns": a result as a block in which the rows that the other one lacks have a sign before them.
pub fn block(rows: &Rows, other: Option<&Rows>, sign: char) -> String {
    if rows.is_empty() {
        return " no rows.\n".to_string();
    }
    let marks = other.map_or_else(|| vec![false; rows.len()], |other| only_here(rows, other));
    let marked = marks.contains(&true);
    // Where not all rows are shown, those that differ are.
    let mut places: Vec<usize> = (0..rows.len()).collect();
    if places.len() > ROWS_SHOWN {
        places.sort_by_key(|at| !marks[*at]);
    }
    let all: Vec<&[Value]> = rows.iter().collect();
    let mut lines: Vec<String> = places
        .iter()
        .take(ROWS_SHOWN)
        .map(|at| match (marked, marks[*at]) {
            (true, true) => format!("{sign} {}", cells(all[*at], " | ")),
            (true, false) => format!("  {}", cells(all[*at], " | ")),
            (false, _) => cells(all[*at], " | "),
        })
        .collect();
    if rows.len() > ROWS_SHOWN {
        lines.push(format!("  … and {} more rows", rows.len() - ROWS_SHOWN));
    }
    format!(":\n\n{}", fenced(if marked { "diff" } else { "" }, &lines.join("\n")))
}
