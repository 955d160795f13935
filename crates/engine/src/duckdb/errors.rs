//! DuckDB's kinds of exceptions, and the class of each.

use std::ffi::c_int;

use dissent_core::engine::{ErrorClass, SqlError};

/// `duckdb_error_type`: its number, the name that DuckDB's messages begin with, and what it means.
#[rustfmt::skip]
const KINDS: &[(c_int, &str, ErrorClass)] = &[
    (1, "Out of Range", ErrorClass::Runtime),
    (2, "Conversion", ErrorClass::Runtime),
    (3, "TypeId", ErrorClass::Semantic),
    (4, "Decimal", ErrorClass::Runtime),
    (5, "Mismatch Type", ErrorClass::Semantic),
    (6, "Divide by Zero", ErrorClass::Runtime),
    (7, "Object Size", ErrorClass::Limit),
    (8, "Invalid type", ErrorClass::Semantic),
    (9, "Serialization", ErrorClass::Internal),
    (10, "TransactionContext", ErrorClass::Runtime),
    (11, "Not implemented", ErrorClass::Semantic),
    (12, "Expression", ErrorClass::Runtime),
    (13, "Catalog", ErrorClass::Semantic),
    (14, "Parser", ErrorClass::Syntax),
    (15, "Planner", ErrorClass::Semantic),
    (16, "Scheduler", ErrorClass::Internal),
    (17, "Executor", ErrorClass::Internal),
    (18, "Constraint", ErrorClass::Constraint),
    (19, "Index", ErrorClass::Runtime),
    (20, "Stat", ErrorClass::Internal),
    (21, "Connection", ErrorClass::Runtime),
    (22, "Syntax", ErrorClass::Syntax),
    (23, "Settings", ErrorClass::Semantic),
    (24, "Binder", ErrorClass::Semantic),
    (25, "Network", ErrorClass::Runtime),
    (26, "Optimizer", ErrorClass::Internal),
    (27, "NullPointer", ErrorClass::Internal),
    (28, "IO", ErrorClass::Limit),
    (29, "INTERRUPT", ErrorClass::Limit),
    (30, "FATAL", ErrorClass::Internal),
    (31, "INTERNAL", ErrorClass::Internal),
    (32, "Invalid Input", ErrorClass::Runtime),
    (33, "Out of Memory", ErrorClass::Limit),
    (34, "Permission", ErrorClass::Semantic),
    (35, "Parameter Not Resolved", ErrorClass::Semantic),
    (36, "Parameter Not Allowed", ErrorClass::Semantic),
    (37, "Dependency", ErrorClass::Semantic),
    (38, "HTTP", ErrorClass::Runtime),
    (39, "Missing Extension", ErrorClass::Semantic),
    (40, "Extension Autoloading", ErrorClass::Semantic),
    (41, "Sequence", ErrorClass::Runtime),
    (42, "Invalid Configuration", ErrorClass::Semantic),
];

/// `number` is 0 where the library does not tell.
///
/// Then the message's first words are the only place where versions before 1.1 say what kind of exception
/// it was: `Binder Error: …`.
pub fn error(number: c_int, mut message: String) -> SqlError {
    // Internal errors bring a stack trace: addresses and paths, which differ from run to run.
    if let Some(trace) = message.find("Stack Trace:") {
        message.truncate(trace);
        message.truncate(message.trim_end().len());
    }
    // `Binder Error: …`, and `Binder: …` before 0.2.6.
    let opening =
        message.split_once(" Error: ").or(message.split_once(": ")).map_or(&*message, |(opening, _)| opening);
    // Older versions have other words for some.
    let opening = match opening {
        "Out of Memory" | "OutOfMemory" => "Out of Memory",
        "Interrupted" => "INTERRUPT",
        "Unknown" => "Binder",
        other => other,
    };
    let kind = KINDS
        .iter()
        .find(|(known, ..)| *known == number)
        .or_else(|| KINDS.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(opening)));
    match kind {
        Some((_, name, class)) => SqlError { class: *class, code: name.to_string(), message },
        None => SqlError { class: ErrorClass::Runtime, code: String::new(), message },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_counts_before_the_words() {
        let told = error(24, "Conversion Error: so it says".to_string());
        assert_eq!((told.class, told.code.as_str()), (ErrorClass::Semantic, "Binder"));
    }

    #[test]
    fn a_stack_trace_is_not_kept() {
        let told = error(31, "INTERNAL Error: Unsupported type\n\nStack Trace:\n\nlib.so(+0x56)".to_string());
        assert_eq!(told.message, "INTERNAL Error: Unsupported type");
    }

    #[test]
    fn without_a_number_the_words_tell() {
        let class = |message: &str| error(0, message.to_string()).class;
        assert_eq!(class("Parser Error: syntax error at end of input"), ErrorClass::Syntax);
        assert_eq!(class("Conversion Error: Could not convert"), ErrorClass::Runtime);
        assert_eq!(class("INTERNAL Error: Attempted to access index 1"), ErrorClass::Internal);
        assert_eq!(class("Out of Memory Error: could not allocate"), ErrorClass::Limit);
        assert_eq!(class("Parser: syntax error at or near \"x\""), ErrorClass::Syntax);
        assert_eq!(class("Unknown: Referenced column \"x\" not found"), ErrorClass::Semantic);
        assert_eq!(class("something else"), ErrorClass::Runtime);
    }
}
