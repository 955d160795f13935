//! JoinEquiv: the algebra holds where it says so, and is not used where it does not.

mod common;

use common::{Counting, check_on, raw, sqlite, with_session};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::{Class, Verdict};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_core::walk::Walk;
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

fn walk(engine: &mut dyn Engine, cases: u64) -> (Counting, std::collections::BTreeMap<String, u64>) {
    let (_, dialect) = sqlite();
    let oracles = oracle::select("joinequiv");
    let walk = Walk { dialect: &dialect, oracles, seed: 4, policy: Policy::default() };
    let mut watcher = Counting { cases_left: cases, ..Counting::default() };
    let notes = with_session(engine, &dialect, |session| {
        for number in 0.. {
            // What SQLite itself calls corruption is a bug of its own, not of the algebra.
            watcher.findings.retain(|(_, evidence)| evidence.class != Class::InternalError);
            if !watcher.findings.is_empty()
                || !walk.database(number, session, &mut watcher).expect("the engine answers")
            {
                break;
            }
        }
        session.counts.notes.iter().map(|(note, count)| (note.to_string(), *count)).collect()
    });
    (watcher, notes)
}

/// The proof as a property: random tables with NULLs, any ON and WHERE, a tag column.
#[test]
fn an_inner_join_is_what_its_outer_joins_have_in_common() {
    let (mut engine, _) = sqlite();
    let (watcher, notes) = walk(engine.as_mut(), 150_000);
    assert!(watcher.findings.is_empty(), "{:#?}", watcher.findings[0]);
    assert!(watcher.passes >= 100_000, "{} passes, {} skips", watcher.passes, watcher.skips);
    // Joins that test something.
    let count = |note: &str| notes.get(note).copied().unwrap_or(0);
    let both = count("joinequiv: matched rows and both padded sides");
    let one = count("joinequiv: matched rows and one padded side");
    let all: u64 = notes.values().sum();
    assert!((both + one) * 100 >= all * 40, "{notes:?}");
    assert!(both * 100 >= all * 15, "{notes:?}");
}

#[track_caller]
fn assert_found(part: &str, tamper: impl FnMut(&str, Reply) -> Reply + 'static) {
    let engine = SqliteEngine::bundled().expect("the bundled SQLite opens");
    let (watcher, _) = walk(&mut Tampered::new(engine, tamper), 20_000);
    let (_, evidence) = watcher.findings.first().expect("the planted bug is found");
    assert!(evidence.difference.contains(part), "{}", evidence.difference);
}

fn lose_last_row(mut reply: Reply) -> Reply {
    if let Reply::Rows(rows) = &mut reply {
        rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
    }
    reply
}

#[test]
fn a_planted_bug_is_found_and_localised() {
    let is_set = |sql: &str| sql.contains(" INTERSECT ") || sql.contains(" EXCEPT ");
    assert_found("the inner join deviates", move |sql, reply| {
        let outer = sql.contains(" LEFT JOIN ") || sql.contains(" RIGHT JOIN ") || sql.contains("FULL");
        if sql.starts_with("SELECT") && !outer && !is_set(sql) { lose_last_row(reply) } else { reply }
    });
    assert_found("the set operators deviate", move |sql, reply| {
        if sql.starts_with("SELECT") && is_set(sql) { lose_last_row(reply) } else { reply }
    });
}

fn column(name: &str, constraints: Vec<ColumnConstraint>) -> ColumnDef {
    ColumnDef { name: name.into(), ty: DataType::new("INT", Kind::Int), constraints }
}

fn table(name: &str, columns: Vec<ColumnDef>) -> Statement {
    Statement::CreateTable(CreateTable {
        name: name.into(),
        temporary: false,
        columns,
        constraints: Vec::new(),
        options: Vec::new(),
        query: None,
    })
}

/// Two tables whose rows match nowhere, and which both have a NULL.
fn subject(not_null: bool, form: &str, rule: &str) -> Subject {
    let tag = if not_null { vec![ColumnConstraint::NotNull] } else { Vec::new() };
    let mut setup = vec![
        table("t0", vec![column("c0", Vec::new())]),
        table("t1", vec![column("c0", Vec::new()), column("c1", tag)]),
    ];
    setup.extend(raw(&["INSERT INTO t0 VALUES (NULL)", "INSERT INTO t1 VALUES (NULL, 1)"]));
    let on = Expr::binary(BinaryOp::Eq, Expr::column("t0", "c0"), Expr::column("t1", "c0"));
    let join = TableRef::join(JoinKind::Inner, TableRef::table("t0"), TableRef::table("t1"), JoinOn::On(on));
    let mut items: Vec<SelectItem> = vec![Expr::column("t0", "c0").into(), Expr::column("t1", "c0").into()];
    if not_null {
        items.push(Expr::column("t1", "c1").into());
    }
    let distinct = form == "distinct";
    let query = Query::select(Select { distinct, items, from: vec![join], ..Select::default() });
    let subject = Subject::new("joinequiv", query).with_choice("form", form).with_choice("rule", rule);
    Subject { setup, ..subject }
}

fn check(subject: &Subject) -> Verdict {
    let (mut engine, dialect) = sqlite();
    check_on(engine.as_mut(), &dialect, subject)
}

/// {NULL} against {NULL}: the classic false alarm.
#[test]
fn without_a_tag_the_counter_example_is_skipped() {
    for (form, rule) in [("judge", "sjt"), ("judge", "adt"), ("distinct", "sjt"), ("distinct", "sdt")] {
        let reason = Verdict::skip("no projected base column that is never NULL");
        assert_eq!(check(&subject(false, form, rule)), reason, "{form} {rule}");
        assert!(matches!(check(&subject(true, form, rule)), Verdict::Pass { .. }), "{form} {rule}");
    }
}

#[test]
fn the_symmetric_rule_is_for_sets_only() {
    assert_eq!(check(&subject(true, "judge", "sdt")), Verdict::skip("rule that does not hold for bags"));
}

/// The subject with its tables joined over their common column.
fn using(edit: impl FnOnce(&mut Select)) -> Subject {
    let mut subject = subject(true, "judge", "sjt");
    let Some(Statement::Query(query)) = subject.tests.first_mut() else { panic!("a query") };
    let select = query.as_select_mut().expect("one SELECT");
    if let Some(TableRef::Join { on, .. }) = select.from.first_mut() {
        *on = JoinOn::Using(vec!["c0".into()]);
    }
    edit(select);
    subject
}

/// `c0` is the left table's in one outer join and the right table's in the other.
#[test]
fn columns_that_using_merges_are_qualified() {
    assert!(matches!(check(&using(|_| {})), Verdict::Pass { .. }));
    let bare = using(|select| select.items[0] = Expr::bare_column("c0").into());
    assert_eq!(check(&bare), Verdict::skip("not one inner join of plain columns"));
}

/// Exchanging the operands exchanges the sides of `a.c0 = b.c0`, and with them its collation.
#[test]
fn using_is_not_exchanged() {
    let (mut engine, _) = sqlite();
    let dialect = Dialect::load("sqlite", "3.38.0").expect("its dialect reads");
    let verdict = check_on(engine.as_mut(), &dialect, &using(|_| {}));
    assert_eq!(verdict, Verdict::skip("not one inner join of plain columns"));
}

#[test]
fn only_inner_joins_of_plain_columns_are_compared() {
    let reason = Verdict::skip("not one inner join of plain columns");
    let mut outer = subject(true, "judge", "sjt");
    let mut computed = outer.clone();
    for (subject, edit) in [(&mut outer, true), (&mut computed, false)] {
        let Some(Statement::Query(query)) = subject.tests.first_mut() else { panic!("a query") };
        let select = query.as_select_mut().expect("one SELECT");
        match select.from.first_mut() {
            Some(TableRef::Join { kind, .. }) if edit => *kind = JoinKind::Left,
            _ => select.items.push(Expr::int(1).into()),
        }
        assert_eq!(check(subject), reason);
    }
}
