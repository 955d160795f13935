//! A finding as text: what a database developer reads, runs and pastes into a tracker.
//!
//! Pure functions from a [`Finding`](crate::finding::Finding) and its [`Dialect`](crate::dialect::Dialect); the evidence is data until it gets here.

mod cause;
pub mod compare;
pub mod export;
mod failure;
pub mod found;
pub mod growth;
mod history;
pub mod html;
mod identity;
mod markdown;
pub mod measure;
pub mod numbers;
mod parts;
mod plans;
mod results;
mod script;
pub mod timeline;
mod title;

#[cfg(test)]
mod tests;

pub use cause::cause;
pub use failure::failure;
pub use history::history;
pub use identity::{fingerprint, id};
pub use markdown::{body, report};
pub use script::{ROWS_SHOWN, outcome_lines, repro, setup_statements};
pub use title::title;

/// One line and one full stop, whatever an oracle or an engine wrote.
fn sentence(text: &str) -> String {
    let mut line = one_line(text.trim());
    if !line.is_empty() && !line.ends_with(['.', '!', '?', ':']) {
        line.push('.');
    }
    line
}

/// Control characters as escapes, so that a value or a message cannot end the comment it stands in.
fn one_line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        match c {
            '\n' => line.push_str("\\n"),
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => line.extend(c.escape_default()),
            c => line.push(c),
        }
        line
    })
}
