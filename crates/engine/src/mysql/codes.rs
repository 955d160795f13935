//! The error numbers of the MySQL family, and the class of each.

use dissent_core::dialect::Descriptor;
use dissent_core::engine::{ErrorClass, SqlError};
use mysql::MySqlError;

/// An error as the server sent it.
pub fn failure(error: MySqlError, engine: &Descriptor) -> SqlError {
    let code = error.code.to_string();
    let usual = || class(error.code, &error.state, &error.message);
    let class = engine.error_class(&code, &error.message).unwrap_or_else(usual);
    SqlError { class, code, message: error.message }
}

fn class(code: u16, state: &str, message: &str) -> ErrorClass {
    match code {
        1064 | 1065 | 1149 => ErrorClass::Syntax,
        // Ambiguous column, wrong number of columns: states of a constraint and of a value, but found in
        // the text alone.
        1052 | 1136 | 1241 | 1222 | 1058 => ErrorClass::Semantic,
        // NULL in a column that takes none, a duplicate, a missing parent: Dolt gives them no state.
        1048 | 1062 | 1216 | 1217 | 1451 | 1452 => ErrorClass::Constraint,
        // No default, a CHECK, a parent that is still needed, a duplicate found while an index is built.
        1364 | 3819 | 4025 | 3730 | 1022 | 1557 | 1586 | 1859 | 1834 => ErrorClass::Constraint,
        // Values cut, misread, or not of the column's type; several rows from a scalar subquery.
        1242 | 1264 | 1265 | 1292 | 1365 | 1366 | 1367 | 1406 | 1411 | 1426 | 1441 | 1690 | 1691 | 1139 => {
            ErrorClass::Runtime
        }
        // Dates, texts, JSON and regular expressions that are none, and functions that refuse a value.
        1300 | 1525 | 3854 | 3140..=3158 | 3685..=3699 | 4035..=4042 => ErrorClass::Runtime,
        // Interrupted, out of time, out of memory, out of room, too deep, too large, waited too long.
        1317 | 3024 | 1969 | 1205 | 1206 | 1213 | 1021 | 1037 | 1038 | 1041 | 1104 | 1114 | 1116 | 1119
        | 1135 | 1153 | 1226 | 1301 | 1436 | 1473 | 3170 | 3500 | 4031 => ErrorClass::Limit,
        1053 | 1079 | 1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 2055 | 3169 => {
            ErrorClass::ConnectionLost
        }
        // Tables that we alone wrote to cannot be crashed or corrupt but by the engine's own doing.
        1032 | 1033 | 1034 | 1035 | 1194 | 1195 | 1712 | 1815 | 1877 => ErrorClass::Internal,
        // The number for whatever has no number of its own: only the words tell.
        1030 | 1105 if message.to_ascii_lowercase().contains("internal") => ErrorClass::Internal,
        1030 | 1105 => ErrorClass::Runtime,
        _ => class_of_state(state),
    }
}

fn class_of_state(state: &str) -> ErrorClass {
    match state.get(..2) {
        Some("23") => ErrorClass::Constraint,
        Some("22" | "21") => ErrorClass::Runtime,
        Some("08") => ErrorClass::ConnectionLost,
        // Unknown names and wrong types; what has no state of its own is mostly about definitions.
        _ => ErrorClass::Semantic,
    }
}

#[cfg(test)]
mod tests {
    use dissent_core::dialect::Files;

    use super::*;

    #[test]
    fn numbers_go_before_states() {
        let class = |code, state| super::class(code, state, "");
        assert_eq!(class(1064, "42000"), ErrorClass::Syntax);
        assert_eq!(class(1146, "42S02"), ErrorClass::Semantic);
        assert_eq!(class(1062, "23000"), ErrorClass::Constraint);
        assert_eq!(class(1062, "HY000"), ErrorClass::Constraint);
        assert_eq!(class(1052, "23000"), ErrorClass::Semantic);
        assert_eq!(class(3819, "HY000"), ErrorClass::Constraint);
        assert_eq!(class(1690, "22003"), ErrorClass::Runtime);
        assert_eq!(class(3024, "HY000"), ErrorClass::Limit);
        assert_eq!(class(1053, "08S01"), ErrorClass::ConnectionLost);
    }

    #[test]
    fn an_error_is_internal_only_if_the_engine_says_so() {
        let class = |name: &str, code, message: &str| {
            let error = MySqlError { state: "HY000".to_string(), code, message: message.to_string() };
            failure(error, &Files::built_in().descriptor(name).unwrap()).class
        };
        assert_eq!(class("mysql", 1105, "Unknown error"), ErrorClass::Runtime);
        assert_eq!(class("tidb", 1105, "Internal error in the optimizer"), ErrorClass::Internal);
        assert_eq!(class("oceanbase", 4016, "Internal error"), ErrorClass::Internal);
        assert_eq!(class("mariadb", 4016, ""), ErrorClass::Semantic);
    }
}
