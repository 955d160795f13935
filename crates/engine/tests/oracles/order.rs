//! ORDER: rows come in their order, however they are found, and only a total order is asked about.

use dissent_core::engine::Reply;
use dissent_core::finding::{Class, Evidence, Failure};
use dissent_core::sql::Value;
use dissent_core::subject::{Subject, TestCase};

use super::again::assert_agreement;
use super::common::{
    Fixture, assert_passes, assert_reported, assert_skipped, check, evidence, over, query, without_last_row,
};

/// c1 is a text that folds; the others have one order.
const SETUP: &str = "CREATE TABLE t0(c0 INT, c1 TEXT COLLATE NOCASE, c2 INT);
    INSERT INTO t0 VALUES (3, 'b', 1), (1, 'a', 2), (2, 'A', 3), (NULL, NULL, 4)";

#[track_caller]
fn ordered(form: &str, select: &str) -> TestCase {
    over(SETUP, Subject::new("order", query(select)).with_choice("form", form))
}

/// SQLite with a bug in statements that contain a text.
fn wrong(with: &'static str, wrong: impl Fn(Reply) -> Reply + 'static) -> Fixture {
    Fixture::tampered(move |sql, reply| if sql.contains(with) { wrong(reply) } else { reply })
}

/// What is limited begins one row too late.
fn late() -> Fixture {
    Fixture::rewriting(|sql| match (sql.contains(" LIMIT "), sql.split_once(" OFFSET ")) {
        (true, None) => format!("{sql} OFFSET 1"),
        (true, Some((before, offset))) => format!("{before} OFFSET 1 + {offset}"),
        (false, _) => sql.to_string(),
    })
}

fn swapped(mut reply: Reply) -> Reply {
    if let Reply::Rows(rows) = &mut reply {
        let (columns, values) = (rows.columns, &mut rows.values);
        (0..columns).for_each(|at| values.swap(at, columns + at));
    }
    reply
}

fn place(evidence: &Evidence) -> usize {
    match evidence.failure {
        Failure::Order { place, .. } => place,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn other_rows_than_the_first_are_reported() {
    for (select, class) in [
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT 2", Class::WrongValues),
        ("SELECT c0 FROM t0 ORDER BY c0 DESC LIMIT 1", Class::WrongValues),
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT 1 OFFSET 1", Class::WrongValues),
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT 9", Class::WrongRows),
    ] {
        for form in ["limit", "row-number"] {
            assert_eq!(assert_reported(late(), &ordered(form, select)).class, class, "{form} {select}");
        }
    }
    let distinct = "SELECT DISTINCT c0, c2 FROM t0 WHERE c0 > 0 ORDER BY c2, c0 LIMIT 1";
    assert_eq!(assert_reported(late(), &ordered("limit", distinct)).class, Class::WrongValues);
}

#[test]
fn rows_out_of_order_are_reported_where_they_differ_first() {
    let select = "SELECT c0, c2 FROM t0 ORDER BY c1, c0 DESC, c2";
    let backwards = wrong("c0, c2 DESC", swapped);
    assert_eq!(place(&assert_reported(backwards, &ordered("reversed", select))), 3);
    let select = "SELECT c0 FROM t0 ORDER BY c0 DESC LIMIT 2";
    assert_eq!(place(&assert_reported(wrong("LIMIT", swapped), &ordered("limit", select))), 1);
    for key in ["c0", "c0 DESC", "c1"] {
        let select = format!("SELECT c0, c1 FROM t0 WHERE c2 > 0 ORDER BY {key}, c1, c0");
        let swapped_ends = wrong("smaller", |mut reply| {
            if let Reply::Rows(rows) = &mut reply {
                let (columns, last) = (rows.columns, rows.values.len() - rows.columns);
                (0..columns).for_each(|at| rows.values.swap(at, last + at));
            }
            reply
        });
        assert_eq!(place(&assert_reported(swapped_ends, &ordered("places", &select))), 1, "{key}");
    }
}

#[test]
fn a_row_that_is_lost_by_sorting_is_reported() {
    let case = ordered("unordered", "SELECT c0 FROM t0 ORDER BY c0");
    assert_eq!(assert_reported(wrong("ORDER BY", without_last_row), &case).class, Class::WrongRows);
}

#[test]
fn a_wrong_end_is_reported() {
    let other = |reply| match reply {
        Reply::Rows(mut rows) => {
            rows.values[0] = Value::Int(2);
            Reply::Rows(rows)
        }
        other => other,
    };
    for select in ["SELECT MIN(c0) FROM t0", "SELECT MAX(c0) FROM t0 WHERE c2 < 9"] {
        let end = wrong("(c0)", other);
        assert_eq!(assert_reported(end, &ordered("ends", select)).class, Class::WrongValues);
    }
    let none = "SELECT MIN(c0) FROM t0 WHERE c2 > 9";
    assert_passes(check(&ordered("ends", none)));
    // Beyond the least text of those that fold there is nothing, whichever of them it is.
    let case = ordered("beyond", "SELECT MIN(c1) FROM t0");
    let other_end = Fixture::rewriting(|sql| sql.replace("(SELECT MIN(c1)", "(SELECT MAX(c1)"));
    assert_eq!(assert_reported(other_end, &case).class, Class::WrongRows);
    assert_passes(check(&ordered("beyond", "SELECT MAX(c1) FROM t0")));
}

/// SQLite takes a column beside MIN from a row that has it.
#[test]
fn a_column_beside_an_end_is_of_a_row() {
    let select = "SELECT c2, MIN(c0) FROM t0 WHERE c2 > 1";
    let other_row = wrong("MIN", |reply| match reply {
        Reply::Rows(mut rows) => {
            rows.values[0] = Value::Int(1);
            Reply::Rows(rows)
        }
        other => other,
    });
    assert_eq!(assert_reported(other_row, &ordered("ends", select)).class, Class::WrongValues);
    assert_passes(check(&ordered("ends", "SELECT c2, MAX(c0) FROM t0 WHERE c2 > 9")));
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    assert_skipped(duckdb.check(&ordered("ends", select)), "bare column next to an aggregate");
}

#[test]
fn rule_7_3_only_a_total_order_is_asked_about() {
    for select in [
        "SELECT c0, c2 FROM t0 ORDER BY c0 LIMIT 1",
        "SELECT c0 FROM t0 LIMIT 1",
        "SELECT * FROM t0 ORDER BY c0, c1, c2 LIMIT 1",
        "SELECT c0 FROM t0 UNION SELECT c2 FROM t0 ORDER BY c0 LIMIT 1",
    ] {
        for form in ["limit", "row-number", "reversed", "unordered", "places"] {
            assert_skipped(late().check(&ordered(form, select)), "not a single SELECT with a total order");
        }
    }
    let distinct = "SELECT DISTINCT c0 FROM t0 ORDER BY c0 LIMIT 1";
    assert_skipped(late().check(&ordered("row-number", distinct)), "not a single SELECT with a total order");
    assert_skipped(late().check(&ordered("?", distinct)), "not a single SELECT with a total order");
}

/// Inside OVER a name means a column, never an alias, and a number does not mean a position.
#[test]
fn rule_7_3_rows_are_not_numbered_by_aliases_and_positions() {
    for select in [
        "SELECT c0 AS c2, c2 AS c0 FROM t0 ORDER BY c0, c2 LIMIT 2",
        "SELECT 3, c0, c2 FROM t0 ORDER BY 3, c0, c2 LIMIT 2",
    ] {
        let reason = "not a single SELECT with a total order";
        assert_skipped(check(&ordered("row-number", select)), reason);
        assert_passes(check(&ordered("limit", select)));
    }
}

#[test]
fn rule_7_3_only_a_number_of_rows_is_asked_about() {
    for select in [
        "SELECT c0 FROM t0 ORDER BY c0",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT 1 + 1",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT 1 OFFSET 1 + 1",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT -1",
    ] {
        for form in ["limit", "row-number"] {
            assert_skipped(late().check(&ordered(form, select)), "no whole number of rows in LIMIT");
        }
    }
}

#[test]
fn rule_7_3_only_one_end_of_a_column_is_asked_about() {
    for select in [
        "SELECT MIN(c0), MAX(c0) FROM t0",
        "SELECT MIN(c0 + 1) FROM t0",
        "SELECT COUNT(c0) FROM t0",
        "SELECT MIN(c0) FROM t0 GROUP BY c2",
        "SELECT MIN(c0) FILTER (WHERE c2 > 1) FROM t0",
        "SELECT MIN(c0) FROM t0 LIMIT 1",
        "SELECT c0 FROM t0",
    ] {
        for form in ["ends", "beyond"] {
            assert_skipped(check(&ordered(form, select)), "not a single MIN or MAX");
        }
    }
    assert_skipped(check(&ordered("beyond", "SELECT c2, MIN(c0) FROM t0")), "not a single MIN or MAX");
}

/// Only `<` of a column is known to see what ORDER BY sees.
#[test]
fn rule_7_3_places_are_those_of_a_column_that_compares_as_it_is_sorted() {
    let reason = "first key is not a column that compares as it is sorted";
    let lost = || wrong("smaller", swapped);
    assert_skipped(lost().check(&ordered("places", "SELECT c0 FROM t0 ORDER BY c0 + 1, c0")), reason);
    let Some(mut postgres) = Fixture::open("postgres") else { return };
    let setup = postgres.sql("CREATE TABLE t0(c0 REAL); INSERT INTO t0 VALUES (1)");
    for (form, select) in [("places", "SELECT c0 FROM t0 ORDER BY c0"), ("beyond", "SELECT MIN(c0) FROM t0")]
    {
        let case = TestCase { setup: setup.clone(), ..ordered(form, select) };
        assert_skipped(postgres.check(&case), reason);
    }
}

/// `a` and `A` tie: either may be the first.
#[test]
fn rule_0_8_what_is_cut_has_one_representative() {
    let open = "equal values that are not identical";
    let folded = "SELECT c1 FROM t0 WHERE c2 < 4 ORDER BY c1";
    for form in ["limit", "row-number"] {
        assert_skipped(late().check(&ordered(form, &format!("{folded} LIMIT 1"))), open);
    }
    assert_skipped(wrong("c1 DESC", swapped).check(&ordered("reversed", folded)), open);
    assert_skipped(wrong("MIN", swapped_case).check(&ordered("ends", "SELECT MIN(c1) FROM t0")), open);
    assert_eq!(
        evidence(late().check(&ordered("limit", "SELECT c2 FROM t0 ORDER BY c2 LIMIT 1"))).class,
        Class::WrongValues
    );
}

/// An INT column of SQLite may hold -2^63 as an integer and as a float, which are equal.
#[test]
fn rule_0_7_either_of_two_numbers_that_tie_may_be_returned() {
    let setup = "CREATE TABLE t0(c0 INT); CREATE INDEX i0 ON t0(c0);
        INSERT INTO t0 VALUES (-9223372036854775808), (-9.223372036854776e18)";
    for (form, select) in [
        ("reversed", "SELECT DISTINCT c0 FROM t0 ORDER BY c0"),
        ("limit", "SELECT c0 FROM t0 ORDER BY c0 LIMIT 1"),
        ("row-number", "SELECT c0 FROM t0 ORDER BY c0 LIMIT 1"),
        ("unordered", "SELECT DISTINCT c0 FROM t0 ORDER BY c0 DESC"),
    ] {
        let case = over(setup, Subject::new("order", query(select)).with_choice("form", form));
        assert_passes(check(&case));
    }
}

fn swapped_case(reply: Reply) -> Reply {
    match reply {
        Reply::Rows(mut rows) => {
            rows.values[0] = Value::Text("A".into());
            Reply::Rows(rows)
        }
        other => other,
    }
}

/// DuckDB puts NULLs last in either direction unless it is told where.
#[test]
fn nulls_change_sides_with_the_others() {
    for target in ["sqlite", "duckdb", "postgres", "mariadb"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let setup =
            fixture.sql("CREATE TABLE t0(c0 INT, c2 INT); INSERT INTO t0 VALUES (1, 1), (NULL, 2), (2, 3)");
        for keys in ["c0, c2", "c0 DESC, c2"] {
            let case = ordered("reversed", &format!("SELECT c0, c2 FROM t0 ORDER BY {keys}"));
            assert_passes(fixture.check(&TestCase { setup: setup.clone(), ..case }));
        }
    }
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "order", 4_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "order", 400);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "order", 1_000);
}
