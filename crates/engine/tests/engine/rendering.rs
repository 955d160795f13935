//! What is printed is what the tree says: SQLite reads the sparing form as it reads the fully
//! parenthesised one.

use dissent_core::generate::{Generator, Policy};
use dissent_core::render::{Parens, query_to_sql, to_sql};
use dissent_core::rng::Rng;
use dissent_core::sql::*;
use dissent_core::state::State;

use super::common::{Fixture, sql};

/// A table of each affinity with values that tell operators apart.
const SETUP: &str = "CREATE TABLE t0(c0 INT, c1 TEXT, c2 REAL, c3);
    INSERT INTO t0 VALUES (1, 'a', 0.5, NULL), (0, 'A', -1.0, 'b'), (NULL, '', 2.0, 3), (-2, '1', NULL, x'61')";

#[test]
fn precedence_is_printed_as_the_tree_has_it() {
    let (mut sqlite, state) = built();
    let (dialect, policy) = (sqlite.dialect.clone(), Policy { depth: 5, ..Policy::default() });
    let mut sparing = 0;
    for case in 0..20_000 {
        let rng = Rng::for_case(99, 0, case);
        let mut generator = Generator::new(rng, &dialect, &state, &policy);
        let from = generator.from_clause(1).expect("there is a table").tables;
        let items = vec![generator.predicate(5).into(), generator.value_expr(Kind::Any, 4).into()];
        let query = generator.finish(Select { items, from, ..Select::default() });
        let short = query_to_sql(&query, &dialect, Parens::Needed);
        let full = query_to_sql(&query, &dialect, Parens::All);
        sparing += usize::from(short.len() < full.len());
        let (a, b) = (sqlite.rows(&short), sqlite.rows(&full));
        match (&a, &b) {
            (Ok(a), Ok(b)) => assert_eq!(a, b, "\n{short}\n{full}"),
            // Which of two run-time errors comes first is the engine's choice; whether one comes is not.
            (Err(_), Err(_)) => {}
            _ => panic!("{a:?} against {b:?}\n{short}\n{full}"),
        }
    }
    assert!(sparing > 10_000, "only {sparing} queries had parentheses to spare");
}

fn built() -> (Fixture, State) {
    let (mut sqlite, mut state) = (Fixture::sqlite(), State::default());
    for statement in sql(SETUP) {
        let text = to_sql(&statement, &sqlite.dialect);
        assert_eq!(sqlite.rows(&text), Err("no result set".to_string()), "{text}");
        state.apply(&statement, &sqlite.dialect);
    }
    (sqlite, state)
}

/// Trees whose text, printed without care, would mean something else.
#[test]
fn awkward_trees_are_read_back_as_they_are() {
    let mut sqlite = Fixture::sqlite();
    let minus = |expr| Expr::unary(UnaryOp::Minus, expr);
    let binary = Expr::binary;
    let cases = [
        // A sign before a negative number is no comment.
        (minus(Expr::int(-5)), Value::Int(5)),
        (binary(BinaryOp::Sub, Expr::int(1), Expr::int(-2)), Value::Int(3)),
        // Subtraction and division associate to the left.
        (
            binary(BinaryOp::Sub, Expr::int(9), binary(BinaryOp::Sub, Expr::int(5), Expr::int(1))),
            Value::Int(5),
        ),
        (
            binary(BinaryOp::Mul, Expr::int(2), binary(BinaryOp::Add, Expr::int(1), Expr::int(1))),
            Value::Int(4),
        ),
        // Comparisons do not chain.
        (binary(BinaryOp::Eq, binary(BinaryOp::Eq, Expr::int(2), Expr::int(2)), Expr::int(1)), Value::Int(1)),
        (binary(BinaryOp::Eq, Expr::int(1), binary(BinaryOp::Eq, Expr::int(2), Expr::int(2))), Value::Int(1)),
        // NOT binds looser than a comparison, tighter than AND.
        (binary(BinaryOp::Eq, Expr::int(0).negate(), Expr::int(1)), Value::Int(1)),
        (binary(BinaryOp::Eq, Expr::int(0), Expr::int(1)).negate(), Value::Int(1)),
        // The same value as TRUE is not the truth of it.
        (binary(BinaryOp::Same, Expr::int(5), Expr::Literal(Value::Bool(true))), Value::Int(0)),
        (Expr::int(5).is(Truth::True), Value::Int(1)),
        // Literals at the edges.
        (Expr::int(i64::MIN), Value::Int(i64::MIN)),
        (Expr::Literal(Value::Real(f64::INFINITY)), Value::Real(f64::INFINITY)),
        (Expr::Literal(Value::Real(5e-324)), Value::Real(5e-324)),
        (Expr::text("it's"), Value::Text("it's".into())),
        (Expr::text("a\0b"), Value::Text("a\0b".into())),
        (Expr::Literal(Value::Blob(vec![0, 255])), Value::Blob(vec![0, 255])),
        // COLLATE reaches its operand only.
        (
            binary(
                BinaryOp::Eq,
                Expr::Collate { expr: Box::new(Expr::text("a")), collation: "NOCASE".into() },
                Expr::text("A"),
            ),
            Value::Int(1),
        ),
        (
            binary(
                BinaryOp::Concat,
                Expr::text("a"),
                Expr::Collate { expr: Box::new(Expr::text("b")), collation: "NOCASE".into() },
            ),
            Value::Text("ab".into()),
        ),
    ];
    for (expr, expected) in cases {
        let query = Query::select(Select { items: vec![expr.into()], ..Select::default() });
        for parens in [Parens::Needed, Parens::All] {
            let sql = query_to_sql(&query, &sqlite.dialect, parens);
            let answer = sqlite.rows(&sql);
            assert_eq!(answer.as_ref().map(|rows| rows.single()), Ok(Some(&expected)), "{sql}");
        }
    }
}

/// Parts of the AST that hunts do not draw yet are accepted as well.
#[test]
fn every_clause_is_accepted() {
    let (mut sqlite, _) = built();
    let c0 = || Expr::column("t0", "c0");
    let over = |spec| {
        Expr::Window(Box::new(Window {
            function: Aggregate {
                name: "SUM".into(),
                distinct: false,
                args: vec![c0()],
                order_by: Vec::new(),
                filter: Some(c0().is_not(Truth::Null)),
            },
            over: spec,
        }))
    };
    let spec = WindowSpec {
        partition_by: vec![Expr::column("t0", "c1")],
        order_by: vec![OrderItem { expr: c0(), desc: true, nulls: Some(NullsOrder::Last) }],
        frame: Some(Frame {
            unit: FrameUnit::Groups,
            start: FrameBound::Preceding(Box::new(Expr::int(1))),
            end: FrameBound::UnboundedFollowing,
            exclude: Some(FrameExclude::Ties),
        }),
    };
    let table = || vec![TableRef::table("t0")];
    let select = |items: Vec<SelectItem>| Select { items, from: table(), ..Select::default() };
    let body = |items| Body::Select(Box::new(select(items)));
    let c0_item = || vec![SelectItem::from(c0())];
    let nested = Query { limit: Some(Expr::int(1)), ..Query::select(select(c0_item())) };
    let compound =
        |op, all, left, right| Body::Compound { op, all, left: Box::new(left), right: Box::new(right) };
    let queries = [
        Query::select(select(vec![over(Over::Spec(spec.clone())).into()])),
        Query::select(Select {
            windows: vec![NamedWindow { name: "w0".into(), spec }],
            ..select(vec![over(Over::Named("w0".into())).into()])
        }),
        Query::from(compound(
            SetOp::Except,
            false,
            compound(SetOp::Union, true, body(c0_item()), body(c0_item())),
            compound(SetOp::Intersect, false, body(c0_item()), Body::Nested(Box::new(nested))),
        )),
        Query {
            with: Some(With {
                recursive: true,
                tables: vec![CommonTable {
                    name: "n0".into(),
                    columns: vec!["c0".into()],
                    materialized: Some(true),
                    query: Query::from(compound(
                        SetOp::Union,
                        true,
                        Body::Values(vec![vec![Expr::int(1)]]),
                        Body::Select(Box::new(Select {
                            items: vec![
                                Expr::binary(BinaryOp::Add, Expr::column("n0", "c0"), Expr::int(1)).into(),
                            ],
                            from: vec![TableRef::table("n0")],
                            filter: Some(Expr::binary(BinaryOp::Lt, Expr::column("n0", "c0"), Expr::int(3))),
                            ..Select::default()
                        })),
                    )),
                }],
            }),
            order_by: vec![OrderItem { expr: Expr::column("n0", "c0"), desc: false, nulls: None }],
            limit: Some(Expr::int(2)),
            offset: Some(Expr::int(1)),
            locking: Some(Locking::Update),
            ..Query::select(Select {
                items: vec![SelectItem::Wildcard],
                from: vec![TableRef::table("n0")],
                ..Select::default()
            })
        },
        Query::select(Select {
            items: vec![
                Expr::Aggregate(Box::new(Aggregate {
                    name: "COUNT".into(),
                    distinct: true,
                    args: vec![c0()],
                    order_by: Vec::new(),
                    filter: Some(c0().is(Truth::True)),
                }))
                .into(),
            ],
            from: vec![TableRef::Join {
                kind: JoinKind::Full,
                left: Box::new(TableRef::Table {
                    name: "t0".into(),
                    alias: None,
                    hint: Some(IndexHint::NotIndexed),
                }),
                right: Box::new(TableRef::join(
                    JoinKind::Left,
                    TableRef::Table { name: "t0".into(), alias: Some("a0".into()), hint: None },
                    TableRef::Function {
                        name: "json_each".into(),
                        args: vec![Expr::text("[1]")],
                        alias: "j0".into(),
                        columns: Vec::new(),
                    },
                    JoinOn::Nothing,
                )),
                on: JoinOn::On(Expr::int(1)),
            }],
            group_by: vec![c0()],
            having: Some(Expr::count_rows()),
            ..Select::default()
        }),
    ];
    for query in queries {
        let sql = query_to_sql(&query, &sqlite.dialect, Parens::Needed);
        let answer = sqlite.rows(&sql);
        assert!(answer.is_ok(), "{sql}\n{answer:?}");
    }
    let name = |text: &str| Name::from(text);
    let insert = |columns, source, upsert| {
        Statement::Insert(Insert { table: name("t1"), or: None, columns, source, upsert })
    };
    let upsert = Upsert {
        target: vec![name("c0")],
        assignments: vec![Assignment { column: name("c0"), value: Expr::column("excluded", "c0") }],
        filter: Some(Expr::int(1)),
    };
    let statements = [
        Statement::CreateTable(CreateTable {
            name: name("t1"),
            temporary: false,
            columns: vec![ColumnDef {
                name: name("c0"),
                ty: DataType::new("INTEGER", Kind::Int),
                constraints: vec![ColumnConstraint::Unique { on_conflict: Some(OnConflict::Fail) }],
            }],
            constraints: vec![TableConstraint::ForeignKey {
                columns: vec![name("c0")],
                table: name("t0"),
                parents: vec![name("c0")],
            }],
            options: Vec::new(),
            module: None,
            query: None,
        }),
        insert(Vec::new(), InsertSource::Defaults, None),
        insert(
            vec![name("c0")],
            InsertSource::Query(Box::new(Query::select(select(c0_item())))),
            Some(upsert),
        ),
        Statement::CreateTable(CreateTable {
            name: name("odd name"),
            temporary: true,
            columns: Vec::new(),
            constraints: Vec::new(),
            options: Vec::new(),
            module: None,
            query: Some(Box::new(Query::select(select(vec![SelectItem::Expr {
                expr: c0(),
                alias: Some(name("order")),
            }])))),
        }),
        Statement::AlterTable { table: name("odd name"), action: AlterAction::RenameTable(name("t\"2")) },
        Statement::Drop { object: ObjectKind::Table, name: name("t\"2"), on: None, if_exists: true },
        Statement::Analyze(Some(name("t1"))),
        Statement::Reindex(Some(name("t1"))),
        Statement::Savepoint(name("s0")),
        Statement::RollbackTo(name("s0")),
        Statement::Release(name("s0")),
        Statement::Begin,
        Statement::Commit,
        Statement::Vacuum,
    ];
    for statement in statements {
        let sql = to_sql(&statement, &sqlite.dialect);
        let reply = sqlite.engine.execute(&sql).expect("the engine answers");
        assert!(!matches!(reply, dissent_core::engine::Reply::Failed(_)), "{sql}\n{reply:?}");
    }
}
