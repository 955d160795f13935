//! The names of databases that Dissent creates on servers: it never touches others.

use std::hash::{BuildHasher, Hasher, RandomState};

const PREFIX: &str = "dissent_";

/// An unused name: `dissent_MARK_0123456789abcdef`, without a mark `dissent_0123456789abcdef`.
pub fn fresh_name(mark: Option<&str>) -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{}{random:016x}", beginning(mark))
}

/// What all names with this mark begin with.
fn beginning(mark: Option<&str>) -> String {
    match mark {
        Some(mark) => format!("{PREFIX}{mark}_"),
        None => PREFIX.to_string(),
    }
}

/// Whether a name that a server told was made with this mark, and nobody else's. It may be part of a statement
/// as it is.
pub fn is_marked(name: &str, mark: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(&beginning(Some(mark))) && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_whose_a_database_is() {
        let (first, second) = (fresh_name(Some("m1")), fresh_name(Some("m1")));
        assert_ne!(first, second);
        assert!(is_marked(&first, "m1") && is_marked(&second, "m1"));
        assert!(!is_marked(&fresh_name(Some("m12")), "m1"));
        assert!(!is_marked(&fresh_name(None), "m1"));
        assert!(!is_marked("dissent_m1_x; DROP DATABASE shop", "m1"));
    }
}
