//! Engines for tests: a scripted one, and one that returns wrong results on purpose.

use dissent_core::engine::{Engine, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

type Tamper = Box<dyn FnMut(&str, Reply) -> Reply>;
type Rewrite = Box<dyn FnMut(&str) -> String>;
type Answer = Box<dyn FnMut(&str) -> Result<Reply, Trouble>>;

/// Answers as the test says, and remembers what it was asked.
///
/// ```
/// use dissent_core::engine::{Engine, Reply, Rows};
/// use dissent_core::sql::Value;
/// use dissent_engine::fake::FakeEngine;
///
/// let one = Reply::Rows(Rows { columns: 1, values: vec![Value::Int(1)] });
/// let mut engine = FakeEngine::scripted([("CREATE", Reply::Done { changed: 0 }), ("SELECT", one.clone())]);
/// engine.execute("CREATE TABLE t(a)").unwrap();
/// assert_eq!(engine.execute("SELECT 1").unwrap(), one);
/// assert!(engine.execute("DROP TABLE t").is_err());
/// assert_eq!(engine.statements.len(), 3);
/// ```
pub struct FakeEngine {
    answer: Answer,
    version: String,
    /// Every statement since it was made.
    pub statements: Vec<String>,
    /// How often it was reset.
    pub resets: usize,
    /// The limits it was given last.
    pub limits: Limits,
}

impl FakeEngine {
    /// Answers every statement by this function.
    pub fn new(answer: impl FnMut(&str) -> Result<Reply, Trouble> + 'static) -> FakeEngine {
        FakeEngine {
            answer: Box::new(answer),
            version: "0.0.0".to_string(),
            statements: Vec::new(),
            resets: 0,
            limits: Limits::default(),
        }
    }

    /// Answers with the first entry whose text the statement contains; a statement that no entry
    /// knows is trouble.
    pub fn scripted<T: Into<String>>(script: impl IntoIterator<Item = (T, Reply)>) -> FakeEngine {
        let script: Vec<(String, Reply)> =
            script.into_iter().map(|(part, reply)| (part.into(), reply)).collect();
        FakeEngine::new(move |sql| match script.iter().find(|(part, _)| sql.contains(part.as_str())) {
            Some((_, reply)) => Ok(reply.clone()),
            None => Err(Trouble(format!("the script has no answer to: {sql}"))),
        })
    }

    /// Pretends to be another version: dialects depend on it.
    pub fn with_version(mut self, version: &str) -> FakeEngine {
        self.version = version.to_string();
        self
    }
}

impl Engine for FakeEngine {
    fn version(&self) -> &str {
        &self.version
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.resets += 1;
        Ok(())
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        self.statements.push(sql.to_string());
        (self.answer)(sql)
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Whatever it is: what is answered is decided when it runs.
    fn prepare(&mut self, sql: &str, _: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.statements.push(Prepared::told(sql));
        Ok(Ok(Prepared { number: self.statements.len() as u64, sql: sql.to_string() }))
    }

    /// The answer is looked up with the values written in the text.
    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let told = statement.told_with(values);
        self.execute(&told)
    }

    fn close_prepared(&mut self, _: Prepared) -> Result<(), Trouble> {
        Ok(())
    }
}

/// A real engine with a bug built in: every statement or every reply goes through a closure first. An oracle that does
/// not notice a dropped row is no oracle.
pub struct Tampered<E> {
    engine: E,
    rewrite: Rewrite,
    tamper: Tamper,
}

impl<E: Engine> Tampered<E> {
    /// Puts this function between an engine and its answers.
    pub fn new(engine: E, tamper: impl FnMut(&str, Reply) -> Reply + 'static) -> Tampered<E> {
        Tampered { engine, rewrite: Box::new(str::to_string), tamper: Box::new(tamper) }
    }

    /// Runs another statement than it was asked to.
    pub fn rewriting(engine: E, rewrite: impl FnMut(&str) -> String + 'static) -> Tampered<E> {
        Tampered { engine, rewrite: Box::new(rewrite), tamper: Box::new(|_, reply| reply) }
    }
}

impl<E: Engine> Engine for Tampered<E> {
    fn version(&self) -> &str {
        self.engine.version()
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.engine.reset()
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let reply = self.engine.execute(&(self.rewrite)(sql))?;
        Ok((self.tamper)(sql, reply))
    }

    fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }

    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.engine.prepare(&(self.rewrite)(sql), types)
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let reply = self.engine.execute_prepared(statement, values)?;
        Ok((self.tamper)(&statement.told_with(values), reply))
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.engine.close_prepared(statement)
    }

    fn save(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        self.engine.save()
    }

    fn open_saved(&mut self, saved: &[u8]) -> Result<bool, Trouble> {
        self.engine.open_saved(saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteEngine;

    #[test]
    fn a_tampered_engine_can_lose_a_row() {
        let mut engine = Tampered::new(SqliteEngine::bundled().unwrap(), |sql, mut reply| {
            if let Reply::Rows(rows) = &mut reply
                && sql.contains("WHERE")
            {
                rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
            }
            reply
        });
        let mut count = |sql: &str| match engine.execute(sql).unwrap() {
            Reply::Rows(rows) => rows.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(count("SELECT 1, 2 UNION SELECT 3, 4"), 2);
        assert_eq!(count("SELECT 1, 2 WHERE 1 UNION SELECT 3, 4"), 1);
    }
}
