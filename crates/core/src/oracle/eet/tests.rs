//! Where each form may stand, and what it becomes there.

use super::*;
use crate::database::Database;
use crate::import;
use crate::render::to_sql;

fn query(sql: &str, dialect: &Dialect) -> Query {
    match import::statement(sql, 1, dialect).statement {
        Statement::Query(query) => *query,
        other => panic!("{sql}: {other:?}"),
    }
}

fn database(dialect: &Dialect) -> Database {
    let setup = ["CREATE TABLE t(a INT, b TEXT, d DATE)", "CREATE TABLE u(a INT)"]
        .map(|sql| import::statement(sql, 1, dialect).statement);
    Database::of(&setup, dialect)
}

/// What a query becomes in each place where a form fits.
fn becomes(form: &str, sql: &str, target: (&str, &str)) -> Vec<String> {
    let dialect = Dialect::load(target.0, target.1).unwrap();
    let database = database(&dialect);
    let form = forms::by_name(form).unwrap();
    let other = Expr::column("t", "a").is(Truth::Null);
    let query = query(sql, &dialect);
    let places = places(form, &query, Some(&other), database.state(), &dialect);
    let at = |place| rewritten(form, &query, place, Some(&other), database.state(), &dialect);
    (0..places).map(|place| to_sql(&at(place).into(), &dialect).replace(['"', '`'], "")).collect()
}

const SQLITE: (&str, &str) = ("sqlite", "3.54.1");
const POSTGRES: (&str, &str) = ("postgres", "18.4");
const MYSQL: (&str, &str) = ("mysql", "9.7.4");

#[test]
fn a_truth_is_rewritten_wherever_only_truth_matters() {
    let sql = "SELECT t.a = 1 FROM t LEFT JOIN u ON t.a = u.a WHERE NOT t.b";
    let forms = becomes("double-not", sql, SQLITE);
    let on = "SELECT t.a = 1 FROM t LEFT JOIN u ON NOT NOT t.a = u.a WHERE NOT t.b";
    let operand = "SELECT t.a = 1 FROM t LEFT JOIN u ON t.a = u.a WHERE NOT NOT NOT t.b";
    assert_eq!(forms.len(), 3, "{forms:?}");
    assert!(forms.iter().any(|form| form == on) && forms.iter().any(|form| form == operand), "{forms:?}");
    // What is returned is a number as well as a truth.
    assert!(forms.iter().all(|form| form.starts_with("SELECT t.a = 1 ")));
    assert_eq!(becomes("double-not", "SELECT t.a FROM t WHERE 2", SQLITE).len(), 0);
}

#[test]
fn where_types_are_dynamic_a_column_is_wrapped_only_where_nothing_compares_it() {
    let wraps = |sql: &str| becomes("case-either", sql, SQLITE);
    let wrapped = "CASE WHEN t.a IS NULL THEN t.a ELSE t.a END";
    assert_eq!(wraps("SELECT t.a FROM t"), [format!("SELECT {wrapped} FROM t")]);
    assert_eq!(wraps("SELECT t.a IS NULL FROM t").len(), 2);
    for compared in [
        "SELECT DISTINCT t.a FROM t",
        "SELECT t.a FROM t UNION SELECT u.a FROM u",
        "SELECT t.a FROM t GROUP BY t.a",
        "SELECT 1 FROM t ORDER BY t.a",
        "SELECT d.a FROM (SELECT t.a FROM t) AS d",
        "SELECT MAX(t.a) FROM t",
        "SELECT u.a FROM u WHERE u.a IN (SELECT t.a FROM t)",
    ] {
        let forms = wraps(compared);
        assert!(forms.iter().all(|form| !form.contains("THEN t.a")), "{compared}: {forms:?}");
    }
    let cast = wraps("SELECT 1 FROM t WHERE CAST(t.b AS INT) = 1");
    assert!(cast.iter().all(|form| !form.contains("THEN CAST")), "{cast:?}");
    // It has the collation of its column.
    assert!(cast.iter().all(|form| !form.contains("THEN t.b")), "{cast:?}");
    // A sum has no affinity.
    assert!(wraps("SELECT 1 FROM t WHERE t.a + 1 = 2").iter().any(|form| form.contains("THEN t.a + 1")));
    assert_eq!(wraps("SELECT t.b COLLATE NOCASE FROM t").len(), 0);
}

#[test]
fn where_types_are_fixed_a_literal_has_none() {
    let wraps = |sql: &str, target| becomes("case-either", sql, target);
    let forms = wraps("SELECT 1 FROM t WHERE t.d = '2020-01-01'", POSTGRES);
    assert!(forms.iter().all(|form| !form.contains("THEN '2020")), "{forms:?}");
    assert!(forms.iter().any(|form| form.contains("THEN t.d")), "{forms:?}");
    let forms = wraps("SELECT t.a, t.b, t.a + 1 FROM t", MYSQL);
    assert!(
        !forms.is_empty() && forms.iter().all(|form| form.contains("THEN t.a ELSE t.a END")),
        "{forms:?}"
    );
}

#[test]
fn the_other_condition_stands_where_its_columns_are_known() {
    let sql = "SELECT COUNT(*) FROM u WHERE u.a = 1 AND EXISTS (SELECT 1 FROM t WHERE t.a = u.a)";
    let forms = becomes("true-and", sql, SQLITE);
    assert!(
        forms.iter().all(|form| form.starts_with("SELECT COUNT(*) FROM u WHERE u.a = 1 AND")),
        "{forms:?}"
    );
    // Groups have no rows.
    assert_eq!(becomes("true-and", "SELECT t.b FROM t GROUP BY t.b HAVING COUNT(*) > 1", SQLITE).len(), 0);
    assert_eq!(becomes("double-not", "SELECT t.b FROM t GROUP BY t.b HAVING COUNT(*) > 1", SQLITE).len(), 1);
    // With a column of `t` the count would be one of the rows of `t`.
    let outer = becomes("case-either", "SELECT (SELECT COUNT(u.a) FROM u) FROM t", SQLITE);
    assert!(outer.iter().all(|form| !form.contains("COUNT(CASE")), "{outer:?}");
}
