//! What an SQLSTATE says about an error.

use dissent_core::engine::ErrorClass;

pub fn class(code: &str) -> ErrorClass {
    use ErrorClass::*;
    match code {
        "42601" => Syntax,
        // A statement over its time, or one that waited too long for a lock.
        "57014" | "55P03" => Limit,
        // Values that do not fit a prepared statement: the connection goes on.
        "08P01" => Semantic,
        // An index or a table whose file is gone.
        "58P01" => Internal,
        _ => match code.get(..2).unwrap_or_default() {
            "08" => ConnectionLost,
            "57" => ConnectionLost,
            "23" | "44" => Constraint,
            // Data, cardinality, functions, serialisation, raised by the user.
            "22" | "21" | "38" | "39" | "40" | "P0" => Runtime,
            "53" | "54" => Limit,
            "58" | "XX" => Internal,
            _ => Semantic,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_class() {
        for (code, expected) in [
            ("42601", ErrorClass::Syntax),
            ("42703", ErrorClass::Semantic),
            ("0A000", ErrorClass::Semantic),
            ("25P02", ErrorClass::Semantic),
            ("23505", ErrorClass::Constraint),
            ("22012", ErrorClass::Runtime),
            ("57014", ErrorClass::Limit),
            ("54001", ErrorClass::Limit),
            ("XX000", ErrorClass::Internal),
            ("XX002", ErrorClass::Internal),
            ("57P01", ErrorClass::ConnectionLost),
            ("08006", ErrorClass::ConnectionLost),
            ("", ErrorClass::Semantic),
        ] {
            assert_eq!(class(code), expected, "{code}");
        }
    }
}
