//! An engine with someone listening: for logs of statements and for replays.

use dissent_core::engine::{Engine, Limits, Reply, Trouble};

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
}
