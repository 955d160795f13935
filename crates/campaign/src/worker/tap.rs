//! An engine with someone listening: for logs of statements and for replays.

use dissent_core::engine::{Engine, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

pub trait Listener {
    fn reset(&mut self) {}
    fn before(&mut self, _sql: &str) {}
    fn after(&mut self, _sql: &str, _reply: &Reply) {}
}

pub struct Tap<'a, E> {
    pub engine: E,
    pub listener: &'a mut dyn Listener,
}

impl<E: Engine> Engine for Tap<'_, E> {
    fn version(&self) -> &str {
        self.engine.version()
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.listener.reset();
        self.engine.reset()
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        self.listener.before(sql);
        let reply = self.engine.execute(sql)?;
        self.listener.after(sql, &reply);
        Ok(reply)
    }

    fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }

    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        let told = Prepared::told(sql);
        self.listener.before(&told);
        let prepared = self.engine.prepare(sql, types)?;
        let reply = match &prepared {
            Ok(_) => Reply::Done { changed: 0 },
            Err(error) => Reply::Failed(error.clone()),
        };
        self.listener.after(&told, &reply);
        Ok(prepared)
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let told = statement.told_with(values);
        self.listener.before(&told);
        let reply = self.engine.execute_prepared(statement, values)?;
        self.listener.after(&told, &reply);
        Ok(reply)
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.engine.close_prepared(statement)
    }

    fn take_coverage(&mut self, passed: &mut dyn FnMut(u32)) -> Option<u32> {
        self.engine.take_coverage(passed)
    }
}
