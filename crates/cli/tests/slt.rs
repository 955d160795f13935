//! Exported sqllogictest records, run by sqllogictest's own runner: they fail on the engine that has the bug and pass on
//! one that has not.

mod support;

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use dissent_core::engine::{Reply, SqlError};
use dissent_core::sql::Value;
use dissent_engine::Target;
use sqllogictest::{DBOutput, DefaultColumnType, Runner};
use support::{dissent, run};

/// An engine in a thread of its own: it may not leave the one that opened it.
struct Database {
    ask: Sender<String>,
    answer: Receiver<Result<DBOutput<DefaultColumnType>, SqlError>>,
}

impl Database {
    fn of(target: &str) -> Database {
        let target = target.to_string();
        let ((ask, asked), (answered, answer)) = (channel::<String>(), channel());
        std::thread::spawn(move || {
            let source = Target::parse(&target).unwrap().obtain(&mut |_| {}).unwrap();
            let mut engine = source.open().unwrap();
            engine.reset().unwrap();
            for sql in asked {
                let reply = engine.execute(&sql).unwrap();
                if answered.send(output(reply)).is_err() {
                    return;
                }
            }
        });
        Database { ask, answer }
    }
}

fn output(reply: Reply) -> Result<DBOutput<DefaultColumnType>, SqlError> {
    let cell = |value: &Value| match value {
        Value::Null => "NULL".to_string(),
        Value::Real(real) => format!("{real:.3}"),
        Value::Text(text) if text.is_empty() => "(empty)".to_string(),
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    };
    match reply {
        Reply::Rows(rows) => Ok(DBOutput::Rows {
            types: vec![DefaultColumnType::Any; rows.columns],
            rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }),
        Reply::Done { changed } => Ok(DBOutput::StatementComplete(changed)),
        Reply::Failed(error) => Err(error),
    }
}

impl sqllogictest::DB for Database {
    type Error = SqlError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, SqlError> {
        self.ask.send(sql.to_string()).unwrap();
        self.answer.recv().unwrap()
    }
}

fn passes(records: &str, target: &str) -> Result<(), String> {
    let target = target.to_string();
    let mut runner = Runner::new(|| async { Ok::<_, SqlError>(Database::of(&target)) });
    // One value a line, as the first runner had it.
    let script = format!("control resultmode valuewise\n\n{records}");
    runner.run_script(&script).map_err(|error| error.to_string())
}

#[test]
fn records_fail_with_the_bug_and_pass_without() {
    const BAD: &str = "sqlite@3.29.0";
    let directory = tempfile::tempdir().unwrap();
    let installed = run(dissent(directory.path()).args(["engines", "install", BAD]));
    if installed.code != Some(0) {
        let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
        assert!(!required, "{BAD} is required: {}", installed.stderr);
        eprintln!("SKIPPED, not passed: {BAD} cannot be obtained: {}", installed.stderr);
        return;
    }
    let bugs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bugs/sqlite");
    // What WHERE loses, and what an index and a partition lose.
    for (script, oracle) in [
        ("in-converts-constant.sql", "norec"),
        ("partial-index-between.sql", "index"),
        ("in-converts-constant.sql", "tlp-where"),
    ] {
        let out = format!("{oracle}-out");
        let script = bugs.join(script);
        let checked = run(dissent(directory.path()).args([
            "check",
            script.to_str().unwrap(),
            "--target",
            BAD,
            "--oracles",
            oracle,
            "--out",
            &out,
        ]));
        assert_eq!(checked.code, Some(1), "{oracle}: {}\n{}", checked.stdout, checked.stderr);
        let exported = run(dissent(directory.path()).args(["report", &out, "--format", "slt"]));
        let failure = passes(&exported.stdout, BAD);
        assert!(failure.is_err(), "{oracle} passes with the bug:\n{}", exported.stdout);
        let failure = passes(&exported.stdout, "sqlite");
        assert!(failure.is_ok(), "{oracle} fails without it: {failure:?}\n{}", exported.stdout);
    }
}
