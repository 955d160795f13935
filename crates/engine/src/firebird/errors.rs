//! What an error of Firebird means, by its SQLSTATE and, where that says little, by its words.

use dissent_core::engine::{ErrorClass, SqlError};

/// Beginnings of SQLSTATEs, the longer ones first.
#[rustfmt::skip]
const STATES: &[(&str, ErrorClass)] = &[
    ("HY008", ErrorClass::Limit),
    ("HY001", ErrorClass::Limit),
    ("42", ErrorClass::Semantic),
    ("07", ErrorClass::Semantic),
    ("0A", ErrorClass::Semantic),
    ("22", ErrorClass::Runtime),
    ("21", ErrorClass::Runtime),
    ("23", ErrorClass::Constraint),
    ("27", ErrorClass::Constraint),
    ("44", ErrorClass::Constraint),
    ("54", ErrorClass::Limit),
    ("XX", ErrorClass::Internal),
];

/// Parts of messages that say more than their SQLSTATE.
#[rustfmt::skip]
const WORDS: &[(&str, ErrorClass)] = &[
    ("internal Firebird consistency check", ErrorClass::Internal),
    ("internal error", ErrorClass::Internal),
    ("BLR syntax error", ErrorClass::Internal),
    ("invalid request BLR", ErrorClass::Internal),
    ("database file appears corrupt", ErrorClass::Internal),
    ("Token unknown", ErrorClass::Syntax),
    ("Unexpected end of command", ErrorClass::Syntax),
    ("Statement level timeout expired", ErrorClass::Limit),
    ("operation was cancelled", ErrorClass::Limit),
    ("Implementation limit exceeded", ErrorClass::Limit),
    ("Too many Contexts", ErrorClass::Limit),
    ("block size exceeds implementation restriction", ErrorClass::Limit),
    ("sort record size", ErrorClass::Limit),
    ("conversion error from string", ErrorClass::Runtime),
    ("arithmetic exception", ErrorClass::Runtime),
    ("violation of", ErrorClass::Constraint),
    ("validation error for column", ErrorClass::Constraint),
    ("Operation violates CHECK constraint", ErrorClass::Constraint),
];

pub fn error((message, code): (String, String)) -> SqlError {
    let said = WORDS.iter().find(|(words, _)| message.contains(words));
    let state = || STATES.iter().find(|(state, _)| code.starts_with(state));
    let class = said.or_else(state).map_or(ErrorClass::Runtime, |(_, class)| *class);
    SqlError { class, code, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_before_the_state() {
        let class = |message: &str, code: &str| error((message.to_string(), code.to_string())).class;
        assert_eq!(class("Dynamic SQL Error; Token unknown - line 1", "42000"), ErrorClass::Syntax);
        assert_eq!(class("Dynamic SQL Error; Column unknown", "42S22"), ErrorClass::Semantic);
        assert_eq!(class("internal Firebird consistency check (request)", "XX000"), ErrorClass::Internal);
        assert_eq!(class("anything", "00000"), ErrorClass::Runtime);
    }
}
