//! Reduction over the bundled SQLite with bugs built in: a subject, the passes, the SQL that is left.

mod common;

use std::cell::Cell;

use common::{Counting, sqlite, with_session};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::Verdict;
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::reduce::{self, Budget, Pass, Reduction, Weight};
use dissent_core::render::{expr_to_sql, to_sql};
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_core::walk::{Walk, rebuild};
use dissent_engine::fake::Tampered;

/// A SQLite that loses the last row of every SELECT that holds all of these texts.
fn losing_a_row(texts: &'static [&'static str]) -> (Box<dyn Engine>, Dialect) {
    let (engine, dialect) = sqlite();
    let tampered = Tampered::new(engine, move |sql, mut reply| {
        if let Reply::Rows(rows) = &mut reply
            && sql.starts_with("SELECT")
            && texts.iter().all(|text| sql.contains(text))
        {
            rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
        }
        reply
    });
    (Box::new(tampered), dialect)
}

fn reduced_on(
    engine: &mut dyn Engine,
    dialect: &Dialect,
    subject: Subject,
    passes: &[&dyn Pass],
) -> Reduction {
    reduced_within(engine, dialect, subject, passes, 100_000)
}

fn reduced_within(
    engine: &mut dyn Engine,
    dialect: &Dialect,
    subject: Subject,
    passes: &[&dyn Pass],
    checks: u64,
) -> Reduction {
    let oracle = oracle::by_name(&subject.oracle).unwrap();
    let budget = Budget { checks, over: &|| false };
    with_session(engine, dialect, |session| {
        let mut fails = |candidate: &Subject| {
            let setup_works = rebuild(candidate, session)?.is_empty();
            Ok(setup_works && matches!(oracle.check(candidate, session)?, Verdict::Bug(_)))
        };
        assert!(fails(&subject).unwrap(), "the subject does not fail to begin with");
        let reduction = reduce::reduce(subject, dialect, passes, &budget, &mut fails).unwrap();
        assert!(fails(&reduction.subject).unwrap(), "the reduced subject does not fail");
        reduction
    })
}

fn sql(subject: &Subject, dialect: &Dialect) -> String {
    let mut lines: Vec<String> =
        subject.setup.iter().chain(&subject.tests).map(|statement| to_sql(statement, dialect)).collect();
    lines.extend(subject.exprs.iter().map(|expr| format!("-- {}", expr_to_sql(expr, dialect))));
    lines.join("\n")
}

/// Reduces with passes by name (`all` for all) and compares what is left.
#[track_caller]
fn assert_reduced(bug: &'static [&'static str], passes: &str, subject: Subject, expected: &[&str]) {
    let (mut engine, dialect) = losing_a_row(bug);
    let passes: Vec<&dyn Pass> = match passes {
        "all" => reduce::all().to_vec(),
        names => names.split(' ').map(|name| reduce::by_name(name).expect(name)).collect(),
    };
    let reduction = reduced_on(engine.as_mut(), &dialect, subject, &passes);
    assert_eq!(sql(&reduction.subject, &dialect), expected.join("\n"));
    assert!(reduction.complete);
}

fn table(name: &str, columns: &[(&str, &str, &[ColumnConstraint])]) -> Statement {
    let column = |(name, ty, constraints): &(&str, &str, &[ColumnConstraint])| ColumnDef {
        name: Name::from(*name),
        ty: DataType::new(*ty, Kind::Any),
        constraints: constraints.to_vec(),
    };
    Statement::CreateTable(CreateTable {
        name: name.into(),
        temporary: false,
        columns: columns.iter().map(column).collect(),
        constraints: Vec::new(),
        options: Vec::new(),
        query: None,
    })
}

fn insert(table: &str, columns: &[&str], rows: &[&[i64]]) -> Statement {
    Statement::Insert(Insert {
        table: table.into(),
        or: None,
        columns: columns.iter().map(|name| Name::from(*name)).collect(),
        source: InsertSource::Values(
            rows.iter().map(|row| row.iter().map(|n| Expr::int(*n)).collect()).collect(),
        ),
        upsert: None,
    })
}

fn index(name: &str, table: &str, columns: &[&str]) -> Statement {
    let key =
        |name: &&str| IndexKey { expr: Expr::bare_column(*name), collation: None, desc: true, prefix: None };
    Statement::CreateIndex(CreateIndex {
        name: name.into(),
        unique: false,
        table: table.into(),
        method: None,
        keys: columns.iter().map(key).collect(),
        filter: Some(Expr::bare_column(columns[0]).is_not(Truth::Null)),
    })
}

fn norec(setup: Vec<Statement>, items: Vec<Expr>, from: TableRef, filter: Expr) -> Subject {
    let items = items.into_iter().map(SelectItem::from).collect();
    let query = Query::select(Select { items, from: vec![from], filter: Some(filter), ..Select::default() });
    Subject { setup, ..Subject::new("norec", query).with_choice("form", "rows") }
}

fn is_positive(table: &str, column: &str) -> Expr {
    Expr::binary(BinaryOp::Gt, Expr::column(table, column), Expr::int(0))
}

fn two_tables() -> Vec<Statement> {
    vec![
        table("t0", &[("c0", "INT", &[ColumnConstraint::NotNull]), ("c1", "TEXT", &[])]),
        table("t1", &[("c0", "", &[])]),
        index("i0", "t0", &["c1", "c0"]),
        insert("t0", &["c0", "c1"], &[&[17, 1], &[18, 2], &[19, 3]]),
        insert("t0", &["c0", "c1"], &[&[25, 4]]),
        insert("t1", &["c0"], &[&[1], &[2]]),
        Statement::Analyze(None),
    ]
}

fn over_t0(filter: Expr) -> Subject {
    norec(two_tables(), vec![Expr::column("t0", "c0")], TableRef::table("t0"), filter)
}

#[test]
fn statements() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3)",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "statements", over_t0(is_positive("t0", "c0")), &expected);
}

#[test]
fn a_table_goes_with_all_that_names_it() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3)",
        "INSERT INTO t0(c0, c1) VALUES (25, 4)",
        "ANALYZE",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "tables", over_t0(is_positive("t0", "c0")), &expected);
}

#[test]
fn rows_and_columns() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL)",
        "INSERT INTO t0(c0) VALUES (19)",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "statements rows columns", over_t0(is_positive("t0", "c0")), &expected);
}

#[test]
fn rows_come_as_an_update_leaves_them() {
    let set = |column: &str, value: i64| Assignment { column: column.into(), value: Expr::int(value) };
    let update =
        |assignments| Statement::Update(Update { table: "t0".into(), or: None, assignments, filter: None });
    let setup = vec![
        table("t0", &[("c0", "INT", &[]), ("c1", "INT", &[])]),
        insert("t0", &[], &[&[1, 2], &[3, 4]]),
        update(vec![set("c1", 7)]),
        update(vec![set("c0", 5), set("c1", 6)]),
    ];
    let subject =
        norec(setup, vec![Expr::column("t0", "c0")], TableRef::table("t0"), is_positive("t0", "c0"));
    let expected = [
        "CREATE TABLE t0(c0 INT, c1 INT)",
        "INSERT INTO t0 VALUES (5, 6), (5, 6)",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "merge-updates", subject, &expected);
}

#[test]
fn a_key_may_be_a_column_that_is_never_null_and_an_index_over_one() {
    let key = ColumnConstraint::PrimaryKey { desc: false, autoincrement: false, on_conflict: None };
    let mut stored = table("t0", &[("c0", "INT", &[key])]);
    if let Statement::CreateTable(create) = &mut stored {
        create.options = vec!["WITHOUT ROWID".into()];
    }
    let mut over_expression = index("i0", "t0", &["c0"]);
    if let Statement::CreateIndex(create) = &mut over_expression {
        create.keys[0].expr = Expr::int(0);
    }
    let subject = norec(
        vec![stored, over_expression],
        vec![Expr::column("t0", "c0")],
        TableRef::table("t0"),
        is_positive("t0", "c0"),
    );
    let (_, dialect) = sqlite();
    let edits = reduce::by_name("schema").unwrap().candidates(&subject);
    let edited: Vec<String> =
        edits.iter().filter_map(|edit| Some(sql(&edit.apply(&subject)?, &dialect))).collect();
    for expected in ["CREATE TABLE t0(c0 INT NOT NULL)\n", "CREATE INDEX i0 ON t0(c0 DESC) WHERE"] {
        assert!(edited.iter().any(|sql| sql.contains(expected)), "{expected}\n{edited:#?}");
    }
}

#[test]
fn inserts_become_one() {
    let subject = over_t0(is_positive("t0", "c0"));
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "CREATE TABLE t1(c0)",
        "CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3), (25, 4)",
        "INSERT INTO t1(c0) VALUES (1), (2)",
        "ANALYZE",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "merge-inserts", subject, &expected);
}

#[test]
fn schema_that_is_not_needed() {
    let expected = [
        "CREATE TABLE t0(c0, c1)",
        "CREATE TABLE t1(c0)",
        "CREATE INDEX i0 ON t0(c1)",
        "INSERT INTO t0 VALUES (17, 1), (18, 2), (19, 3)",
        "INSERT INTO t0 VALUES (25, 4)",
        "INSERT INTO t1 VALUES (1), (2)",
        "ANALYZE",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "schema", over_t0(is_positive("t0", "c0")), &expected);
}

#[test]
fn a_join_that_is_not_needed() {
    let on = JoinOn::On(Expr::binary(BinaryOp::Eq, Expr::column("t0", "c0"), Expr::column("t1", "c0")));
    let from = TableRef::join(JoinKind::Left, TableRef::table("t0"), TableRef::table("t1"), on);
    let filter = is_positive("t0", "c0").and(Expr::column("t1", "c0").is(Truth::Null));
    let subject = || norec(two_tables(), vec![Expr::column("t1", "c0")], from.clone(), filter.clone());
    let setup = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "CREATE TABLE t1(c0)",
        "CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3)",
        "INSERT INTO t0(c0, c1) VALUES (25, 4)",
        "INSERT INTO t1(c0) VALUES (1), (2)",
        "ANALYZE",
    ];
    let with = |query| [&setup[..], &[query]].concat();
    let gone = with("SELECT NULL FROM t0 WHERE t0.c0 > 0 AND NULL IS NULL");
    assert_reduced(&["FROM t0", "WHERE"], "joins", subject(), &gone);
    let needed = with("SELECT t1.c0 FROM t0 LEFT JOIN t1 WHERE t0.c0 > 0 AND t1.c0 IS NULL");
    let emptied = |mut subject: Subject| {
        subject.setup.remove(5);
        subject
    };
    let needed: Vec<&str> = needed.into_iter().filter(|line| !line.starts_with("INSERT INTO t1")).collect();
    assert_reduced(&["LEFT JOIN", "WHERE"], "joins", emptied(subject()), &needed);
}

#[test]
fn expressions_become_their_parts() {
    let case = Expr::Case {
        operand: None,
        branches: vec![
            Branch { when: Expr::int(0), then: Expr::null() },
            Branch { when: is_positive("t0", "c0"), then: Expr::int(1) },
        ],
        otherwise: None,
    };
    let list = vec![Expr::int(17), Expr::int(18), Expr::int(25)];
    let among = Expr::InList { expr: Box::new(Expr::column("t0", "c0")), list, negated: false };
    let subject = norec(
        vec![table("t0", &[("c0", "", &[])]), insert("t0", &[], &[&[25]])],
        vec![Expr::column("t0", "c0")],
        TableRef::table("t0"),
        case.and(among),
    );
    let setup = ["CREATE TABLE t0(c0)", "INSERT INTO t0 VALUES (25)"];
    let with = |query| [&setup[..], &[query]].concat();
    assert_reduced(&["WHERE"], "expressions", subject.clone(), &with("SELECT 1 FROM t0 WHERE 1"));
    assert_reduced(
        &["WHERE", "IN ("],
        "expressions",
        subject.clone(),
        &with("SELECT 1 FROM t0 WHERE t0.c0 IN (25)"),
    );
    assert_reduced(
        &["WHERE CASE", "t0.c0 >"],
        "expressions",
        subject,
        &with("SELECT 1 FROM t0 WHERE CASE WHEN t0.c0 > 0 THEN 1 END"),
    );
}

#[test]
fn a_key_and_its_item_change_together() {
    let key = Expr::function("abs", vec![Expr::column("t0", "c0")]);
    let query = Query::select(Select {
        items: vec![key.clone().into()],
        from: vec![TableRef::table("t0")],
        group_by: vec![key],
        ..Select::default()
    });
    let subject = Subject {
        setup: vec![table("t0", &[("c0", "INT", &[])]), insert("t0", &[], &[&[25]])],
        ..Subject::new("tlp-group-by", query).with_expr(is_positive("t0", "c0"))
    };
    let expected =
        ["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (25)", "SELECT 1 FROM t0 GROUP BY 1", "-- t0.c0"];
    assert_reduced(&["WHERE", "GROUP BY", "t0.c0"], "together expressions", subject, &expected);
}

#[test]
fn constants_keep_meeting_the_data() {
    let equal = Expr::binary(BinaryOp::Eq, Expr::column("t0", "c0"), Expr::text("it's"));
    let Statement::Insert(mut rows) = insert("t0", &[], &[&[0]]) else { unreachable!() };
    rows.source = InsertSource::Values(vec![vec![Expr::text("it's")]]);
    let subject = norec(
        vec![table("t0", &[("c0", "", &[])]), Statement::Insert(rows)],
        vec![Expr::int(1)],
        TableRef::table("t0"),
        equal,
    );
    let expected = ["CREATE TABLE t0(c0)", "INSERT INTO t0 VALUES (0)", "SELECT 0 FROM t0 WHERE t0.c0 = 0"];
    assert_reduced(&["WHERE"], "constants", subject, &expected);
}

#[test]
fn views_and_derived_tables_dissolve() {
    let view = CreateView {
        name: "v0".into(),
        temporary: false,
        columns: Vec::new(),
        query: Query::select(Select {
            items: vec![SelectItem::Expr { expr: Expr::column("t0", "c0"), alias: Some("c9".into()) }],
            from: vec![TableRef::table("t0")],
            ..Select::default()
        }),
    };
    let setup =
        vec![table("t0", &[("c0", "", &[])]), insert("t0", &[], &[&[25]]), Statement::CreateView(view)];
    let subject =
        norec(setup, vec![Expr::column("v0", "c9")], TableRef::table("v0"), is_positive("v0", "c9"));
    let expected =
        ["CREATE TABLE t0(c0)", "INSERT INTO t0 VALUES (25)", "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0"];
    assert_reduced(&["WHERE"], "inline", subject, &expected);
}

#[test]
fn names_become_plain() {
    let subject = norec(
        vec![table("t7", &[("c4", "", &[])]), index("i3", "t7", &["c4"]), insert("t7", &["c4"], &[&[25]])],
        vec![Expr::column("t7", "c4")],
        TableRef::table("t7"),
        is_positive("t7", "c4"),
    );
    let expected = [
        "CREATE TABLE t0(c0)",
        "CREATE INDEX i0 ON t0(c0 DESC) WHERE c0 IS NOT NULL",
        "INSERT INTO t0(c0) VALUES (25)",
        "SELECT c0 FROM t0 WHERE c0 > 0",
    ];
    assert_reduced(&["WHERE"], "qualifiers rename", subject, &expected);
}

#[test]
fn text_that_is_not_understood_is_kept_whole_or_dropped() {
    let mut subject = over_t0(is_positive("t0", "c0"));
    subject.setup = common::raw(&[
        "CREATE TABLE t0(c0 INT, c1 TEXT)",
        "CREATE TABLE t1(c0)",
        "INSERT INTO t0 VALUES (1, 2), (3, 4)",
    ]);
    let expected = [
        "CREATE TABLE t0(c0 INT, c1 TEXT)",
        "INSERT INTO t0 VALUES (1, 2), (3, 4)",
        "SELECT 0 FROM t0 WHERE 1",
    ];
    assert_reduced(&["FROM t0 WHERE"], "all", subject, &expected);
}

#[test]
fn all_passes_together() {
    let on = JoinOn::On(Expr::binary(BinaryOp::Eq, Expr::column("t0", "c0"), Expr::column("t1", "c0")));
    let from = TableRef::join(JoinKind::Left, TableRef::table("t0"), TableRef::table("t1"), on);
    let filter = is_positive("t0", "c0").and(Expr::column("t1", "c0").is(Truth::Null));
    let subject = norec(two_tables(), vec![Expr::column("t1", "c0")], from, filter);
    let expected = [
        "CREATE TABLE t0(c0)",
        "INSERT INTO t0 VALUES (0)",
        "SELECT 0 FROM t0 LEFT JOIN t0 WHERE NULL IS NULL",
    ];
    assert_reduced(&["LEFT JOIN", "WHERE", "IS NULL"], "all", subject, &expected);
}

/// What a hunt finds on an engine with this bug. Not by EDC: both its queries are worded alike and lose a row
/// (its reduction is tested beside it).
fn hunted(bug: &'static [&'static str], cases: u64) -> Vec<Subject> {
    let (mut engine, dialect) = losing_a_row(bug);
    let oracles = oracle::all().iter().copied().filter(|oracle| oracle.name() != "edc").collect();
    let walk = Walk { dialect: &dialect, calm: None, oracles, seed: 7, policy: Policy::default() };
    let mut counting = Counting { cases_left: cases, ..Counting::default() };
    with_session(engine.as_mut(), &dialect, |session| {
        let mut number = 0;
        while walk.database(number, session, &mut counting).unwrap() {
            number += 1;
        }
    });
    counting.findings.into_iter().map(|(subject, _)| subject).collect()
}

#[test]
fn what_a_hunt_finds_becomes_small() {
    const BUG: &[&str] = &["JOIN", "WHERE", " AND "];
    let (mut engine, dialect) = losing_a_row(BUG);
    let subjects = hunted(BUG, 1500);
    assert!(subjects.len() >= 10, "{} findings", subjects.len());
    for subject in subjects {
        let before = sql(&subject, &dialect);
        let reduction = reduced_on(engine.as_mut(), &dialect, subject.clone(), reduce::all());
        let after = sql(&reduction.subject, &dialect);
        assert!(reduction.complete && reduction.subject.setup.len() <= 4, "{before}\n\n{after}");
        assert!(Weight::of(&reduction.subject, &dialect).tokens <= 70, "{before}\n\n{after}");
        // Nothing but the subject decides.
        let again = reduced_on(engine.as_mut(), &dialect, subject, reduce::all());
        assert_eq!(after, sql(&again.subject, &dialect));
    }
}

#[test]
fn a_budget_is_kept_to() {
    let (mut engine, dialect) = losing_a_row(&["WHERE"]);
    let subject = over_t0(is_positive("t0", "c0"));
    let reduction = reduced_within(engine.as_mut(), &dialect, subject.clone(), reduce::all(), 3);
    assert_eq!((reduction.checks, reduction.complete), (3, false));

    let (asked, oracle) = (Cell::new(0), oracle::by_name("norec").unwrap());
    let over = || asked.replace(asked.get() + 1) >= 2;
    let budget = Budget { checks: 1000, over: &over };
    with_session(engine.as_mut(), &dialect, |session| {
        let mut fails = |candidate: &Subject| {
            rebuild(candidate, session)?;
            Ok(matches!(oracle.check(candidate, session)?, Verdict::Bug(_)))
        };
        let reduction = reduce::reduce(subject, &dialect, reduce::all(), &budget, &mut fails).unwrap();
        assert_eq!((reduction.checks, reduction.complete), (2, false));
    });
}

#[test]
fn passes_have_names_of_their_own() {
    for pass in reduce::all() {
        assert_eq!(reduce::by_name(pass.name()).map(|found| found.name()), Some(pass.name()));
    }
}
