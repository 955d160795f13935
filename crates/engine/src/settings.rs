//! Settings that statements change, so that a reset can take them back.

/// The name of the only setting that a statement changes; `None`: it changes none, or nobody can tell which.
pub(crate) fn changed_by(sql: &str) -> Option<&str> {
    let (name, value) = sql.trim_start().get(4..)?.split_once('=')?;
    let name = name.trim();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty();
    let several = value.split('\'').step_by(2).any(|unquoted| unquoted.contains(','));
    (is_set(sql) && is_name && !several).then_some(name)
}

/// Whether all that a statement does is to change settings.
pub(crate) fn is_set(sql: &str) -> bool {
    sql.trim_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("SET "))
}

#[cfg(test)]
mod tests {
    use super::changed_by;

    #[test]
    fn only_a_plain_set_names_its_setting() {
        assert_eq!(changed_by("set max_threads= 4"), Some("max_threads"));
        assert_eq!(changed_by("SET x = 'a = b, c'"), Some("x"));
        for sql in [
            "SET GLOBAL x = 1",
            "SET VARIABLE x = 1",
            "SET",
            "SET x TO 1",
            "SET x = 1, y = 2",
            "SELECT a = 1",
            "ü = 1",
        ] {
            assert_eq!(changed_by(sql), None, "{sql}");
        }
    }
}
