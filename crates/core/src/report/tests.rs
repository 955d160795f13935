use super::*;
use crate::dialect::Dialect;
use crate::engine::{ErrorClass, Rows, SqlError};
use crate::finding::{
    Against, Arm, ArmOutcome, Cause, Class, Evidence, FINDING_FORMAT, Failure, Finding, History, Origin,
    ReductionNote, Side, Signature, Switch, WrongVersion,
};
use crate::sql::{BinaryOp, Expr, Statement, Value};
use crate::subject::{Subject, TestCase};

fn finding(class: Class, setup: &[&str], arms: Vec<Arm>) -> Finding {
    Finding {
        format: FINDING_FORMAT,
        target: "sqlite@3.30.1".to_string(),
        dialect: "sqlite".to_string(),
        engine_version: "3.30.1".to_string(),
        case: TestCase {
            setup: setup.iter().map(|sql| Statement::Raw(sql.to_string())).collect(),
            subject: Subject::of("norec", vec![Statement::Raw(arms[0].sql.clone())]),
        },
        evidence: Evidence {
            class,
            relation: "WHERE p keeps as many rows as p is true on".to_string(),
            failure: Failure::Counts { first: 2, second: 3 },
            explanation: None,
            arms,
        },
        origin: Origin { seed: 42, database: 7, case: 11, depth: 3, checks: 12_345 },
        triage: Default::default(),
    }
}

fn arm(label: &str, sql: &str, outcome: ArmOutcome, plan: Option<&str>) -> Arm {
    Arm { label: label.to_string(), sql: sql.to_string(), outcome, plan: plan.map(str::to_string) }
}

fn rows(columns: usize, values: Vec<Value>) -> ArmOutcome {
    ArmOutcome::Rows(Rows { columns, values })
}

pub(super) fn wrong_rows() -> Finding {
    let text = |s: &str| Value::Text(s.to_string());
    finding(
        Class::WrongRows,
        &["CREATE TABLE t0 (c0 TEXT, c1 REAL)", "INSERT INTO t0 VALUES ('a|b', 1.0), ('it''s', NULL);"],
        vec![
            arm(
                "with WHERE",
                "SELECT c0, c1 FROM t0 WHERE c0 LIKE 'a_'",
                rows(2, vec![text("a|b\nc"), Value::Real(1.0), text("*it's*"), Value::Null]),
                Some("SEARCH t0 USING INDEX i0 (c0=?)"),
            ),
            arm(
                "predicate in the select list",
                "SELECT SUM((c0 LIKE 'a_') IS TRUE) FROM t0",
                rows(1, vec![Value::Int(3)]),
                Some("SCAN t0"),
            ),
        ],
    )
}

fn sqlite() -> Dialect {
    Dialect::load("sqlite", "3.30.1").unwrap()
}

#[test]
fn repro_of_wrong_rows() {
    insta::assert_snapshot!(repro(&wrong_rows(), &sqlite()));
}

#[test]
fn report_of_wrong_rows() {
    insta::assert_snapshot!(report(&wrong_rows(), &sqlite()));
}

#[test]
fn a_change_is_reported_with_its_versions_and_its_cause() {
    let mut finding = wrong_rows();
    finding.triage.against = Some(Against {
        target: "sqlite".to_string(),
        engine: None,
        engine_version: "3.54.1".to_string(),
        wrong: Some(WrongVersion { engine_version: "3.30.1".to_string(), oracle: "norec".to_string() }),
    });
    let switch = Switch::Setting {
        name: "automatic_index".to_string(),
        value: "0".to_string(),
        sql: "PRAGMA automatic_index = 0".to_string(),
    };
    finding.triage.cause = Some(Cause { switches: vec![switch], complete: true, ..Cause::default() });
    // As it is dated: versions fail that answer otherwise than the other one does.
    finding.triage.history = Some(History {
        first_bad: "3.8.6".to_string(),
        last_bad: "3.31.1".to_string(),
        first_good: Some("3.33.0".to_string()),
        ..History::default()
    });
    let report = report(&finding, &sqlite());
    for line in [
        "**Compared with:** SQLite 3.54.1  \n",
        "**Wrong:** 3.30.1, as norec shows there alone  \n",
        "**Changed:** in 3.33.0, or after 3.31.1  \n",
        "**Cause:** vanishes with `PRAGMA automatic_index = 0`\n",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    assert!(!report.contains("**Affected:**") && !report.contains("newest version"), "{report}");
}

fn crash() -> Finding {
    let error = SqlError {
        class: ErrorClass::ConnectionLost,
        code: "SIGSEGV".to_string(),
        message: "the process died".to_string(),
    };
    let mut finding = finding(
        Class::Crash,
        &["CREATE TABLE t0 (c0)"],
        vec![arm("the statement that was running", "SELECT * FROM t0", ArmOutcome::Error(error), None)],
    );
    finding.case.subject.oracle = "crash".to_string();
    finding.evidence.relation = "A statement never ends the process that runs it".to_string();
    finding.evidence.failure = Failure::Death {
        cause: "SIGSEGV".to_string(),
        running: true,
        out_of_memory: false,
        last_words: String::new(),
    };
    finding
}

#[test]
fn report_of_a_crash() {
    insta::assert_snapshot!(report(&crash(), &sqlite()));
}

#[test]
fn repro_of_a_crash() {
    insta::assert_snapshot!(repro(&crash(), &sqlite()));
}

#[test]
fn an_id_names_the_oracle_and_the_class_and_follows_the_subject() {
    let first = wrong_rows();
    let mut other = wrong_rows();
    other.case.setup.pop();
    assert_eq!(id(&first, 6).len(), "norec-wrong-rows-".len() + 6);
    assert!(id(&first, 6).starts_with("norec-wrong-rows-"));
    assert_eq!(id(&first, 6), id(&wrong_rows(), 6));
    assert_ne!(id(&first, 6), id(&other, 6));
    assert!(id(&first, 16).starts_with(&id(&first, 6)));
    assert!(id(&crash(), 6).starts_with("crash-") && !id(&crash(), 6).starts_with("crash-crash"));
}

#[test]
fn long_results_are_cut_and_say_so() {
    let outcome = rows(1, (0..25).map(Value::Int).collect());
    let lines = outcome_lines(&outcome, 20);
    assert_eq!(lines.len(), 22);
    assert_eq!(lines[21], "  … and 5 more");
}

#[test]
fn no_value_can_end_the_comment_it_stands_in() {
    let evil = rows(1, vec![Value::Text("x\nDROP TABLE t0;\r\u{2028}\0".to_string())]);
    for line in outcome_lines(&evil, 20) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

#[test]
fn a_long_plan_is_folded_away() {
    let mut long = wrong_rows();
    long.evidence.arms[0].plan = Some("SCAN t0\n".repeat(40));
    let text = report(&long, &sqlite());
    assert!(text.contains("<details><summary>Plans (44 lines)</summary>"), "{text}");
}

fn exported(name: &str) -> String {
    let counted =
        |label: &str, count| arm(label, "SELECT COUNT(*) FROM t0", rows(1, vec![Value::Int(count)]), None);
    let mut counts = wrong_rows();
    counts.evidence.arms = vec![counted("optimised", 2), counted("reference", 3)];
    let (crash, dialect) = (crash(), sqlite());
    let findings = [
        export::Exported {
            id: "norec-wrong-rows-1",
            directory: "out/findings/1",
            finding: &counts,
            dialect: &dialect,
        },
        export::Exported { id: "crash-1", directory: "out/findings/1", finding: &crash, dialect: &dialect },
    ];
    let exporter = export::exporters().iter().find(|exporter| exporter.name() == name).unwrap();
    exporter.export(&findings)
}

#[test]
fn export_to_sqllogictest() {
    insta::assert_snapshot!(exported("slt"));
}

#[test]
fn export_to_junit() {
    insta::assert_snapshot!(exported("junit"));
}

#[test]
fn export_to_json_reads_back() {
    let list: serde_json::Value = serde_json::from_str(&exported("json")).unwrap();
    assert_eq!(list[1]["id"], "crash-1");
    let back: Finding = serde_json::from_value(list[1]["finding"].clone()).unwrap();
    assert_eq!(back, crash());
}

#[test]
fn a_benchmark_of_reductions() {
    let dialect = sqlite();
    let note = |checks, seconds| {
        let before = 400;
        Some(ReductionNote {
            checks,
            complete: true,
            statements_before: 30,
            tokens_before: before,
            tokens: 40,
            seconds,
        })
    };
    let mut small = wrong_rows();
    small.triage.reduction = note(120, Some(0.25));
    let mut large = wrong_rows();
    large.target = "duckdb@0.5.1".to_string();
    large.case.setup = vec![Statement::Raw("CREATE TABLE t0 (c0 TEXT)".to_string()); 11];
    large.triage.reduction = note(300, None);
    let unreduced = crash();
    let findings = [("a", &small), ("b", &large), ("c", &unreduced)];
    let findings = findings.map(|(id, finding)| export::Exported {
        id,
        directory: "out/findings/1",
        finding,
        dialect: &dialect,
    });
    insta::assert_snapshot!(measure::reductions(&findings));
}

#[test]
fn signatures_against_versions() {
    let dialect = sqlite();
    let dated = |features: [&str; 2], first_bad: &str, first_good: Option<&str>| {
        let mut finding = wrong_rows();
        finding.triage.signature = Some(Signature {
            fails: "wrong-result".to_string(),
            message: Vec::new(),
            features: features.map(str::to_string).into(),
        });
        finding.triage.history = Some(History {
            first_bad: first_bad.to_string(),
            last_bad: "3.30.1".to_string(),
            first_good: first_good.map(str::to_string),
            ..History::default()
        });
        finding
    };
    let findings = [
        dated(["compare", "left-join"], "3.24.0", Some("3.31.0")),
        dated(["is-true", "left-join"], "3.24.0", Some("3.31.0")),
        dated(["compare", "row-value"], "3.24.0", Some("3.31.0")),
        dated(["compare", "left-join"], "3.24.0", None),
    ];
    let exported =
        |finding| export::Exported { id: "a", directory: "out/findings/1", finding, dialect: &dialect };
    let exported: Vec<export::Exported> = findings.iter().map(exported).collect();
    insta::assert_snapshot!(measure::signatures(&exported));
}

#[test]
fn failures_in_words() {
    let side = |rows: usize, only: &[i64], examples: usize| Side {
        rows,
        only: only.len(),
        examples: only.iter().take(examples).map(|value| vec![Value::Int(*value)]).collect(),
    };
    let told = |failure| {
        let mut finding = wrong_rows();
        finding.evidence.failure = failure;
        super::failure(&finding.evidence)
    };
    let rows = |first, second| told(Failure::Rows { first, second });
    assert_eq!(
        rows(side(0, &[], 3), side(1, &[0], 3)),
        "The first query returns none; the second returns (0)."
    );
    assert_eq!(
        rows(side(3, &[1, 2], 3), side(1, &[], 3)),
        "The first query returns 3 rows, only here (1), (2); the second returns 1 row."
    );
    assert_eq!(
        rows(side(9, &[1, 2, 3, 4], 3), side(9, &[5], 3)),
        "The first query returns 9 rows, 4 of them only here, such as (1); the second returns 9 rows, only here (5)."
    );
    let row = vec![Value::Int(7), Value::Null];
    assert_eq!(
        told(Failure::Unpaired { in_first: false, row, first: 2, second: 1 }),
        "The row (7, NULL) of the second result has no partner in the first one. \
         The first query returns 2 rows, the second 1 row."
    );
    assert_eq!(
        told(Failure::Hang { seconds: 10 }),
        "The statement ran for 10 s, past every limit, and had to be killed."
    );
}

/// A finding made of SQL, as a reduced one is.
fn found(dialect: &Dialect, oracle: &str, setup: &str, test: &str, failure: Failure) -> Finding {
    let read = |sql: &str| -> Vec<Statement> {
        let statements = crate::import::file("s.sql", sql, dialect).into_iter();
        statements.map(|imported| imported.statement).collect()
    };
    let class = match &failure {
        Failure::Harm { error, .. } if error.class == ErrorClass::Internal => Class::InternalError,
        Failure::Harm { .. } | Failure::Death { .. } => Class::Crash,
        Failure::Hang { .. } => Class::Hang,
        Failure::OneSided { .. } => Class::ErrorDivergence,
        Failure::Rows { first, second } if first.rows == second.rows => Class::WrongValues,
        _ => Class::WrongRows,
    };
    let returned = |label: &str, side: &Side| {
        let values: Vec<Value> = side.examples.iter().flatten().cloned().collect();
        let columns = side.examples.first().map_or(1, Vec::len);
        arm(label, test, rows(columns, values), None)
    };
    let arms = match &failure {
        Failure::Rows { first, second } => {
            vec![returned("without the index", first), returned("with the index", second)]
        }
        Failure::Counts { first, second } => {
            [first, second].map(|n| arm("count", test, rows(1, vec![Value::Int(*n)]), None)).into()
        }
        _ => vec![arm("statement", test, ArmOutcome::Done, None)],
    };
    let mut finding = finding(class, &[], arms);
    finding.dialect = dialect.name.to_string();
    finding.case = TestCase { setup: read(setup), subject: Subject::of(oracle, read(test)) };
    finding.evidence.failure = failure;
    finding
}

fn sides(first: &[&[i64]], second: &[&[i64]]) -> Failure {
    let side = |rows: &[&[i64]], other: &[&[i64]]| {
        let only: Vec<&&[i64]> = rows.iter().filter(|row| !other.contains(row)).collect();
        let values = |row: &&&[i64]| row.iter().map(|value| Value::Int(*value)).collect();
        Side { rows: rows.len(), only: only.len(), examples: only.iter().map(values).collect() }
    };
    Failure::Rows { first: side(first, second), second: side(second, first) }
}

fn error(class: ErrorClass, message: &str) -> SqlError {
    SqlError { class, code: String::new(), message: message.to_string() }
}

#[test]
fn titles_name_what_is_wrong() {
    let sqlite = sqlite();
    let mysql = Dialect::load("mysql", "9.7.0").unwrap();
    let two = "CREATE TABLE t0(c0); CREATE TABLE t1(c1);";
    let death = || Failure::Death {
        cause: "SIGSEGV".to_string(),
        running: true,
        out_of_memory: false,
        last_words: String::new(),
    };
    let cases = [
        (
            &sqlite,
            "norec",
            "CREATE TABLE t0(c0); CREATE TABLE t1(c1); CREATE INDEX i0 ON t1(c1) WHERE c1 IS NULL;",
            "SELECT 1 FROM t0 LEFT JOIN t1 ON c0 = c1 WHERE c1 BETWEEN 0 AND 1",
            Failure::Counts { first: 1, second: 0 },
        ),
        (
            &sqlite,
            "norec",
            "CREATE TABLE t0(c0); CREATE INDEX i0 ON t0(c0);",
            "SELECT 1 FROM t0 WHERE c0 IN (1, '1')",
            Failure::Counts { first: 1, second: 3 },
        ),
        (
            &sqlite,
            "norec",
            "CREATE TABLE t0(c0 INT PRIMARY KEY) WITHOUT ROWID;",
            "SELECT 1 FROM t0 WHERE c0 LIKE '%'",
            Failure::Counts { first: 0, second: 1 },
        ),
        (
            &sqlite,
            "index",
            "CREATE TABLE t0(c0 TEXT);",
            "SELECT DISTINCT c0 FROM t0 WHERE c0 = 9; CREATE UNIQUE INDEX i0 ON t0(c0) WHERE c0 = 1",
            sides(&[&[9]], &[]),
        ),
        (
            &sqlite,
            "index",
            "CREATE TABLE t0(c0 TEXT);",
            "SELECT SUM(c0) FROM t0; CREATE INDEX i0 ON t0(c0 + 1)",
            sides(&[&[9]], &[&[5]]),
        ),
        (
            &sqlite,
            "order",
            "CREATE TABLE t0(c0 INT); CREATE VIEW v0 AS SELECT * FROM t0;",
            "SELECT c0 FROM v0 ORDER BY c0 LIMIT 2",
            sides(&[&[1], &[3]], &[&[1], &[2]]),
        ),
        (&sqlite, "tlp-where", two, "SELECT * FROM t0 FULL JOIN t1 ON c0 GLOB c1", sides(&[&[1]], &[])),
        (&sqlite, "tlp-aggregate", two, "SELECT MAX(c0) FROM t0", sides(&[&[1]], &[&[2]])),
        (&sqlite, "joinequiv", two, "SELECT c0, c1 FROM t0 JOIN t1 ON c0 = c1", sides(&[&[1]], &[])),
        (
            &mysql,
            "plan",
            "CREATE TABLE t0(c0 INT);",
            "SELECT COUNT(*) FROM t0 WHERE c0 IN (SELECT c0 FROM t0); SET optimizer_switch = 'semijoin=off'",
            sides(&[&[1]], &[&[2]]),
        ),
        (
            &sqlite,
            "rowid",
            "CREATE TABLE t0(c0 INT NOT NULL PRIMARY KEY) WITHOUT ROWID;",
            "SELECT * FROM t0 WHERE c0 = 9 OR c0 > 5",
            sides(&[&[1]], &[]),
        ),
        (&sqlite, "epsc", "", "CREATE TABLE t0(c0); SELECT COUNT(*) AND 0 FROM t0", sides(&[], &[&[0]])),
        (
            &sqlite,
            "valscope",
            "CREATE TABLE t0(c0);",
            "SELECT ROW_NUMBER() OVER (ORDER BY c0) FROM t0 WHERE NOT EXISTS (SELECT 1)",
            Failure::Lengths { first: 1, second: 0 },
        ),
        (
            &mysql,
            "edc",
            "CREATE TABLE e0(c0 DATE);",
            "SELECT ADDDATE(c0, 1) FROM e0 WHERE ADDDATE(c0, 1) > '2000-01-01'",
            sides(&[&[1]], &[]),
        ),
        (
            &mysql,
            "crash",
            "CREATE TABLE t0(c0 INT);",
            "SELECT 0 FROM t0 GROUP BY c0 HAVING 1 AND NOT c0",
            Failure::Harm { error: error(ErrorClass::ConnectionLost, "gone"), stack: Vec::new() },
        ),
        (
            &sqlite,
            "crash",
            "CREATE TABLE t0(c0);",
            "SELECT 1 UNION SELECT c0 FROM t0 WHERE (1, 2) = (3, 4)",
            death(),
        ),
        (
            &sqlite,
            "crash",
            "CREATE TABLE t0(c0);",
            "UPDATE t0 SET c0 = c0 || 1",
            Failure::Hang { seconds: 10 },
        ),
        (
            &sqlite,
            "crash",
            "CREATE TABLE t0(c0 PRIMARY KEY) WITHOUT ROWID; ALTER TABLE t0 ADD COLUMN c1 DEFAULT '';",
            "SELECT 0 FROM t0 NATURAL JOIN t0",
            Failure::Harm {
                error: error(ErrorClass::Internal, "database disk image is malformed"),
                stack: Vec::new(),
            },
        ),
        (
            &mysql,
            "tlp-where",
            two,
            "SELECT c0 FROM t0 WHERE EXP(c0) > 1",
            Failure::OneSided {
                error: error(ErrorClass::Runtime, "DOUBLE value is out of range in 'exp(`d`.`t0`.`c0`)'"),
            },
        ),
        (&sqlite, "crash", "", "FROBNICATE 1", death()),
        (
            &sqlite,
            "norec",
            two,
            "SELECT 1 FROM t0 WHERE c0 = 1",
            Failure::Described("in its words".to_string()),
        ),
    ];
    let titles: Vec<String> = cases
        .into_iter()
        .map(|(dialect, oracle, setup, test, failure)| {
            let title = title(&found(dialect, oracle, setup, test, failure), dialect);
            assert!(title.chars().count() <= super::title::LONGEST, "{title}");
            format!("{oracle}: {title}")
        })
        .collect();
    insta::assert_snapshot!(titles.join("\n"));
}

#[test]
fn export_to_sarif() {
    insta::assert_snapshot!(exported("sarif"));
}

#[test]
fn export_to_github_annotations() {
    insta::assert_snapshot!(exported("github-annotations"));
}

#[test]
fn export_to_github_issues() {
    let lines = exported("github-issue");
    let issues: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(issues.len(), 2);
    let fingerprint = issues[0]["fingerprint"].as_str().unwrap();
    assert!(issues[0]["body"].as_str().unwrap().contains(fingerprint));
    assert_eq!(issues[0]["title"], "WHERE with LIKE loses a row");
    assert_eq!(issues[1]["labels"], serde_json::json!(["dissent", "crash"]));
}

#[test]
fn a_fingerprint_is_that_of_the_bug() {
    let signed = |finding: Finding, feature: &str| {
        let mut finding = finding;
        finding.triage.signature = Some(Signature {
            fails: "wrong-result".to_string(),
            message: Vec::new(),
            features: [feature.to_string()].into(),
        });
        fingerprint(&finding)
    };
    let mut newer = wrong_rows();
    newer.engine_version = "3.31.0".to_string();
    newer.case.setup.clear();
    assert_eq!(signed(wrong_rows(), "like"), signed(newer, "like"));
    assert_ne!(signed(wrong_rows(), "like"), signed(wrong_rows(), "between"));
    assert_eq!(fingerprint(&wrong_rows()).len(), 16);
}

/// A query with two parameters that was asked as it is written and prepared.
fn prepared(dialect: &Dialect) -> Finding {
    let mut finding = found(
        dialect,
        "epsc",
        "",
        "CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (7); SELECT c0 FROM t0 WHERE c0 = 1",
        sides(&[], &[&[7]]),
    );
    let bound =
        Expr::binary(BinaryOp::Eq, Expr::bare_column("c0"), Expr::Bound(Value::Text("it's".to_string())));
    let Some(Statement::Query(query)) = finding.case.subject.tests.last_mut() else { panic!() };
    query.as_select_mut().unwrap().filter = Some(bound);
    finding
}

#[test]
fn prepared_statements_are_written_as_shells_run_them() {
    let scripts = ["sqlite", "mysql", "postgres", "duckdb"].map(|name| {
        let dialect = Dialect::load(name, "99").unwrap();
        repro(&prepared(&dialect), &dialect)
    });
    insta::assert_snapshot!(scripts.join("\n"));
}

/// A partition that lost its row, and the reference that says so.
#[test]
fn the_wrong_partition_is_shown_alone() {
    let dialect = sqlite();
    let mut finding = found(
        &dialect,
        "tlp-where",
        "CREATE TABLE t0(c0); INSERT INTO t0 VALUES (1);",
        "SELECT c0 FROM t0",
        sides(&[&[1]], &[]),
    );
    let one = Value::Int(1);
    let asked = |label: &str, sql: &str, columns: usize, values: Vec<Value>| {
        arm(label, sql, rows(columns, values), Some("SCAN t0"))
    };
    finding.evidence.relation =
        "the rows where p, NOT p and p IS NULL hold are together all rows of the query".to_string();
    finding.evidence.arms = vec![
        asked("all rows", "SELECT c0 FROM t0", 1, vec![one.clone()]),
        asked("rows where p", "SELECT c0 FROM t0 WHERE c0 BETWEEN 0 AND 2", 1, vec![]),
        asked("rows where NOT p", "SELECT c0 FROM t0 WHERE NOT c0 BETWEEN 0 AND 2", 1, vec![]),
        asked("rows where p IS NULL", "SELECT c0 FROM t0 WHERE (c0 BETWEEN 0 AND 2) IS NULL", 1, vec![]),
        asked(
            "every row, and whether p, NOT p and p IS NULL are true of it",
            "SELECT c0, (c0 BETWEEN 0 AND 2) IS TRUE, (NOT c0 BETWEEN 0 AND 2) IS TRUE, ((c0 BETWEEN 0 AND 2) IS NULL) IS TRUE FROM t0",
            4,
            vec![one.clone(), one, Value::Int(0), Value::Int(0)],
        ),
    ];
    finding.triage.engine.about = Some("3.30.1 2019-10-10 20:19:45 18db032d05".to_string());
    finding.triage.history = Some(History {
        last_good: Some("3.28.0".to_string()),
        first_bad: "3.29.0".to_string(),
        last_bad: "3.30.1".to_string(),
        first_good: Some("3.31.0".to_string()),
        ..History::default()
    });
    insta::assert_snapshot!(report(&finding, &dialect));
}
