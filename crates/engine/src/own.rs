//! The names of the databases that we make on servers: no others are ever touched.

use std::hash::{BuildHasher, Hasher, RandomState};

const PREFIX: &str = "dissent_";

/// A name that nobody has: `dissent_MARK_0123456789abcdef`, without a mark `dissent_0123456789abcdef`.
pub fn fresh_name(mark: Option<&str>) -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{}{random:016x}", beginning(mark))
}

/// What all names with this mark begin with.
pub fn beginning(mark: Option<&str>) -> String {
    match mark {
        Some(mark) => format!("{PREFIX}{mark}_"),
        None => PREFIX.to_string(),
    }
}

/// Whether a name may be part of a statement as it is: names that a server tells are checked before they are
/// used.
pub fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_whose_a_database_is() {
        let (first, second) = (fresh_name(Some("m1")), fresh_name(Some("m1")));
        assert_ne!(first, second);
        assert!(first.starts_with(&beginning(Some("m1"))) && is_plain(&first));
        assert!(!fresh_name(Some("m12")).starts_with(&beginning(Some("m1"))));
        assert!(!fresh_name(None).starts_with(&beginning(Some("m1"))));
        assert!(!is_plain("dissent_x; DROP"));
    }
}
