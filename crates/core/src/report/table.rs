//! A small result as a Markdown table.

use std::fmt::Write;

use super::one_line;
use crate::engine::Rows;

/// The first `limit` rows. The engine gives no column names, so columns are numbered.
pub fn markdown(rows: &Rows, limit: usize) -> String {
    let mut out = String::new();
    let line = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
        for cell in cells {
            let _ = write!(out, "| {cell} ");
        }
        out.push_str("|\n");
    };
    line(&mut out, &mut (1..=rows.columns).map(|n| format!("column {n}")));
    line(&mut out, &mut (0..rows.columns).map(|_| "---".to_string()));
    for row in rows.iter().take(limit) {
        line(&mut out, &mut row.iter().map(|value| cell(&value.to_string())));
    }
    if rows.len() > limit {
        let _ = writeln!(out, "\n… and {} more", rows.len() - limit);
    }
    out
}

/// Text that can neither end its cell nor become markup.
fn cell(text: &str) -> String {
    let line = one_line(text).replace('|', "\\|");
    if line.contains(['*', '_', '<', '[', '`', '#', '~']) && !line.contains('`') {
        return format!("`{line}`");
    }
    line
}
