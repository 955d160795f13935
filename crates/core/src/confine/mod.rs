//! What SQL from outside may reach: scripts, seeds, findings and what a campaign kept.
//!
//! On an engine of our own, it may do everything but leave the engine: no files, programs, other machines or foreign
//! code. (The engine itself is a second wall there.) On a server that others use, it may only touch the database that
//! Dissent made: the dialect's file lists the kinds of statement that stay inside one, and everything else is refused.
//! A name with a dot may be another database, so it counts as a column only where Dissent has a tree for the statement:
//! names of tables have no dots there.
//!
//! What Dissent generates itself is not looked at.

mod signs;

use crate::dialect::{Confines, Dialect, Escape};
use crate::guide::Entry;
use crate::import::{self, Imported};
use crate::render::to_sql;
use crate::sql::visit::{Visitor, walk_expr, walk_select};
use crate::sql::{Expr, Query, Select, SelectItem, Statement};
use crate::subject::TestCase;
use signs::{Sign, signs};

/// Where statements run, and so what they must not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On an engine of our own.
    OwnEngine,
    /// On a server that others use.
    SharedServer,
}

/// Words before the kind of thing that a statement makes or removes.
const MODIFIERS: [&str; 10] = [
    "or",
    "replace",
    "temporary",
    "temp",
    "unique",
    "unlogged",
    "fulltext",
    "spatial",
    "materialized",
    "recursive",
];
/// A statement with one of these may change a table.
const WRITES: [&str; 9] =
    ["insert", "update", "delete", "merge", "truncate", "alter", "drop", "create", "replace"];

/// Looks at statements from outside before they run.
#[derive(Clone, Copy, Debug)]
pub struct Confinement<'a> {
    dialect: &'a Dialect,
    place: Place,
}

impl<'a> Confinement<'a> {
    /// For statements of this dialect that are to run there.
    pub fn new(dialect: &'a Dialect, place: Place) -> Confinement<'a> {
        Confinement { dialect, place }
    }

    /// Why a statement must not run; `None`: it may.
    pub fn refusal(&self, text: &str) -> Option<String> {
        // What Dissent itself says to every session.
        let engine = &self.dialect.engine;
        if engine.session.iter().chain(&engine.defaults).any(|own| own == text) {
            return None;
        }
        self.look(text, true)
    }

    /// Why a statement must not run, as it is written.
    pub fn refusal_of(&self, statement: &Statement) -> Option<String> {
        self.refusal(&to_sql(statement, self.dialect))
    }

    /// Why a test case must not be checked: which of its statements is refused, and why.
    pub fn refusal_of_case(&self, case: &TestCase) -> Option<String> {
        let subject = &case.subject;
        let expr = |expr: &Expr| {
            let items = vec![SelectItem::from(expr.clone())];
            Statement::from(Query::select(Select { items, ..Select::default() }))
        };
        let written = |statement: &Statement| to_sql(statement, self.dialect);
        let statements = case.setup.iter().chain(&subject.tests).map(written);
        let exprs = subject.exprs.iter().map(|own| written(&expr(own)));
        let told = |text: String| Some(format!("{} ({})", self.refusal(&text)?, shortened(&text)));
        let mut choices = subject.choices.values().filter_map(|choice| self.look(choice, false));
        statements.chain(exprs).find_map(told).or_else(|| choices.next())
    }

    /// Takes the statements of a script that must not run out of it: their lines and why.
    pub fn take_refused(&self, script: &mut Vec<Imported>) -> Vec<(usize, String)> {
        let mut refused = Vec::new();
        script.retain(|imported| match self.refusal(&imported.text) {
            Some(why) => {
                refused.push((imported.line, why));
                false
            }
            None => true,
        });
        refused
    }

    /// Why a database that was kept must not be built.
    pub fn refusal_of_entry(&self, entry: &Entry) -> Option<String> {
        let queries = entry.queries.iter().map(|query| Statement::from(query.clone()));
        let refused = |statement: &Statement| self.refusal_of(statement);
        entry.setup.iter().find_map(refused).or_else(|| queries.into_iter().find_map(|query| refused(&query)))
    }

    /// `whole`: it is a statement, and no part of one.
    fn look(&self, text: &str, whole: bool) -> Option<String> {
        let confines = &self.dialect.confines;
        let shared = self.place == Place::SharedServer;
        let Some(mut signs) = signs(text, self.dialect) else {
            return shared.then(|| "it cannot be split into words".to_string());
        };
        if shared && let Some(why) = unclear(text, &signs, confines) {
            return Some(why);
        }
        signs.retain(|sign| *sign != Sign::Comment);
        let escape = |escapes: &[Escape]| escapes.iter().find_map(|escape| used(escape, &signs));
        let machine = || escape(&confines.machine).or_else(|| foreign_engine(&signs, confines));
        if !shared {
            return machine();
        }
        machine()
            .or_else(|| escape(&confines.server))
            .or_else(|| system_table_changed(&signs, confines))
            .or_else(|| whole.then(|| self.kind(&signs)).flatten())
            .or_else(|| self.names(text, &signs))
    }

    /// Whether the statement is of a kind that stays inside a database.
    fn kind(&self, signs: &[Sign]) -> Option<String> {
        let mut words = signs.iter().skip_while(|sign| **sign == Sign::Open);
        let Some(first) = words.next().and_then(Sign::word) else {
            return Some("it does not begin with a word".to_string());
        };
        let rest: Vec<&Sign> = words.collect();
        match first {
            "set" => return self.setting(&rest),
            "prepare" => return self.prepared(&rest),
            _ => {}
        }
        let object = rest.iter().filter_map(|sign| sign.word()).find(|word| !MODIFIERS.contains(word));
        let kind = |object: &str| format!("{first} {object}");
        let listed = |kind: &str| {
            self.dialect.confines.statements.iter().any(|listed| listed.eq_ignore_ascii_case(kind))
        };
        if listed(first) || object.is_some_and(|object| listed(&kind(object))) {
            return None;
        }
        let told = match (first, object) {
            ("create" | "alter" | "drop" | "start" | "load" | "lock" | "execute", Some(object)) => {
                kind(object)
            }
            _ => first.to_string(),
        };
        Some(format!("{} may reach beyond the database that Dissent made", told.to_uppercase()))
    }

    /// Whether every setting is one of the session that Dissent changes as well, or a variable of the user's.
    fn setting(&self, rest: &[&Sign]) -> Option<String> {
        let mut depth = 0;
        let assignments = rest.split(|sign| {
            match sign {
                Sign::Open => depth += 1,
                Sign::Close => depth -= 1,
                _ => {}
            }
            depth == 0 && **sign == Sign::Comma
        });
        assignments.into_iter().find_map(|assignment| {
            let mut words = assignment.iter().skip_while(|sign| sign.is("session") || sign.is("local"));
            let name = words.next().and_then(|sign| sign.word()).unwrap_or("SET of no setting");
            let own = name.starts_with('@') && !name.starts_with("@@");
            let known = self.dialect.varies(name);
            let assigned = matches!(words.next(), Some(Sign::Other(sign)) if sign == "=" || sign == ":=")
                || assignment.get(1).is_some_and(|sign| sign.is("to"));
            (!assigned || !(own || known)).then(|| {
                format!("SET {name}: not a setting that Dissent changes on a server that others use")
            })
        })
    }

    /// A statement that is prepared is looked at like any other.
    fn prepared(&self, rest: &[&Sign]) -> Option<String> {
        match rest {
            [_, from, Sign::Text(text)] if from.is("from") => self.refusal(text),
            [_, from, ..] if from.is("from") => {
                Some("PREPARE from something other than a literal".to_string())
            }
            _ => None,
        }
    }

    /// Whether a name with a dot may be a table of another database.
    fn names(&self, text: &str, signs: &[Sign]) -> Option<String> {
        if !self.dialect.confines.databases {
            return None;
        }
        let dots = signs.iter().filter(|sign| **sign == Sign::Dot).count();
        // A parameter is no part of a tree that a text becomes; any value says the same about names.
        let tree = || import::statement(&text.replace('?', "1"), 1, self.dialect).statement;
        if dots == 0 || qualified(&tree()) == Some(dots) {
            return None;
        }
        let at = signs.iter().position(|sign| *sign == Sign::Dot)?;
        let part = |at: Option<usize>| at.and_then(|at| signs.get(at)?.word()).unwrap_or("…").to_string();
        let name = format!("{}.{}", part(at.checked_sub(1)), part(Some(at + 1)));
        Some(format!("{name} may be in another database"))
    }
}

/// What a server may read otherwise than we do.
fn unclear(text: &str, signs: &[Sign], confines: &Confines) -> Option<String> {
    if let Some(mark) = confines.run_comments.iter().find(|mark| text.contains(mark.as_str())) {
        return Some(format!("the server runs the text in a comment that begins with {mark}"));
    }
    if signs.contains(&Sign::Comment) {
        return Some("it has a comment, which the server may read differently".to_string());
    }
    let strange = |sign: &Sign| match sign {
        Sign::Other(text) => text.chars().any(char::is_control) || (confines.databases && text.contains('#')),
        _ => false,
    };
    if signs.iter().any(strange) {
        return Some("it has characters that the server may read as a comment".to_string());
    }
    let escaped = |three: &[Sign]| {
        three[0].is("u")
            && matches!(&three[1], Sign::Other(sign) if sign == "&")
            && matches!(three[2], Sign::Word { quoted: true, .. })
    };
    if signs.windows(3).any(escaped) {
        return Some("it has a name in Unicode escapes".to_string());
    }
    let end = signs.iter().rposition(|sign| *sign != Sign::Semicolon).map_or(0, |last| last + 1);
    signs[..end].contains(&Sign::Semicolon).then(|| "it contains several statements".to_string())
}

/// The first of these ways out that a statement uses.
fn used(escape: &Escape, signs: &[Sign]) -> Option<String> {
    let called = |two: &[Sign]| match two {
        [Sign::Word { text, .. }, Sign::Open] if escape.has_function(text) => Some(format!("{text}()")),
        _ => None,
    };
    let function = signs.windows(2).find_map(called);
    let words = || escape.words.iter().find(|words| stand_in(words, signs)).cloned();
    let what = function.or_else(|| words().map(|words| words.trim_start_matches('^').to_uppercase()))?;
    Some(format!("{what} {}", escape.reason))
}

/// Whether these words follow each other somewhere, or where a statement begins.
fn stand_in(words: &str, signs: &[Sign]) -> bool {
    let anchored = words.starts_with('^');
    let words: Vec<&str> = words.trim_start_matches('^').split(' ').collect();
    let fits = |signs: &[Sign]| signs.iter().zip(&words).all(|(sign, word)| *word == "*" || sign.is(word));
    match anchored {
        // Some engines run several statements that arrive as one, and what EXPLAIN ANALYZE explains.
        true => signs.split(|sign| *sign == Sign::Semicolon).any(|statement| match statement.first() {
            Some(first) if first.is("explain") => statement.windows(words.len()).any(fits),
            _ => statement.get(..words.len()).is_some_and(fits),
        }),
        false => signs.windows(words.len()).any(fits),
    }
}

/// A storage engine that keeps its rows elsewhere: `ENGINE = FEDERATED`.
fn foreign_engine(signs: &[Sign], confines: &Confines) -> Option<String> {
    if !signs.first().is_some_and(|first| first.is("create") || first.is("alter")) {
        return None;
    }
    let (mut depth, mut of_partitions) = (0, false);
    // A column may have that name; partitions are listed behind the columns and may have engines of their own.
    let named = signs.iter().enumerate().filter(move |(_, sign)| {
        depth += i32::from(**sign == Sign::Open) - i32::from(**sign == Sign::Close);
        of_partitions |= sign.is("partition");
        (depth == 0 || of_partitions) && sign.is("engine")
    });
    let engines = named.filter_map(|(at, _)| {
        let rest = signs.get(at + 1..)?;
        let rest = match rest.first() {
            Some(Sign::Other(sign)) if sign == "=" => &rest[1..],
            _ => rest,
        };
        match rest.first()? {
            Sign::Word { text, .. } | Sign::Text(text) => Some(text),
            _ => None,
        }
    });
    let foreign = engines.into_iter().find(|engine| !confines.knows_engine(engine))?;
    Some(format!("ENGINE {foreign} may keep its rows outside the server"))
}

/// A table of the server itself in a statement that changes something.
fn system_table_changed(signs: &[Sign], confines: &Confines) -> Option<String> {
    if !signs.iter().any(|sign| WRITES.iter().any(|word| sign.is(word))) {
        return None;
    }
    let words = signs.iter().filter_map(Sign::word);
    let name = words.into_iter().find(|word| confines.is_system(word))?;
    Some(format!("{name} belongs to the server"))
}

/// How many columns of a statement, and `*`, have the name of a table before them; `None`: it is text.
fn qualified(statement: &Statement) -> Option<usize> {
    struct Qualified(usize);
    impl Visitor for Qualified {
        fn expr(&mut self, expr: &Expr) {
            self.0 += usize::from(matches!(expr, Expr::Column(column) if column.table.is_some()));
            walk_expr(self, expr);
        }
        fn select(&mut self, select: &Select) {
            let whole = |item: &&SelectItem| matches!(item, SelectItem::TableWildcard(_));
            self.0 += select.items.iter().filter(whole).count();
            walk_select(self, select);
        }
    }
    if matches!(statement, Statement::Raw(_)) {
        return None;
    }
    let mut found = Qualified(0);
    found.statement(statement);
    Some(found.0)
}

/// The beginning of a statement, for a message.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests;
