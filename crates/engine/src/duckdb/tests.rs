use super::*;

#[test]
fn only_what_reaches_beyond_its_database_makes_a_reset_thorough() {
    let inside = [
        "SELECT 1",
        "  (SELECT 1) UNION SELECT 2",
        "insert into t values (1)",
        "merge INTO t0 USING t1",
        "CHECKPOINT",
        "FORCE CHECKPOINT",
        "force  checkpoint",
    ];
    let beyond =
        ["SET threads = 2", "ATTACH 'x' AS y", "INSTALL json", "FORCE INSTALL json", "FORCE", "(FORCE", ""];
    assert_eq!(inside.map(stays_inside), inside.map(|_| true));
    assert_eq!(beyond.map(stays_inside), beyond.map(|_| false));
}

#[test]
fn without_the_library_telling_the_first_word_says_whether_there_are_rows() {
    assert!(returns_rows("WITH a AS (SELECT 1) SELECT * FROM a"));
    assert!(!returns_rows("CREATE TABLE t(a INTEGER)"));
}
