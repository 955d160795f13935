//! Each condition under which an oracle may speak, with a case that violates only it: skipped, not
//! reported. The engine is made to lose a row wherever there is a WHERE or HAVING, so every comparison
//! differs, and only the condition stands between the difference and a finding.

mod common;

use common::{Counting, check, check_on, raw, sqlite, with_session};
use dissent_core::engine::{Engine, ErrorClass, Reply, SqlError};
use dissent_core::finding::{Class, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_core::walk::{Walk, confirm, rebuild};
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

const SETUP: &[&str] = &[
    "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT, c2 TEXT COLLATE NOCASE)",
    "INSERT INTO t0 VALUES (1, 'a', 'x'), (2, 'b', 'X'), (3, NULL, 'y')",
];

/// SQLite with a bug: whatever is filtered loses its last row, and a lone number loses one.
fn lossy() -> impl Engine {
    Tampered::new(SqliteEngine::bundled().expect("the bundled SQLite opens"), |sql, mut reply| {
        if let Reply::Rows(rows) = &mut reply
            && (sql.contains(" WHERE ") || sql.contains(" HAVING "))
        {
            match rows.values.as_mut_slice() {
                [Value::Int(number)] => *number -= 1,
                _ => rows.values.truncate(rows.values.len().saturating_sub(rows.columns)),
            }
        }
        reply
    })
}

fn verdict(subject: &Subject) -> Verdict {
    let (_, dialect) = sqlite();
    check_on(&mut lossy(), &dialect, subject)
}

#[track_caller]
fn assert_reported(subject: &Subject) {
    let verdict = verdict(subject);
    assert!(matches!(verdict, Verdict::Bug(_)), "{verdict:?}");
    // And without the bug the engine agrees with itself.
    let sound = check(subject);
    assert!(matches!(sound, Verdict::Pass { .. }), "{sound:?}");
}

#[track_caller]
fn assert_skipped(subject: &Subject, reason: &str) {
    assert_eq!(verdict(subject), Verdict::Skip(reason.to_string().into()));
}

fn c0() -> Expr {
    Expr::column("t0", "c0")
}

fn predicate() -> Expr {
    Expr::binary(BinaryOp::Ge, c0(), Expr::int(1))
}

/// `SELECT item FROM t0`.
fn select(item: Expr) -> Select {
    Select { items: vec![item.into()], from: vec![TableRef::table("t0")], ..Select::default() }
}

fn with_setup(subject: Subject) -> Subject {
    Subject { setup: raw(SETUP), ..subject }
}

fn norec(form: &str, select: Select) -> Subject {
    with_setup(Subject::new("norec", Query::select(select)).with_choice("form", form))
}

fn filtered(item: Expr) -> Select {
    Select { filter: Some(predicate()), ..select(item) }
}

fn tlp(oracle: &str, select: Select, predicate: Expr) -> Subject {
    with_setup(Subject::new(oracle, Query::select(select)).with_expr(predicate))
}

fn grouped(key: Expr) -> Select {
    Select { group_by: vec![key.clone()], ..select(key) }
}

#[test]
fn sound_subjects_are_reported() {
    assert_reported(&norec("count", filtered(c0())));
    assert_reported(&norec("rows", filtered(c0())));
    for form in ["separate", "compound"] {
        let with_form = |subject: Subject| subject.with_choice("form", form);
        assert_reported(&with_form(tlp("tlp-where", select(c0()), predicate())));
        let distinct = Select { distinct: true, ..select(c0()) };
        assert_reported(&with_form(tlp("tlp-distinct", distinct, predicate())));
        assert_reported(&with_form(tlp("tlp-group-by", grouped(c0()), predicate())));
        let condition = Expr::binary(BinaryOp::Ge, Expr::count_rows(), Expr::int(1));
        assert_reported(&with_form(tlp("tlp-having", grouped(c0()), condition)));
    }
    for aggregate in [Expr::aggregate("MAX", vec![c0()]), Expr::count_rows()] {
        assert_reported(&tlp("tlp-aggregate", select(aggregate), predicate()));
    }
}

#[test]
fn rule_0_1_a_difference_that_does_not_hold_on_a_fresh_database_is_unstable() {
    let (_, dialect) = sqlite();
    // Wrong once in a while, and never when the same database is built again.
    let mut asked = 0;
    let sometimes = SqliteEngine::bundled().expect("the bundled SQLite opens");
    let mut engine = Tampered::new(sometimes, move |sql, mut reply| {
        asked += 1;
        if let Reply::Rows(rows) = &mut reply
            && sql.starts_with("SELECT COUNT")
            && asked % 97 == 0
        {
            rows.values = vec![Value::Int(-1)];
        }
        reply
    });
    let oracles = oracle::select("norec");
    let walk = Walk { dialect: &dialect, calm: None, oracles, seed: 1, policy: Policy::default() };
    let mut watcher = Counting { cases_left: 3000, ..Counting::default() };
    with_session(&mut engine, &dialect, |session| {
        for number in 0.. {
            if !walk.database(number, session, &mut watcher).expect("the engine answers") {
                break;
            }
        }
    });
    assert!(watcher.unstable > 5, "{} unstable", watcher.unstable);
    assert_eq!(watcher.findings.len(), 0);
}

/// Between the statements of a setup and a check, oracles run statements of their own.
#[test]
fn rule_0_1_a_fresh_database_is_built_by_all_that_was_run() {
    let (_, dialect) = sqlite();
    let mut analysed = false;
    let bundled = SqliteEngine::bundled().expect("the bundled SQLite opens");
    let mut engine = Tampered::new(bundled, move |sql, mut reply| {
        analysed = !sql.starts_with("CREATE TABLE") && (analysed || sql.starts_with("ANALYZE"));
        if let Reply::Rows(rows) = &mut reply
            && sql.contains(" WHERE ")
            && analysed
        {
            rows.values = vec![Value::Int(-1)];
        }
        reply
    });
    let subject = norec("count", filtered(c0()));
    let oracle = oracle::by_name("norec").unwrap();
    let mut told = |analyzed_before_the_check: bool| {
        let mut watcher = Counting::default();
        with_session(&mut engine, &dialect, |session| {
            rebuild(&subject, session).expect("the engine answers");
            let before = session.history().len();
            session.run(&Statement::Analyze(None)).expect("the engine answers");
            let before = before + usize::from(analyzed_before_the_check);
            let verdict = oracle.check(&subject, session).expect("the engine answers");
            let Verdict::Bug(seen) = verdict else { panic!("{verdict:?}") };
            confirm(Origin::default(), subject.clone(), before, *seen, oracle, session, &mut watcher)
                .expect("the engine answers");
        });
        watcher
    };
    let lived = told(true);
    assert_eq!((lived.findings.len(), lived.unstable), (1, 0));
    assert_eq!(lived.findings[0].0.setup, [subject.setup.as_slice(), &[Statement::Analyze(None)]].concat());
    // What the check itself did is no part of the database.
    let alone = told(false);
    assert_eq!((alone.findings.len(), alone.unstable), (0, 1));
}

#[test]
fn rule_0_2_errors_are_not_compared() {
    let failing_with = |class: ErrorClass, part: &'static str, other: &'static str| {
        let engine = SqliteEngine::bundled().expect("the bundled SQLite opens");
        let mut engine = Tampered::new(engine, move |sql, reply| {
            if sql.starts_with("SELECT") && (sql.contains(part) || sql == other) {
                let (code, message) = (String::from("code"), String::from("message"));
                return Reply::Failed(SqlError { class, code, message });
            }
            reply
        });
        let (_, dialect) = sqlite();
        check_on(&mut engine, &dialect, &norec("count", filtered(c0())))
    };
    let failing = |class, in_both| failing_with(class, if in_both { "" } else { "WHERE" }, "");
    assert_eq!(failing(ErrorClass::Runtime, true), Verdict::skip("all arms fail"));
    // Forced, the predicate fails as well: an optimizer may spare an error.
    let spared = failing_with(ErrorClass::Runtime, "WHERE", "SELECT t0.c0 >= 1 FROM t0");
    assert_eq!(spared, Verdict::skip("one arm is spared an error"));
    // So does a column that is computed when it is read.
    let computed = failing_with(ErrorClass::Runtime, "WHERE", "SELECT * FROM t0");
    assert_eq!(computed, Verdict::skip("one arm is spared an error"));
    // It may not make one up.
    let Verdict::Bug(evidence) = failing(ErrorClass::Runtime, false) else { panic!("not reported") };
    assert_eq!(evidence.class, Class::ErrorDivergence);
    assert_eq!(failing(ErrorClass::Limit, false), Verdict::skip("one arm is over a limit"));
    assert_eq!(failing(ErrorClass::Semantic, false), Verdict::skip("one arm is not accepted"));
    // What the engine calls internal is a finding whatever the other arm says.
    let Verdict::Bug(evidence) = failing(ErrorClass::Internal, false) else { panic!("not reported") };
    assert_eq!(evidence.class, Class::InternalError);
}

/// A planner may ask a CHECK whether a table has such rows at all, and meet an error that no row has raised.
#[test]
fn rule_0_2_an_error_of_a_check_is_spared_as_well() {
    let bundled = SqliteEngine::bundled().expect("the bundled SQLite opens");
    let mut engine = Tampered::new(bundled, |sql, reply| {
        if !sql.contains(" WHERE ") && sql != "SELECT c0 >= 77 FROM t0" {
            return reply;
        }
        let (code, message) = (String::new(), "out of range".to_string());
        Reply::Failed(SqlError { class: ErrorClass::Runtime, code, message })
    });
    let (_, dialect) = sqlite();
    let table = |constraints: Vec<TableConstraint>| {
        Statement::CreateTable(CreateTable { constraints, ..int_table("t0", "c0") })
    };
    let mut verdict = |constraints: Vec<TableConstraint>| {
        let subject = Subject { setup: vec![table(constraints)], ..norec("count", filtered(c0())) };
        check_on(&mut engine, &dialect, &subject)
    };
    assert!(matches!(verdict(Vec::new()), Verdict::Bug(_)));
    let check = Expr::binary(BinaryOp::Ge, Expr::bare_column("c0"), Expr::int(77));
    assert_eq!(verdict(vec![TableConstraint::Check(check)]), Verdict::skip("one arm is spared an error"));
}

#[test]
fn rule_0_3_volatile_functions_are_skipped() {
    let random = Expr::function("random", Vec::new());
    assert_skipped(&norec("rows", filtered(random.clone())), "volatile function");
    let condition = Expr::binary(BinaryOp::Ne, random, Expr::int(0));
    assert_skipped(&tlp("tlp-where", select(c0()), condition), "volatile function");
}

#[test]
fn rule_0_4_a_limit_is_skipped() {
    let mut inner = Query::select(select(c0()));
    inner.limit = Some(Expr::int(1));
    let member = Expr::InQuery { expr: Box::new(c0()), query: Box::new(inner), negated: false };
    let subject = norec("count", Select { filter: Some(member), ..select(c0()) });
    assert_skipped(&subject, "LIMIT without a total order");
}

#[test]
fn rule_0_5_order_dependent_aggregates_and_windows_are_skipped() {
    let joined = Expr::aggregate("GROUP_CONCAT", vec![Expr::column("t0", "c1")]);
    let condition = Expr::binary(BinaryOp::Ne, joined, Expr::text("a"));
    assert_skipped(&tlp("tlp-having", grouped(c0()), condition), "order-dependent aggregate");
    let relation = |function: &str| TableRef::Derived {
        query: Box::new(Query::select(Select {
            items: vec![SelectItem::Expr { expr: window(function), alias: Some("c0".into()) }],
            ..select(c0())
        })),
        alias: "t0".into(),
        columns: Vec::new(),
        lateral: false,
    };
    let over = |function: &str| Select { from: vec![relation(function)], ..filtered(c0()) };
    assert_skipped(&norec("rows", over("ROW_NUMBER")), "window without a total order");
    assert_reported(&norec("rows", over("RANK")));
}

fn window(function: &str) -> Expr {
    let order_by = vec![OrderItem { expr: c0(), desc: false, nulls: None }];
    let over = Over::Spec(WindowSpec { order_by, ..WindowSpec::default() });
    Expr::Window(Box::new(Window { function: Aggregate::new(function, Vec::new()), over }))
}

/// What a window sees is what is left of the rows, not what is beside them.
#[test]
fn windows_over_what_is_filtered_are_skipped() {
    assert!(matches!(verdict(&norec("rows", filtered(window("RANK")))), Verdict::Skip(_)));
    assert!(matches!(verdict(&tlp("tlp-where", select(window("RANK")), predicate())), Verdict::Skip(_)));
}

/// A table of one column.
fn int_table(name: &str, column: &str) -> CreateTable {
    CreateTable {
        name: name.into(),
        temporary: false,
        columns: vec![ColumnDef {
            name: column.into(),
            ty: DataType::new("INT", Kind::Int),
            constraints: Vec::new(),
        }],
        constraints: Vec::new(),
        options: Vec::new(),
        query: None,
    }
}

/// `(SELECT MAX(t0.c0))` is an aggregate of the query around it, which then has one row whatever WHERE keeps.
#[test]
fn rule_0_6_aggregates_of_an_enclosing_query_are_skipped() {
    let inner = Select { items: vec![Expr::aggregate("MAX", vec![c0()]).into()], ..Select::default() };
    let subquery = Expr::Subquery(Box::new(Query::select(inner)));
    let subject = tlp("tlp-where", select(subquery), predicate());
    assert_skipped(&subject, "aggregate of an enclosing query");
    // Nor does another table make it its own that has no such column.
    let of_other = Select {
        items: vec![Expr::aggregate("MAX", vec![Expr::bare_column("c0")]).into()],
        from: vec![TableRef::table("t1")],
        ..Select::default()
    };
    let subquery = Expr::Subquery(Box::new(Query::select(of_other)));
    let mut subject = tlp("tlp-where", select(subquery), predicate());
    let with_column = |name: &str| Statement::CreateTable(int_table("t1", name));
    subject.setup.push(with_column("c9"));
    assert_skipped(&subject, "aggregate of an enclosing query");
    subject.setup.pop();
    subject.setup.push(with_column("c0"));
    assert_reported(&subject);
}

#[test]
fn rule_0_6_bare_columns_are_skipped() {
    let bare =
        Select { items: vec![Expr::count_rows().into(), Expr::column("t0", "c1").into()], ..select(c0()) };
    let relation = TableRef::Derived {
        query: Box::new(Query::select(bare)),
        alias: "d0".into(),
        columns: Vec::new(),
        lateral: false,
    };
    let subject = norec("count", Select { from: vec![TableRef::table("t0"), relation], ..filtered(c0()) });
    assert_skipped(&subject, "bare column beside an aggregate");
}

#[test]
fn rule_0_8_collations_in_what_is_deduplicated_are_skipped() {
    let folded = Expr::Collate { expr: Box::new(Expr::column("t0", "c1")), collation: "NOCASE".into() };
    let reason = "collation in what is deduplicated";
    let distinct = Select { distinct: true, ..select(folded.clone()) };
    assert_skipped(&tlp("tlp-distinct", distinct, predicate()), reason);
    assert_skipped(&tlp("tlp-group-by", grouped(folded.clone()), predicate()), reason);
    let largest = Expr::aggregate("MAX", vec![folded]);
    assert_skipped(&tlp("tlp-aggregate", select(largest), predicate()), reason);
    // Declared with the column instead.
    let column =
        |constraints| ColumnDef { name: "c0".into(), ty: DataType::new("TEXT", Kind::Text), constraints };
    let table = |constraints| {
        Statement::CreateTable(CreateTable {
            name: "t0".into(),
            temporary: false,
            columns: vec![column(constraints)],
            constraints: Vec::new(),
            options: Vec::new(),
            query: None,
        })
    };
    let over = |constraints| {
        let mut subject = tlp("tlp-group-by", grouped(c0()), predicate());
        subject.setup = vec![table(constraints)];
        subject.setup.extend(raw(&["INSERT INTO t0 VALUES ('a'), ('b')"]));
        subject
    };
    assert_reported(&over(Vec::new()));
    assert_skipped(&over(vec![ColumnConstraint::Collate("NOCASE".into())]), reason);
}

#[test]
fn a_scalar_subquery_that_may_have_several_rows_is_skipped() {
    let any_row = Expr::Subquery(Box::new(Query::select(select(c0()))));
    let condition = Expr::binary(BinaryOp::Ge, c0(), any_row);
    let subject = norec("count", Select { filter: Some(condition), ..select(c0()) });
    assert_skipped(&subject, "scalar subquery that may have several rows");
}

#[test]
fn rule_1_norec_takes_only_one_plain_select() {
    let reason = "not one plain SELECT with a WHERE";
    let shapes = [
        Select { distinct: true, ..filtered(c0()) },
        Select { group_by: vec![c0()], ..filtered(c0()) },
        Select { having: Some(predicate()), ..filtered(c0()) },
        filtered(Expr::count_rows()),
        select(c0()),
    ];
    for shape in shapes {
        assert_skipped(&norec("rows", shape), reason);
    }
    let mut limited = norec("count", filtered(c0()));
    if let Some(Statement::Query(query)) = limited.tests.first_mut() {
        query.limit = Some(Expr::int(1));
    }
    assert_skipped(&limited, reason);
    let compound = Query::compound(
        SetOp::Union,
        false,
        Body::Select(Box::new(filtered(c0()))),
        Body::Select(Box::new(filtered(c0()))),
    );
    assert_skipped(&with_setup(Subject::new("norec", compound)), reason);
}

#[test]
fn rule_1_norec_asks_for_truth_and_not_for_a_cast() {
    // 0.5 is true, and as an integer it is 0.
    let half = Expr::Literal(Value::Real(0.5));
    let subject = norec("count", Select { filter: Some(half), ..select(c0()) });
    assert_eq!(check(&subject), Verdict::Pass { nonempty: true });
}

#[test]
fn rule_1_tlp_takes_only_its_own_shapes() {
    let reason = "not a query of the shape this oracle partitions";
    let distinct = Select { distinct: true, ..select(c0()) };
    assert_skipped(&tlp("tlp-where", distinct.clone(), predicate()), reason);
    assert_skipped(&tlp("tlp-where", select(Expr::count_rows()), predicate()), reason);
    assert_skipped(&tlp("tlp-distinct", select(c0()), predicate()), reason);
    // Only the keys are selected.
    let more = Select { items: vec![c0().into(), Expr::count_rows().into()], ..grouped(c0()) };
    assert_skipped(&tlp("tlp-group-by", more.clone(), predicate()), reason);
    assert_skipped(&tlp("tlp-having", more, predicate()), reason);
    let no_predicate = with_setup(Subject::new("tlp-where", Query::select(select(c0()))));
    assert_skipped(&no_predicate, reason);
}

#[test]
fn rule_1_tlp_aggregate_takes_only_what_can_be_put_together() {
    let subject = |aggregate| tlp("tlp-aggregate", select(aggregate), predicate());
    let average = Expr::aggregate("AVG", vec![c0()]);
    assert_skipped(&subject(average), "aggregate that is not decomposable");
    let sum = Expr::aggregate("SUM", vec![c0()]);
    assert_skipped(&subject(sum), "sum that may round or overflow");
    let distinct = Expr::Aggregate(Box::new(Aggregate {
        name: "COUNT".into(),
        distinct: true,
        args: vec![c0()],
        order_by: Vec::new(),
        filter: None,
    }));
    assert_skipped(&subject(distinct), "not a query of the shape this oracle partitions");
}

#[test]
fn rule_1_relations_without_a_defined_affinity_are_skipped() {
    let reason = "relation whose column affinity is not defined";
    let body = |item| Body::Select(Box::new(select(item)));
    let compound = Query::compound(SetOp::Union, true, body(c0()), body(Expr::column("t0", "c1")));
    let distinct = Query::select(Select { distinct: true, ..select(c0()) });
    for query in [compound, distinct] {
        let derived = TableRef::Derived {
            query: Box::new(query.clone()),
            alias: "d0".into(),
            columns: Vec::new(),
            lateral: false,
        };
        let from = vec![TableRef::table("t0"), derived];
        assert_skipped(&norec("count", Select { from, ..filtered(c0()) }), reason);
        let view = CreateView { name: "v0".into(), temporary: false, columns: Vec::new(), query };
        let mut subject = norec("count", filtered(c0()));
        subject.setup.push(Statement::CreateView(view));
        assert_skipped(&subject, reason);
    }
}

#[test]
fn a_missing_row_and_a_wrong_value_are_told_apart() {
    let Verdict::Bug(evidence) = verdict(&norec("rows", filtered(c0()))) else { panic!("not reported") };
    assert_eq!(evidence.class, Class::WrongRows);
    assert_eq!(evidence.arms.len(), 2);
    assert!(evidence.arms.iter().all(|arm| arm.plan.is_some()), "both plans are there");
    assert!(evidence.difference.contains("(3)"), "{}", evidence.difference);
}
