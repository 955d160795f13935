use std::collections::BTreeMap;

use super::*;
use crate::dialect::Files;
use crate::generate::{Generator, Policy};
use crate::render::to_sql;
use crate::rng::Rng;
use crate::state::State;

/// A grammar, and the greatest percentage of our own statements that it may refuse.
const GRAMMARS: &[(&str, usize)] =
    &[("sqlite", 15), ("duckdb", 18), ("postgres", 4), ("mysql", 3), ("clickhouse", 8), ("generic", 15)];

const STATEMENTS: usize = 1_200;

/// Statements as a hunt draws them: databases, changes of them, and queries of every clause.
pub(crate) fn drawn(dialect: &Dialect) -> Vec<Statement> {
    let policy = Policy::default();
    let mut statements = Vec::new();
    for database in 0.. {
        let mut state = State::default();
        let mut rng = Rng::for_case(5, database, 0);
        let mut generator = Generator::new(rng, dialect, &state, &policy);
        let plan = generator.plan();
        rng = generator.rng;
        for stage in plan {
            let mut generator = Generator::new(rng, dialect, &state, &policy);
            let stage = generator.stage(stage);
            rng = generator.rng;
            stage.iter().for_each(|statement| state.apply(statement, dialect));
            statements.extend(stage);
        }
        for case in 1..60 {
            let mut generator = Generator::new(Rng::for_case(5, database, case), dialect, &state, &policy);
            statements.extend(generator.composed_query().map(Statement::from));
        }
        if statements.len() > STATEMENTS {
            return statements;
        }
    }
    statements
}

/// Hints of MySQL are kept where there is a tree for them; a script with others is asked as it was written.
#[test]
fn index_hints_are_read_or_refused() {
    let dialect = Dialect::load("mysql", "9").unwrap();
    for text in ["SELECT c0 FROM t0 AS a1 FORCE INDEX (i0)", "SELECT c0 FROM t0 USE INDEX ()"] {
        let imported = super::statement(text, 1, &dialect);
        assert!(imported.refused.is_none(), "{:?}", imported.refused);
        assert_eq!(to_sql(&imported.statement, &dialect), text);
    }
    for text in ["SELECT c0 FROM t0 IGNORE INDEX (i0)", "SELECT c0 FROM t0 FORCE INDEX FOR JOIN (i0)"] {
        let imported = super::statement(text, 1, &dialect);
        assert!(imported.refused.is_some(), "{text}");
    }
}

#[test]
fn short_ways_to_write_a_query_are_written_out() {
    let dialect = Dialect::load("duckdb", "9").unwrap();
    for (text, written) in [
        ("FROM t", "SELECT * FROM t"),
        ("TABLE t", "SELECT * FROM t"),
        ("SELECT 1 WHERE EXISTS (FROM t)", "SELECT 1 WHERE EXISTS (SELECT * FROM t)"),
        ("SELECT a FROM t AS x(a, b)", "SELECT a FROM (SELECT * FROM t) AS x(a, b)"),
        ("SELECT a FROM range(5)", "SELECT a FROM range(5) AS range"),
        (
            "SELECT a, sum(b) FROM t GROUP BY ALL ORDER BY ALL",
            "SELECT a, sum(b) FROM t GROUP BY a ORDER BY 1, 2",
        ),
        (
            "SELECT SUM(a) OVER (ORDER BY b ROWS 2 PRECEDING) FROM t",
            "SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t",
        ),
    ] {
        let (short, long) = (statement(text, 1, &dialect), statement(written, 1, &dialect));
        assert_eq!(short.refused, None, "{text}");
        assert_eq!(to_sql(&short.statement, &dialect), to_sql(&long.statement, &dialect), "{text}");
    }
    // Which columns these stand for does not show in the text.
    for text in [
        "SELECT * FROM t GROUP BY ALL",
        "SELECT sum(a) + b FROM t GROUP BY ALL",
        "SELECT 1 FROM t GROUP BY ALL",
    ] {
        assert!(statement(text, 1, &dialect).refused.is_some(), "{text}");
    }
}

#[test]
fn hints_are_never_lost() {
    for name in ["mysql", "postgres", "sqlite"] {
        let dialect = Dialect::load(name, "99").unwrap();
        let imported = statement("SELECT /*+ NO_INDEX(t) */ a FROM t", 1, &dialect);
        assert_eq!(imported.refused.as_deref(), Some("an optimizer hint"), "{name}");
        assert!(imported.text.contains("/*+"), "{name}");
        assert_eq!(statement("SELECT '/*+ x */'", 1, &dialect).refused, None, "{name}");
    }
}

/// What we print, sqlparser reads and we print again as it was, or it is refused; nothing is read as something
/// else.
#[test]
fn our_own_statements_are_read_as_they_were_printed_or_refused() {
    let mut too_many = Vec::new();
    for name in Files::built_in().names() {
        let dialect = Dialect::load(name, "999").unwrap();
        let most_refused = GRAMMARS.iter().find(|(grammar, _)| *grammar == dialect.engine.grammar);
        let (_, most_refused) = most_refused.expect("the grammar is listed above");
        let (mut refused, mut reasons) = (0, BTreeMap::new());
        let statements: Vec<Statement> =
            drawn(&dialect).into_iter().filter(|statement| !matches!(statement, Statement::Raw(_))).collect();
        for statement in &statements {
            let text = to_sql(statement, &dialect);
            let imported = super::statement(&text, 1, &dialect);
            match imported.refused {
                Some(why) => {
                    refused += 1;
                    let why: String = why.chars().take(50).collect();
                    let (count, example) = reasons.entry(why).or_insert((0, text));
                    *count += 1;
                    let _ = example;
                }
                None => {
                    let again = to_sql(&imported.statement, &dialect);
                    assert!(again.eq_ignore_ascii_case(&text), "{name}:\n{text}\n{again}");
                }
            }
        }
        let share = refused * 100 / statements.len();
        println!("{name}: {refused} of {} statements are refused ({share} %)", statements.len());
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (why, (count, example)) in reasons.iter().take(6) {
            println!("  {count} {why}: {example}");
        }
        assert!(statements.len() >= 1_000, "{name}");
        if share > *most_refused {
            too_many.push(format!("{name}: {share} %"));
        }
    }
    assert!(too_many.is_empty(), "{too_many:?}");
}

/// Names of constraints, remarks and numbers that are found say nothing about rows that are given; indexes stay.
#[test]
fn a_table_of_a_dump_is_understood() {
    let dialect = Dialect::load("mysql", "9.7").unwrap();
    let dumped = "CREATE TABLE `orders` (`id` int unsigned NOT NULL AUTO_INCREMENT, `note` varchar(40) NULL \
        COMMENT 'free', CONSTRAINT `p` PRIMARY KEY (`id`), UNIQUE KEY `u` (`note`), INDEX `k` (`note`(3), `id`)) \
        ENGINE=InnoDB";
    let read = statement(dumped, 1, &dialect);
    assert_eq!(read.refused, None);
    assert_eq!(
        to_sql(&read.statement, &dialect),
        "CREATE TABLE `orders`(`id` INT UNSIGNED NOT NULL, `note` VARCHAR(40), PRIMARY KEY (`id`), UNIQUE (`note`), \
         KEY `k` (`note`(3), `id`)) ENGINE=InnoDB"
    );
}
