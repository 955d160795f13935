//! ClickHouse's error codes, and the class of each.

use dissent_core::engine::{ErrorClass, SqlError};

/// By code; every other code is raised by a value.
#[rustfmt::skip]
const CLASSES: &[(ErrorClass, &[u32])] = &[
    (ErrorClass::Syntax, &[62]),
    (ErrorClass::Semantic, &[
        8, 15, 16, 20, 32, 35, 36, 42, 43, 44, 46, 47, 48, 50, 51, 53, 57, 59, 60, 63, 66, 70, 79, 80, 81, 82,
        115, 119, 122, 125, 138, 179, 183, 184, 190, 206, 207, 215, 217, 223, 258, 264, 270, 344, 352, 353, 386,
        403, 420, 421, 431, 455, 456, 524, 630, 632, 663,
    ]),
    (ErrorClass::Constraint, &[349, 469]),
    // LOGICAL_ERROR, and columns that the plan itself has lost (as those of tables in memory that were added
    // later).
    (ErrorClass::Internal, &[10, 49]),
    (ErrorClass::Limit, &[158, 159, 160, 161, 162, 167, 168, 191, 241, 307, 306, 394, 396, 425]),
];

/// `Code: 47. DB::Exception: …`, from servers of old `Code: 47, e.displayText() = …`.
pub fn error(message: String) -> SqlError {
    let code = message
        .strip_prefix("Code: ")
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok());
    let class = code
        .and_then(|code| CLASSES.iter().find(|(_, codes)| codes.contains(&code)).map(|(class, _)| *class));
    // That code is also for a column that was named and is not there.
    let class = match class {
        Some(ErrorClass::Internal) if message.contains("Wrong column name") => Some(ErrorClass::Semantic),
        class => class,
    };
    SqlError {
        class: class.unwrap_or(ErrorClass::Runtime),
        code: code.map(|code| code.to_string()).unwrap_or_default(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_tells_the_class() {
        let told = error("Code: 47. DB::Exception: Unknown expression. (UNKNOWN_IDENTIFIER)".to_string());
        assert_eq!((told.class, told.code.as_str()), (ErrorClass::Semantic, "47"));
        let old = error("Code: 62, e.displayText() = DB::Exception: Syntax error".to_string());
        assert_eq!((old.class, old.code.as_str()), (ErrorClass::Syntax, "62"));
        assert_eq!(error("Code: 153. DB::Exception".to_string()).class, ErrorClass::Runtime);
        assert_eq!(error("Code: 49. DB::Exception".to_string()).class, ErrorClass::Internal);
        assert_eq!(
            error("Code: 10. DB::Exception: Not found column c0".to_string()).class,
            ErrorClass::Internal
        );
        let unknown = "Code: 10. DB::Exception: Wrong column name. Cannot find column `c3` to rename.";
        assert_eq!(error(unknown.to_string()).class, ErrorClass::Semantic);
        assert_eq!(error("whatever".to_string()).class, ErrorClass::Runtime);
    }
}
