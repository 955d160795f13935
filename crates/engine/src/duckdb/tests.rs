use super::*;

#[test]
fn the_first_word_tells_what_a_statement_leaves_behind() {
    assert!(stays_inside("  (SELECT 1) UNION SELECT 2"));
    assert!(stays_inside("insert into t values (1)"));
    assert!(!stays_inside("SET threads = 2"));
    assert!(!stays_inside("ATTACH 'x' AS y"));
    assert!(!stays_inside(""));
}

#[test]
fn without_the_library_telling_the_first_word_says_whether_there_are_rows() {
    assert!(returns_rows("WITH a AS (SELECT 1) SELECT * FROM a"));
    assert!(!returns_rows("CREATE TABLE t(a INTEGER)"));
}
