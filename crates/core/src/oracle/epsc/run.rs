//! The two arms: the steps as they are written, and the steps prepared.

use super::case::{Case, Road};
use super::places::{Template, unbound};
use crate::dialect::PrepareSyntax;
use crate::engine::{Prepared, Reply, Stop};
use crate::render::to_sql;
use crate::session::Session;
use crate::sql::*;

/// A query or a change of rows: what every engine can prepare.
pub fn is_preparable(step: &Statement) -> bool {
    is_change(step) || matches!(step, Statement::Query(_))
}

pub fn is_change(step: &Statement) -> bool {
    matches!(step, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_))
}

/// Runs a step as it is written. What it changes is known should the engine go down later.
pub fn ordinarily(step: &Statement, session: &mut Session) -> Result<Reply, Stop> {
    match step {
        Statement::Query(query) => session.query(query),
        other => session.step(other),
    }
}

/// All rows of a table.
pub fn contents(table: &Name) -> Query {
    Query::select(Select {
        items: vec![SelectItem::Wildcard],
        from: vec![TableRef::table(table.clone())],
        ..Select::default()
    })
}

/// Leaves the database as it was before the steps.
pub fn undo(case: &Case, session: &mut Session) -> Result<(), Stop> {
    for statement in undo_statements(case) {
        session.scaffold(&statement)?;
    }
    Ok(())
}

pub fn undo_statements(case: &Case) -> Vec<Statement> {
    let views = case.views.iter().rev().map(|name| (ObjectKind::View, name));
    let tables = case.tables.iter().rev().map(|name| (ObjectKind::Table, name));
    let drop = |(object, name): (ObjectKind, &Name)| Statement::Drop {
        object,
        name: name.clone(),
        on: None,
        if_exists: true,
    };
    views.chain(tables).map(drop).collect()
}

/// The prepared arm while it runs: statements stay open until it ends, and are used again by a step that
/// differs from an earlier one in bound values only.
pub struct PreparedArm {
    road: Road,
    open: Vec<Open>,
}

struct Open {
    statement: Statement,
    handle: Handle,
}

#[derive(Clone)]
enum Handle {
    Interface(Prepared),
    Named(Name),
}

/// The result of a prepared step, and its text.
pub struct Ran {
    pub reply: Reply,
    pub told: String,
    /// It did run prepared.
    pub prepared: bool,
}

impl PreparedArm {
    pub fn new(road: Road) -> PreparedArm {
        PreparedArm { road, open: Vec::new() }
    }

    pub fn run(&mut self, step: &Statement, session: &mut Session) -> Result<Ran, Stop> {
        if is_preparable(step) {
            return self.execute(step, session);
        }
        if self.road == Road::Interface
            && session.dialect().preparing.definitions
            && let Ok(prepared) = session.prepare(step, &[])?
        {
            let reply = session.run_prepared(&prepared, &[])?;
            let told = session.last_sql().to_string();
            session.close_prepared(prepared)?;
            if !matches!(reply, Reply::Failed(_)) {
                session.scaffolded(step);
                return Ok(Ran { reply, told, prepared: true });
            }
            // Some engines find out only now that they cannot.
        }
        let reply = ordinarily(step, session)?;
        Ok(Ran { reply, told: session.last_sql().to_string(), prepared: false })
    }

    fn execute(&mut self, step: &Statement, session: &mut Session) -> Result<Ran, Stop> {
        let template = Template::of(step, session.dialect());
        let known = self.open.iter().find(|open| open.statement == template.statement);
        let mut told = String::new();
        let handle = match known.map(|open| open.handle.clone()) {
            Some(handle) => {
                session.note("epsc: statements run again");
                handle
            }
            None => match self.prepare(&template, session)? {
                Ok(handle) => {
                    if let Handle::Named(_) = handle {
                        told = format!("{};\n", session.last_sql());
                    }
                    self.open.push(Open { statement: template.statement.clone(), handle: handle.clone() });
                    handle
                }
                Err(reply) => {
                    return Ok(Ran { reply, told: session.last_sql().to_string(), prepared: true });
                }
            },
        };
        let reply = match &handle {
            Handle::Interface(prepared) => session.run_prepared(prepared, &template.values)?,
            Handle::Named(name) => self.call(name, &template.values, &mut told, session)?,
        };
        told += session.last_sql();
        if is_change(step) && !matches!(reply, Reply::Failed(_)) {
            session.scaffolded(&unbound(step));
        }
        Ok(Ran { reply, told, prepared: true })
    }

    fn prepare(&mut self, template: &Template, session: &mut Session) -> Result<Result<Handle, Reply>, Stop> {
        let syntax = match self.road {
            Road::Interface => {
                let prepared = session.prepare(&template.statement, &template.types)?;
                return Ok(prepared.map(Handle::Interface).map_err(Reply::Failed));
            }
            Road::Sql(syntax) => syntax,
        };
        let name = Name::from(format!("p{}", self.open.len()));
        let types = if syntax == PrepareSyntax::TypedAs { template.types.clone() } else { Vec::new() };
        let statement = Box::new(template.statement.clone());
        let prepare = Statement::Prepare { name: name.clone(), types, statement };
        Ok(match session.run(&prepare)? {
            failed @ Reply::Failed(_) => Err(failed),
            _ => Ok(Handle::Named(name)),
        })
    }

    /// EXECUTE, with the values in place or in variables.
    fn call(
        &self,
        name: &Name,
        values: &[Value],
        told: &mut String,
        session: &mut Session,
    ) -> Result<Reply, Stop> {
        let literals = values.iter().cloned().map(Expr::Literal);
        let args: Vec<Expr> = match self.road {
            Road::Sql(PrepareSyntax::FromText) => {
                let variable = |at: usize| format!("@p{}", at + 1);
                let given: Vec<String> = literals
                    .enumerate()
                    .map(|(at, value)| {
                        let value = crate::render::expr_to_sql(&value, session.dialect());
                        format!("{} = {value}", variable(at))
                    })
                    .collect();
                if !given.is_empty() {
                    let set = Statement::Raw(format!("SET {}", given.join(", ")));
                    if let failed @ Reply::Failed(_) = session.run(&set)? {
                        return Ok(failed);
                    }
                    *told += &format!("{};\n", to_sql(&set, session.dialect()));
                }
                (0..values.len()).map(|at| Expr::Raw(Name::from(variable(at)))).collect()
            }
            _ => literals.collect(),
        };
        session.run(&Statement::Execute { name: name.clone(), args })
    }

    /// Has the engine forget everything that is open.
    pub fn close(self, session: &mut Session) -> Result<(), Stop> {
        for open in self.open {
            match open.handle {
                Handle::Interface(prepared) => session.close_prepared(prepared)?,
                Handle::Named(name) => drop(session.run(&Statement::Deallocate(name))?),
            }
        }
        Ok(())
    }
}
