//! An engine whose statements are traced: for statement logs, replays and benchmarks.

use dissent_core::engine::{Engine, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

/// Sees what an engine is asked and what it replies.
pub trait Tracer {
    fn reset(&mut self) {}
    fn before(&mut self, _sql: &str) {}
    fn after(&mut self, _sql: &str, _reply: &Reply) {}
}

pub struct TracedEngine<'a, E> {
    pub engine: E,
    pub tracer: &'a mut dyn Tracer,
}

impl<E: Engine> Engine for TracedEngine<'_, E> {
    fn version(&self) -> &str {
        self.engine.version()
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.tracer.reset();
        self.engine.reset()
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        self.tracer.before(sql);
        let reply = self.engine.execute(sql)?;
        self.tracer.after(sql, &reply);
        Ok(reply)
    }

    fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }

    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        let told = Prepared::told(sql);
        self.tracer.before(&told);
        let prepared = self.engine.prepare(sql, types)?;
        let reply = match &prepared {
            Ok(_) => Reply::Done { changed: 0 },
            Err(error) => Reply::Failed(error.clone()),
        };
        self.tracer.after(&told, &reply);
        Ok(prepared)
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let told = statement.told_with(values);
        self.tracer.before(&told);
        let reply = self.engine.execute_prepared(statement, values)?;
        self.tracer.after(&told, &reply);
        Ok(reply)
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.engine.close_prepared(statement)
    }

    fn save(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        self.engine.save()
    }

    fn open_saved(&mut self, saved: &[u8]) -> Result<bool, Trouble> {
        self.tracer.before("/* opened again */");
        let opened = self.engine.open_saved(saved)?;
        self.tracer.after("/* opened again */", &Reply::Done { changed: 0 });
        Ok(opened)
    }

    fn take_coverage(&mut self, passed: &mut dyn FnMut(u32)) -> Option<u32> {
        self.engine.take_coverage(passed)
    }
}
