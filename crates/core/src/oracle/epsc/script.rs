//! Both arms as a script that the engine's own shell can run.

use super::case::{Case, Road};
use super::places::{Template, unbound};
use super::run::{contents, is_preparable, undo_statements};
use super::{ORDINARY, PREPARED, ROAD, SQL};
use crate::dialect::{Dialect, PrepareSyntax};
use crate::oracle::Step;
use crate::render::{expr_to_sql, to_sql};
use crate::sql::*;
use crate::subject::Subject;

/// The steps as they are written; then, once what they made is gone, prepared. By the interface or in SQL, a shell has
/// PREPARE where the engine has it, and its own way to bind parameters elsewhere.
pub fn script(subject: &Subject, dialect: &Dialect) -> Option<Vec<Step>> {
    let road = match (dialect.preparing.sql, &dialect.engine.bind) {
        (Some(syntax), _) => Road::Sql(syntax),
        (None, Some(_)) if subject.choice(ROAD) != Some(SQL) => Road::Interface,
        _ => return None,
    };
    let case = Case::of(&subject.tests, road);
    let run = |statement: &Statement| Step::Run(to_sql(statement, dialect));
    let mut steps = vec![Step::Label(ORDINARY.to_string())];
    steps.extend(case.steps.iter().map(|step| run(&unbound(step))));
    steps.extend(left_behind(&case, dialect));
    steps.push(Step::Outcome(0));
    steps.extend(undo_statements(&case).iter().map(run));
    steps.push(Step::Label(PREPARED.to_string()));
    let mut open: Vec<Statement> = Vec::new();
    for step in case.steps {
        match is_preparable(step) {
            true => steps.extend(prepared(step, road, &mut open, dialect)),
            false => steps.push(run(step)),
        }
    }
    steps.extend(left_behind(&case, dialect));
    steps.push(Step::Outcome(1));
    Some(steps)
}

/// Where no query shows what came of the steps, the rows of their tables do.
fn left_behind(case: &Case, dialect: &Dialect) -> Vec<Step> {
    match case.steps.last() {
        Some(Statement::Query(_)) => Vec::new(),
        _ => {
            let all = case.tables.iter().map(|table| Statement::from(contents(table)));
            all.map(|query| Step::Run(to_sql(&query, dialect))).collect()
        }
    }
}

/// A step as a shell runs it with parameters. A statement that differs from one that is open in its values only is
/// executed again.
fn prepared(step: &Statement, road: Road, open: &mut Vec<Statement>, dialect: &Dialect) -> Vec<Step> {
    let template = Template::of(step, dialect);
    let Road::Sql(syntax) = road else {
        let binds = template.values.iter().enumerate().map(|(at, value)| Step::Bind(at + 1, value.clone()));
        return binds.chain([Step::Run(to_sql(&template.statement, dialect))]).collect();
    };
    let mut steps = Vec::new();
    let known = open.iter().position(|statement| *statement == template.statement);
    let name = Name::from(format!("p{}", known.unwrap_or(open.len())));
    if known.is_none() {
        open.push(template.statement.clone());
        let types = match syntax {
            // The engine infers what is not named.
            PrepareSyntax::TypedAs if template.types.iter().all(|ty| !ty.name.is_empty()) => {
                template.types.clone()
            }
            _ => Vec::new(),
        };
        let statement = Box::new(template.statement);
        steps.push(Step::Run(to_sql(&Statement::Prepare { name: name.clone(), types, statement }, dialect)));
    }
    let literals = template.values.into_iter().map(Expr::Literal);
    let args: Vec<Expr> = match syntax {
        PrepareSyntax::FromText => {
            let variables: Vec<Name> =
                (1..=literals.len()).map(|number| Name::from(format!("@p{number}"))).collect();
            let given: Vec<String> = literals
                .zip(&variables)
                .map(|(value, variable)| format!("{variable} = {}", expr_to_sql(&value, dialect)))
                .collect();
            if !given.is_empty() {
                steps.push(Step::Run(format!("SET {}", given.join(", "))));
            }
            variables.into_iter().map(Expr::Raw).collect()
        }
        PrepareSyntax::As | PrepareSyntax::TypedAs => literals.collect(),
    };
    steps.push(Step::Run(to_sql(&Statement::Execute { name, args }, dialect)));
    steps
}
