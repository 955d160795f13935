//! EPSC on real engines: the paper's listings, the conditions under which it speaks, and error validation.

mod common;

use common::{check, check_on, open, sqlite};
use dissent_core::dialect::Feature;
use dissent_core::engine::{Engine, ErrorClass, Reply, SqlError};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Verdict};
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

fn subject(steps: Vec<Statement>) -> Subject {
    Subject {
        oracle: "epsc".to_string(),
        setup: Vec::new(),
        tests: steps,
        exprs: Vec::new(),
        choices: Default::default(),
    }
}

fn in_sql(steps: Vec<Statement>) -> Subject {
    subject(steps).with_choice("road", "sql")
}

fn bound(value: impl Into<Parameter>) -> Expr {
    Expr::Bound(value.into().0)
}

/// A parameter under a cast.
fn cast(value: impl Into<Parameter>, ty: &str, kind: Kind) -> Expr {
    Expr::Cast { expr: Box::new(bound(value)), ty: DataType::new(ty, kind) }
}

struct Parameter(Value);

impl From<i64> for Parameter {
    fn from(int: i64) -> Self {
        Parameter(Value::Int(int))
    }
}

impl From<&str> for Parameter {
    fn from(text: &str) -> Self {
        Parameter(Value::Text(text.to_string()))
    }
}

impl From<Value> for Parameter {
    fn from(value: Value) -> Self {
        Parameter(value)
    }
}

fn create(table: &str, columns: &[(&str, &str)]) -> Statement {
    let column = |(name, ty): &(&str, &str)| ColumnDef {
        name: Name::from(*name),
        ty: DataType::new(*ty, Kind::Any),
        constraints: Vec::new(),
    };
    Statement::CreateTable(CreateTable {
        name: table.into(),
        temporary: false,
        columns: columns.iter().map(column).collect(),
        constraints: Vec::new(),
        options: Vec::new(),
        query: None,
    })
}

fn insert(table: &str, columns: &[&str], values: Vec<Expr>) -> Statement {
    Statement::Insert(Insert {
        table: table.into(),
        or: None,
        columns: columns.iter().map(|name| Name::from(*name)).collect(),
        source: InsertSource::Values(vec![values]),
        upsert: None,
    })
}

fn select(item: Expr, table: &str) -> Select {
    Select { items: vec![item.into()], from: vec![TableRef::table(table)], ..Select::default() }
}

fn query(select: Select) -> Statement {
    Statement::from(Query::select(select))
}

fn c0() -> Expr {
    Expr::bare_column("c0")
}

#[track_caller]
fn evidence(verdict: Verdict) -> Evidence {
    match verdict {
        Verdict::Bug(evidence) => *evidence,
        other => panic!("no finding: {other:?}"),
    }
}

#[track_caller]
fn assert_passes(verdict: Verdict) {
    assert!(matches!(verdict, Verdict::Pass { .. }), "{verdict:?}");
}

#[track_caller]
fn assert_skipped(verdict: Verdict, reason: &str) {
    assert_eq!(verdict, Verdict::Skip(reason.to_string().into()));
}

fn on(target: &str, subject: &Subject) -> Option<Verdict> {
    let (mut engine, dialect) = open(target)?;
    Some(check_on(engine.as_mut(), &dialect, subject))
}

fn number_of_rows(arm: &Arm) -> Option<usize> {
    match &arm.outcome {
        ArmOutcome::Rows(rows) => Some(rows.len()),
        _ => None,
    }
}

const NO_PLACE: &str = "parameter where only a literal means the same";
const NO_TYPE: &str = "parameter of another type than its literal";

// What the paper's listings say of the engines that are here. Listings 1 and 5 are of CockroachDB, 6, 9, 11 and
// 15 of TiDB.

fn listing_7() -> Subject {
    let max = Expr::aggregate("max", vec![c0()]);
    subject(vec![create("t0", &[("c0", "")]), query(select(max.and(bound(0)), "t0"))])
}

#[test]
fn listing_7_an_aggregate_that_sqlite_folded_away() {
    assert_passes(check(&listing_7()));
    let Some(old) = on("sqlite@3.34.0", &listing_7()) else { return };
    let evidence = evidence(old);
    assert_eq!(evidence.class, Class::WrongRows);
    let rows: Vec<Option<usize>> = evidence.arms.iter().map(number_of_rows).collect();
    assert_eq!(rows, [Some(0), Some(1)], "{evidence:?}");
    assert!(evidence.arms[1].sql.ends_with("SELECT max(c0) AND ?1 FROM t0"), "{}", evidence.arms[1].sql);
}

/// What an error of either arm says.
fn message(evidence: &Evidence) -> String {
    let error = evidence.arms.iter().find_map(|arm| match &arm.outcome {
        ArmOutcome::Error(error) => Some(error.message.clone()),
        _ => None,
    });
    error.unwrap_or_default()
}

fn int(value: i64) -> Expr {
    cast(value, "INTEGER", Kind::Int)
}

fn truth(value: bool) -> Expr {
    cast(Value::Bool(value), "BOOLEAN", Kind::Bool)
}

/// PostgreSQL and DuckDB fail where they divide by zero, or divide integers otherwise; a root of less fails in
/// both.
#[test]
fn listing_2_an_error_that_one_arm_is_spared() {
    let divided = Expr::binary(BinaryOp::Eq, Expr::binary(BinaryOp::Div, Expr::int(10), c0()), Expr::int(1));
    let either = |right: Expr| Expr::binary(BinaryOp::Or, divided.clone(), right);
    let filter = Some(either(truth(true)));
    let steps = vec![
        create("t0", &[("c0", "INTEGER")]),
        insert("t0", &["c0"], vec![Expr::int(0)]),
        Statement::Set { name: "plan_cache_mode".into(), value: "force_generic_plan".into() },
        query(Select { filter, ..select(c0(), "t0") }),
    ];
    let Some(verdict) = on("postgres", &subject(steps)) else { return };
    // The query is passed over; the rows of the table are compared all the same.
    assert_passes(verdict);
}

#[test]
fn listing_3_a_key_that_is_found_again_only_if_it_is_written_alike() {
    let holds = |value: Expr| Expr::InList { expr: Box::new(value), list: vec![c0()], negated: false };
    let grouped = Select {
        group_by: vec![holds(Expr::Literal(Value::Bool(false)))],
        ..select(holds(truth(false)), "t0")
    };
    let steps = vec![create("t0", &[("c0", "BOOLEAN")]), query(grouped)];
    let Some(verdict) = on("duckdb", &subject(steps)) else { return };
    assert_skipped(verdict, NO_PLACE);
}

#[test]
fn listing_4_the_smallest_integer_is_no_parameter() {
    let smallest = Expr::unary(UnaryOp::Minus, cast(i64::MIN, "BIGINT", Kind::Int));
    let steps = vec![query(Select { items: vec![smallest.into()], ..Select::default() })];
    let Some(verdict) = on("duckdb", &in_sql(steps)) else { return };
    assert_skipped(verdict, NO_TYPE);
}

/// Both arms return the padded row in every version that is here.
#[test]
fn listing_8_an_outer_join_that_mariadb_made_an_inner_one() {
    let null = Expr::column("t0", "c0").is(Truth::True);
    let never = |value: Expr| Expr::InList {
        expr: Box::new(value),
        list: vec![Expr::Literal(Value::Bool(false))],
        negated: false,
    };
    let filter = |value: Expr| Some(Expr::binary(BinaryOp::Or, value, never(null.clone())));
    let on_false = JoinOn::On(Expr::Literal(Value::Bool(false)));
    let join = TableRef::join(JoinKind::Left, TableRef::table("t1"), TableRef::table("t0"), on_false);
    let outer = |value: Expr| Select {
        from: vec![join.clone()],
        filter: filter(value),
        ..select(Expr::column("t0", "c0"), "t0")
    };
    let steps = |value: Expr| {
        vec![
            create("t0", &[("c0", "INT")]),
            create("t1", &[("c0", "INT")]),
            insert("t0", &["c0"], vec![Expr::int(1)]),
            insert("t1", &["c0"], vec![Expr::int(1)]),
            query(outer(value)),
        ]
    };
    for target in ["mariadb@11.8", "mariadb@10.5", "mysql@9.7"] {
        let value = match target {
            "mysql@9.7" => cast(0, "SIGNED", Kind::Int),
            _ => bound(Value::Bool(false)),
        };
        let Some(verdict) = on(target, &subject(steps(value))) else { continue };
        assert_eq!(verdict, Verdict::Pass { nonempty: true }, "{target}");
    }
}

/// Text that is escaped is escaped again inside PREPARE … FROM: no difference, and no bug of MySQL's.
#[test]
fn listing_10_what_is_unescaped_twice_is_escaped_twice() {
    let filter = Some(Expr::text("1'#\\").and(Expr::Literal(Value::Bool(false))));
    let steps = vec![
        create("t0", &[("c0", "VARCHAR(20)")]),
        insert("t0", &["c0"], vec![cast("1\\'#\"", "CHAR", Kind::Text)]),
        query(Select { filter, ..select(c0(), "t0") }),
        query(Select {
            filter: Some(Expr::binary(BinaryOp::Eq, c0(), cast("1\\'#\"", "CHAR", Kind::Text))),
            ..select(Expr::text("\\n'"), "t0")
        }),
    ];
    for target in ["mysql", "mariadb"] {
        let Some(verdict) = on(target, &in_sql(steps.clone())) else { continue };
        assert_eq!(verdict, Verdict::Pass { nonempty: true }, "{target}");
    }
}

/// A sequence that is advanced before a value fails is not set back. It is documented so, and no table that is
/// drawn has one.
#[test]
fn listing_12_a_sequence_that_a_failed_insert_advances() {
    let divided = Expr::binary(BinaryOp::Div, int(1), int(0));
    let steps = vec![
        Statement::Set { name: "plan_cache_mode".into(), value: "force_generic_plan".into() },
        create("t0", &[("c0", "serial"), ("c1", "INTEGER")]),
        insert("t0", &["c1"], vec![divided]),
        insert("t0", &["c1"], vec![int(2)]),
    ];
    for target in ["postgres@18", "postgres@16"] {
        let Some(verdict) = on(target, &in_sql(steps.clone())) else { continue };
        let evidence = evidence(verdict);
        assert_eq!(evidence.class, Class::WrongValues, "{target}: {evidence:?}");
    }
}

#[test]
fn listing_13_bytes_that_are_read_by_the_encoding_of_the_database() {
    let check = c0().is(Truth::True);
    let Statement::CreateTable(mut table) = create("t0", &[("c0", "TEXT")]) else { return };
    table.columns[0].constraints.push(ColumnConstraint::Check(check));
    let steps = vec![
        Statement::CreateTable(table),
        insert("t0", &["c0"], vec![bound(Value::Blob(vec![0x31, 0x0a]))]),
    ];
    let encoding = Statement::Set { name: "encoding".into(), value: "'UTF-16'".into() };
    let subject = Subject { setup: vec![encoding], ..subject(steps) };
    for target in ["sqlite@3.50.4", "sqlite"] {
        let Some(verdict) = on(target, &subject) else { continue };
        if target == "sqlite" {
            assert_passes(verdict);
            continue;
        }
        // The prepared INSERT stores what the CHECK forbids.
        let evidence = evidence(verdict);
        assert_eq!(evidence.class, Class::ErrorDivergence);
        assert!(message(&evidence).contains("CHECK constraint failed"), "{evidence:?}");
    }
}

/// A parameter in the list of a query that is grouped by a constant is not drawn; it is the engine's to say.
#[test]
fn listing_14_an_error_of_the_ordinary_statement_alone() {
    let length = Expr::function("length", vec![Expr::null()]);
    let grouped = Select { group_by: vec![Expr::null()], ..select(length, "t0") };
    let steps = vec![create("t0", &[("c0", "INTEGER")]), insert("t0", &["c0"], vec![int(1)]), query(grouped)];
    for target in ["duckdb@1.4.0", "duckdb"] {
        let Some(verdict) = on(target, &subject(steps.clone())) else { continue };
        assert_passes(verdict);
    }
}

// Conditions, each violated alone.

/// SQLite with a bug: what is prepared loses the last row of a query.
fn lossy() -> impl Engine {
    Tampered::new(SqliteEngine::bundled().expect("the bundled SQLite opens"), |sql, mut reply| {
        if let Reply::Rows(rows) = &mut reply
            && sql.starts_with("/* prepared")
        {
            rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
        }
        reply
    })
}

fn filled() -> Vec<Statement> {
    vec![
        create("t0", &[("c0", "INT"), ("c1", "TEXT")]),
        insert("t0", &["c0", "c1"], vec![bound(2), bound("a")]),
        insert("t0", &["c0", "c1"], vec![bound(1), bound("b")]),
    ]
}

fn with(step: Statement) -> Subject {
    subject(filled().into_iter().chain([step]).collect())
}

#[track_caller]
fn assert_skipped_on_lossy(subject: &Subject, reason: &str) {
    let (_, dialect) = sqlite();
    assert_skipped(check_on(&mut lossy(), &dialect, subject), reason);
}

#[test]
fn a_lost_row_is_found_and_without_the_bug_there_is_none() {
    let filter = Some(Expr::binary(BinaryOp::Gt, c0(), bound(0)));
    let subject = with(query(Select { filter, ..select(c0(), "t0") }));
    let (_, dialect) = sqlite();
    let evidence = evidence(check_on(&mut lossy(), &dialect, &subject));
    assert_eq!(evidence.class, Class::WrongRows);
    assert!(evidence.arms[0].sql.ends_with("SELECT c0 FROM t0 WHERE c0 > 0"), "{}", evidence.arms[0].sql);
    assert_passes(check(&subject));
}

#[test]
fn a_number_alone_in_order_by_or_group_by_is_a_column_and_a_parameter_is_not() {
    let ordered = |key: Expr| Query {
        order_by: vec![OrderItem { expr: key, desc: false, nulls: None }],
        ..Query::select(select(c0(), "t0"))
    };
    assert_passes(check(&with(ordered(Expr::int(1)).into())));
    assert_skipped_on_lossy(&with(ordered(bound(1)).into()), NO_PLACE);
    let grouped = Select { group_by: vec![bound(1)], ..select(Expr::count_rows(), "t0") };
    assert_skipped_on_lossy(&with(query(grouped)), NO_PLACE);
}

#[test]
fn a_number_is_bound_as_the_type_it_has() {
    let half = |bound: Expr| {
        let filter = Some(Expr::binary(BinaryOp::Lt, c0(), bound));
        subject(vec![
            create("t0", &[("c0", "INT")]),
            insert("t0", &["c0"], vec![Expr::int(1)]),
            query(Select { filter, ..select(c0(), "t0") }),
        ])
    };
    for (target, double) in
        [("postgres", "DOUBLE PRECISION"), ("duckdb", "DOUBLE"), ("mysql", "DOUBLE"), ("mariadb", "DOUBLE")]
    {
        let Some((mut engine, dialect)) = open(target) else { continue };
        let real = Value::Real(1.5);
        // A literal with a point is a decimal; a bound float is not.
        let bare = half(bound(real.clone()));
        assert_skipped(check_on(engine.as_mut(), &dialect, &bare), NO_TYPE);
        // An integer's place takes no float.
        let narrowed = half(cast(real.clone(), "INTEGER", Kind::Int));
        assert_skipped(check_on(engine.as_mut(), &dialect, &narrowed), NO_TYPE);
        let typed = half(cast(real, double, Kind::Real));
        assert_passes(check_on(engine.as_mut(), &dialect, &typed));
    }
}

#[test]
fn a_user_variable_has_a_collation_of_its_own() {
    let compare = |text: Expr| {
        let filter = Some(Expr::binary(BinaryOp::Eq, c0(), text));
        vec![
            create("t0", &[("c0", "VARCHAR(20) COLLATE utf8mb4_bin")]),
            insert("t0", &["c0"], vec![Expr::text("a")]),
            query(Select { filter, ..select(c0(), "t0") }),
        ]
    };
    for target in ["mysql", "mariadb"] {
        let Some((mut engine, dialect)) = open(target) else { continue };
        let mut verdict = |subject: &Subject| check_on(engine.as_mut(), &dialect, subject);
        assert_skipped(verdict(&in_sql(compare(bound("a")))), NO_TYPE);
        assert_passes(verdict(&in_sql(compare(cast("a", "CHAR", Kind::Text)))));
        // By the protocol it has that of a literal, where it is not inferred from what is around it.
        if target == "mariadb" {
            assert_passes(verdict(&subject(compare(bound("a")))));
        }
    }
}

#[test]
fn an_untyped_parameter_is_none_where_literals_adapt() {
    let Some((mut engine, dialect)) = open("duckdb") else { return };
    let steps = |value: Expr| {
        vec![
            create("t0", &[("c0", "BIGINT")]),
            insert("t0", &["c0"], vec![value.clone()]),
            query(Select { filter: Some(Expr::binary(BinaryOp::Eq, c0(), value)), ..select(c0(), "t0") }),
        ]
    };
    for road in [subject, in_sql] {
        let untyped = check_on(engine.as_mut(), &dialect, &road(steps(bound(5))));
        assert_skipped(untyped, NO_TYPE);
        assert_eq!(
            check_on(engine.as_mut(), &dialect, &road(steps(int(5)))),
            Verdict::Pass { nonempty: true }
        );
    }
}

#[test]
fn nothing_is_changed_that_both_arms_begin_with() {
    let mut subject = with(query(select(c0(), "t0")));
    subject.setup.push(subject.tests.remove(0));
    assert_skipped_on_lossy(&subject, "change of a table that the case has not made");
}

#[test]
fn no_step_depends_on_which_row_comes_first() {
    let Statement::CreateTable(mut table) = create("t1", &[("c0", "INT")]) else { return };
    table.columns[0].constraints.push(ColumnConstraint::Unique { on_conflict: None });
    let keyed = |step: Statement| {
        let mut subject = with(step);
        subject.tests.insert(0, Statement::CreateTable(table.clone()));
        subject
    };
    let update = Statement::Update(Update {
        table: "t1".into(),
        or: Some(OnConflict::Ignore),
        assignments: vec![Assignment { column: "c0".into(), value: bound(1) }],
        filter: None,
    });
    assert_skipped_on_lossy(&keyed(update), "update of a key");
    let rows = Statement::Insert(Insert {
        table: "t1".into(),
        or: Some(OnConflict::Replace),
        columns: Vec::new(),
        source: InsertSource::Query(Box::new(Query::select(select(c0(), "t0")))),
        upsert: None,
    });
    assert_skipped_on_lossy(&keyed(rows), "rows of a query that meet a key");
}

/// Once the largest number is used up, SQLite draws any for a key that is the row's number. Which of two keys that
/// is does not matter.
#[test]
fn a_row_number_that_the_engine_draws_is_skipped() {
    let Statement::CreateTable(mut table) = create("t1", &[("c0", "INTEGER"), ("c1", "INTEGER")]) else {
        return;
    };
    table.columns[0].constraints.push(ColumnConstraint::Unique { on_conflict: None });
    let key = IndexKey { expr: Expr::bare_column("c1"), prefix: None, collation: None, desc: false };
    table.constraints.push(TableConstraint::PrimaryKey(vec![key]));
    let keyed = |key: Expr| {
        let mut subject = with(insert("t1", &["c0", "c1"], vec![Expr::int(1), key]));
        subject.tests.insert(0, Statement::CreateTable(table.clone()));
        subject
    };
    assert_skipped_on_lossy(&keyed(Expr::null()), "row number that the engine draws");
    assert_passes(check(&keyed(Expr::int(5))));
}

// Values that change, changes of rows, and both roads.

#[test]
fn what_stays_open_is_run_again_across_definitions() {
    let (engine, dialect) = sqlite();
    let mut engine = common::Recording { engine, statements: Vec::new() };
    let matching = |value: i64| {
        let filter = Some(Expr::binary(BinaryOp::Ge, c0(), bound(value)));
        query(Select { filter, ..select(c0(), "t0") })
    };
    let key = IndexKey { expr: c0(), prefix: None, collation: None, desc: false };
    let index = Statement::CreateIndex(CreateIndex {
        name: "i0".into(),
        unique: false,
        table: "t0".into(),
        method: None,
        keys: vec![key],
        filter: None,
    });
    let mut steps = filled();
    steps.extend([matching(1), index, matching(2), Statement::Analyze(None), matching(3)]);
    let verdict = common::with_session(&mut engine, &dialect, |session| {
        let verdict = dissent_core::oracle::by_name("epsc").unwrap().check(&subject(steps), session).unwrap();
        // The two INSERTs are one statement, too.
        assert_eq!(session.counts.notes["epsc: statements run again"], 3);
        verdict
    });
    assert_eq!(verdict, Verdict::Pass { nonempty: true });
}

/// An UPDATE that does nothing when it is prepared shows in the table.
#[test]
fn a_change_that_differs_is_seen_in_the_rows_that_are_left() {
    let update = Statement::Update(Update {
        table: "t0".into(),
        or: None,
        assignments: vec![Assignment { column: "c0".into(), value: bound(7) }],
        filter: None,
    });
    let bundled = SqliteEngine::bundled().expect("the bundled SQLite opens");
    let mut forgetful = Tampered::rewriting(bundled, |sql| sql.replace("SET c0 = ?1", "SET c0 = ?1 WHERE 0"));
    let (_, dialect) = sqlite();
    let evidence = evidence(check_on(&mut forgetful, &dialect, &with(update.clone())));
    assert_eq!(evidence.class, Class::WrongValues);
    assert!(evidence.arms[0].sql.ends_with("SELECT * FROM t0"), "{}", evidence.arms[0].sql);
    assert_passes(check(&with(update)));
}

/// The same steps by both roads, on every engine: what can be prepared is, and nothing differs.
#[test]
fn every_engine_agrees_with_itself_on_both_roads() {
    for target in ["sqlite", "duckdb", "postgres", "mysql", "mariadb", "clickhouse"] {
        let Some((mut engine, dialect)) = open(target) else { continue };
        for in_sql in [false, true] {
            if in_sql && dialect.preparing.sql.is_none() {
                continue;
            }
            let types = dialect.preparing.types(in_sql);
            let typed = |value: Value| {
                let ty = types.iter().find(|ty| ty.holds(&value)).expect("a type for it").data_type();
                match ty.name.is_empty() {
                    true => Expr::Bound(value),
                    false => Expr::Cast { expr: Box::new(Expr::Bound(value)), ty },
                }
            };
            let number = |value: i64| typed(Value::Int(value));
            let text = |value: &str| typed(Value::Text(value.to_string()));
            let column = |kind: Kind| {
                let entry = dialect.types.iter().find(|entry| entry.weight > 5 && entry.ty.kind == kind);
                entry.expect("a type for it").ty.name.to_string()
            };
            let mut table = create("t0", &[("c0", &column(Kind::Int)), ("c1", &column(Kind::Text))]);
            if let (Statement::CreateTable(create), Some(option)) =
                (&mut table, dialect.table_options.first())
                && dialect.can(Feature::TableOptionNeeded)
            {
                create.options.push(option.name.clone());
            }
            let row = |a: i64, b: &str| insert("t0", &["c0", "c1"], vec![number(a), text(b)]);
            let filter = |value: i64| Some(Expr::binary(BinaryOp::Gt, c0(), number(value)));
            let matching = |value: i64| query(Select { filter: filter(value), ..select(c0(), "t0") });
            let update = Statement::Update(Update {
                table: "t0".into(),
                or: None,
                assignments: vec![Assignment { column: "c1".into(), value: text("it's \\ \" \u{e9}") }],
                filter: filter(1),
            });
            let delete = Statement::Delete(Delete { table: "t0".into(), filter: filter(2) });
            let steps = vec![
                table,
                row(1, "a"),
                row(2, "it's \\n"),
                row(3, ""),
                matching(0),
                matching(1),
                update,
                delete,
                matching(-1),
            ];
            let road = if in_sql { self::in_sql(steps) } else { subject(steps) };
            let verdict = check_on(engine.as_mut(), &dialect, &road);
            assert_eq!(verdict, Verdict::Pass { nonempty: true }, "{target}, in SQL: {in_sql}");
        }
    }
}

// Error validation.

/// PostgreSQL, where a prepared statement comes back with an error of its own making.
fn with_error(message: &'static str) -> Option<(impl Engine, dissent_core::dialect::Dialect)> {
    let (engine, dialect) = open("postgres")?;
    let failing = Tampered::new(engine, move |sql, reply| match sql.starts_with("/* prepared") {
        true if sql.contains("SELECT") => Reply::Failed(SqlError {
            class: ErrorClass::Runtime,
            code: "22012".to_string(),
            message: message.to_string(),
        }),
        _ => reply,
    });
    Some((failing, dialect))
}

#[test]
fn an_error_that_no_expression_raises_is_a_finding_with_both_answers() {
    let Some((mut engine, dialect)) = with_error("division by zero") else { return };
    let steps = |filter: Expr| {
        vec![
            create("t0", &[("c0", "INTEGER")]),
            insert("t0", &["c0"], vec![int(0)]),
            query(Select { filter: Some(filter), ..select(c0(), "t0") }),
        ]
    };
    let harmless = Expr::binary(BinaryOp::Ge, c0(), int(0));
    let found = evidence(check_on(&mut engine, &dialect, &subject(steps(harmless.clone()))));
    assert_eq!(found.class, Class::ErrorDivergence);
    assert!(found.difference.contains("division by zero"), "{}", found.difference);
    assert_eq!(number_of_rows(&found.arms[0]), Some(1));
    assert_eq!(message(&found), "division by zero");
    // Somewhere in it something divides by zero: then the other arm may have been spared.
    let divided = Expr::binary(BinaryOp::Div, Expr::int(1), c0());
    let spared = Expr::binary(BinaryOp::Or, harmless, Expr::binary(BinaryOp::Gt, divided, int(0)));
    assert_passes(check_on(&mut engine, &dialect, &subject(steps(spared))));
}

/// The other oracles ask the validator as well.
#[test]
fn an_error_in_one_arm_of_another_oracle_is_validated() {
    let Some((engine, dialect)) = open("postgres") else { return };
    let mut engine = Tampered::new(engine, |sql, reply| match sql.contains("COUNT(*) FROM t0 WHERE") {
        true => Reply::Failed(SqlError {
            class: ErrorClass::Runtime,
            code: "22012".to_string(),
            message: "division by zero".to_string(),
        }),
        false => reply,
    });
    let norec = |filter: Expr| Subject {
        setup: common::raw(&["CREATE TABLE t0(c0 INTEGER)", "INSERT INTO t0 VALUES (0)"]),
        ..Subject::new("norec", Query::select(Select { filter: Some(filter), ..select(Expr::int(1), "t0") }))
    };
    let harmless = Expr::binary(BinaryOp::Ge, c0(), Expr::int(0));
    let found = evidence(check_on(&mut engine, &dialect, &norec(harmless.clone())));
    assert_eq!(found.class, Class::ErrorDivergence);
    let divided = Expr::binary(BinaryOp::Gt, Expr::binary(BinaryOp::Div, Expr::int(1), c0()), Expr::int(0));
    let spared = Expr::binary(BinaryOp::Or, harmless, divided);
    let verdict = check_on(&mut engine, &dialect, &norec(spared));
    // The reference divides, too, and fails: both arms or one, nothing is claimed.
    assert!(matches!(verdict, Verdict::Skip(_)), "{verdict:?}");
}

// What was found.

/// The statements of docs/bugs-found.md, as they stand there.
#[test]
fn the_second_execution_of_a_prepared_statement_fails_on_mariadb() {
    let Some((mut engine, _)) = open("mariadb@11.8") else { return };
    engine.reset().unwrap();
    let mut replies = Vec::new();
    for sql in [
        "CREATE TABLE t0(c0 INT)",
        "CREATE VIEW v0 AS SELECT c0 AS c1 FROM t0",
        "CREATE VIEW v1 AS SELECT 0",
        "PREPARE p FROM 'SELECT 0 FROM (SELECT 0 AS c0 FROM v1 WHERE 0) AS a0 LEFT JOIN v0 ON ?
                WHERE (SELECT SUM(c1) FROM v0 AS a1 WHERE c1)'",
        "SET @a = 0",
        "EXECUTE p USING @a",
        "EXECUTE p USING @a",
    ] {
        replies.push(engine.execute(sql).unwrap());
    }
    let failed: Vec<bool> = replies.iter().map(|reply| matches!(reply, Reply::Failed(_))).collect();
    assert_eq!(failed, [false, false, false, false, false, false, true], "{replies:?}");
}
