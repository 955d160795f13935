//! Where a parameter may replace a literal, and how a statement is prepared.

use crate::dialect::{Dialect, ParameterType};
use crate::sql::visit::{Editor, edit_expr, edit_query, edit_statement};
use crate::sql::*;

/// What is known of the place of a literal.
pub struct Place<'a> {
    /// A parameter there means what the literal means.
    pub free: bool,
    /// The type of the cast right around it.
    pub cast: Option<&'a DataType>,
    /// It says how many rows there are to be, where a parameter may stand but no cast.
    pub bare: bool,
}

/// Calls `f` on each literal of a query or of a change of rows, bound or not, in the order in which they are
/// written.
pub fn each_literal(statement: &mut Statement, dialect: &Dialect, f: impl FnMut(&mut Expr, Place)) {
    let mut literals = Literals { dialect, f, free: true, bare: false };
    match statement {
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
            literals.statement(statement);
        }
        // What is defined is written down: there are no parameters in it.
        other => {
            literals.free = false;
            edit_statement(&mut literals, other);
        }
    }
}

struct Literals<'a, F> {
    dialect: &'a Dialect,
    f: F,
    free: bool,
    bare: bool,
}

impl<F: FnMut(&mut Expr, Place)> Literals<'_, F> {
    fn held<T>(&mut self, hold: bool, visit: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.free;
        self.free &= !hold;
        let visited = visit(self);
        self.free = before;
        visited
    }

    fn only_literals(&self, name: &str) -> bool {
        self.dialect.preparing.literal_only.iter().any(|listed| listed.eq_ignore_ascii_case(name))
    }
}

impl<F: FnMut(&mut Expr, Place)> Editor for Literals<'_, F> {
    fn query(&mut self, query: &mut Query) {
        let ordered = !query.order_by.is_empty();
        if let Some(with) = &mut query.with {
            // What ends a recursion, and the type its columns begin with, stay as they are.
            let recursive = with.recursive;
            self.held(recursive, |all| with.tables.iter_mut().for_each(|table| all.query(&mut table.query)));
        }
        // What is ordered by an item of the list has to find it there.
        match &mut query.body {
            Body::Select(select) if ordered => {
                self.held(true, |all| {
                    for item in &mut select.items {
                        if let SelectItem::Expr { expr, .. } = item {
                            all.expr(expr);
                        }
                    }
                });
                self.rest_of(select);
            }
            body => self.body(body),
        }
        // A number alone is a column there, a parameter is not.
        self.held(true, |all| query.order_by.iter_mut().for_each(|item| all.expr(&mut item.expr)));
        // Only a number of rows is one in both forms.
        let literal_only = self.dialect.spelling.typed_param.is_some();
        for bound in query.limit.iter_mut().chain(&mut query.offset) {
            let bare = std::mem::replace(&mut self.bare, self.dialect.preparing.bare_limit);
            self.held(literal_only || !is_count(bound), |all| all.expr(bound));
            self.bare = bare;
        }
    }

    fn select(&mut self, select: &mut Select) {
        // An item has to be found among the keys again.
        let computed = select.group_by.iter().any(|key| !matches!(key, Expr::Column(_)));
        self.held(computed, |all| {
            for item in &mut select.items {
                if let SelectItem::Expr { expr, .. } = item {
                    all.expr(expr);
                }
            }
        });
        self.rest_of(select);
    }

    fn expr(&mut self, expr: &mut Expr) {
        let cast = None;
        match expr {
            Expr::Literal(_) | Expr::Bound(_) => {
                let free = self.free;
                (self.f)(expr, Place { free, cast, bare: self.bare });
            }
            Expr::Cast { expr, ty } if matches!(**expr, Expr::Literal(_) | Expr::Bound(_)) => {
                let free = self.free;
                (self.f)(expr, Place { free, cast: Some(ty), bare: self.bare });
            }
            Expr::Match { expr, pattern, escape, .. } => {
                self.expr(expr);
                self.expr(pattern);
                if let Some(escape) = escape {
                    self.held(true, |all| all.expr(escape));
                }
            }
            // A truth value there is not written as one.
            Expr::Binary { op: BinaryOp::Same | BinaryOp::NotSame, left, right } => {
                self.expr(left);
                let truth = matches!(**right, Expr::Literal(Value::Bool(_)) | Expr::Bound(Value::Bool(_)));
                self.held(truth, |all| all.expr(right));
            }
            Expr::Window(_) => self.held(true, |all| edit_expr(all, expr)),
            Expr::Aggregate(aggregate) => {
                let hold = self.only_literals(&aggregate.name);
                self.held(hold, |all| {
                    aggregate.args.iter_mut().for_each(|arg| all.expr(arg));
                    all.held(true, |all| {
                        aggregate.order_by.iter_mut().for_each(|item| all.expr(&mut item.expr));
                    });
                    aggregate.filter.iter_mut().for_each(|filter| all.expr(filter));
                });
            }
            Expr::Function { name, args } | Expr::Operation { form: name, args } => {
                let hold = self.only_literals(name);
                self.held(hold, |all| {
                    for arg in args {
                        // A truth value is a number by the interface, which some functions tell apart.
                        let truth =
                            matches!(arg, Expr::Literal(Value::Bool(_)) | Expr::Bound(Value::Bool(_)));
                        all.held(truth, |all| all.expr(arg));
                    }
                });
            }
            other => edit_expr(self, other),
        }
    }
}

impl<F: FnMut(&mut Expr, Place)> Literals<'_, F> {
    /// The clauses of a SELECT after its list.
    fn rest_of(&mut self, select: &mut Select) {
        let computed = select.group_by.iter().any(|key| !matches!(key, Expr::Column(_)));
        select.from.iter_mut().for_each(|table| self.table(table));
        select.filter.iter_mut().for_each(|filter| self.expr(filter));
        self.held(true, |all| select.group_by.iter_mut().for_each(|key| all.expr(key)));
        self.held(computed, |all| select.having.iter_mut().for_each(|having| all.expr(having)));
        self.held(true, |all| {
            for window in &mut select.windows {
                window.spec.partition_by.iter_mut().for_each(|key| all.expr(key));
                window.spec.order_by.iter_mut().for_each(|item| all.expr(&mut item.expr));
            }
        });
    }
}

/// Why a statement's parameters do not mean what its literals mean, if so.
pub fn objection(statement: &Statement, types: &[ParameterType], dialect: &Dialect) -> Option<&'static str> {
    let mut objection = None;
    each_literal(&mut statement.clone(), dialect, |expr, place| {
        let Expr::Bound(value) = expr else { return };
        let found = if !place.free {
            Some("parameter where only a literal means the same")
        } else if !fits(value, &place, types) {
            Some("parameter with another type than its literal")
        } else {
            None
        };
        objection = objection.or(found);
    });
    objection
}

/// Whether a value may be a parameter under this cast: one of a type that needs none, or of the cast's type.
pub fn fits(value: &Value, place: &Place, types: &[ParameterType]) -> bool {
    types.iter().any(|ty| {
        let bare = ty.name.is_empty() || (place.bare && place.cast.is_none());
        ty.holds(value) && (bare || place.cast.is_some_and(|cast| *cast == ty.data_type()))
    })
}

/// A number of rows, as a literal.
fn is_count(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Value::Int(int)) | Expr::Bound(Value::Int(int)) => *int >= 0,
        Expr::Cast { expr, .. } => is_count(expr),
        _ => false,
    }
}

/// A statement with parameters for what is bound in it, and the types and values of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub statement: Statement,
    pub types: Vec<DataType>,
    pub values: Vec<Value>,
}

impl Template {
    pub fn of(statement: &Statement, dialect: &Dialect) -> Template {
        let mut template = Template { statement: statement.clone(), types: Vec::new(), values: Vec::new() };
        let (types, values) = (&mut template.types, &mut template.values);
        each_literal(&mut template.statement, dialect, |expr, place| {
            let Expr::Bound(value) = expr else { return };
            types.push(place.cast.cloned().unwrap_or_else(|| DataType::new("", value.kind())));
            values.push(value.clone());
            *expr = Expr::Param(values.len() as u32);
        });
        template
    }
}

/// A statement as it is written without parameters, with nothing marked to be bound.
pub fn unbound(statement: &Statement) -> Statement {
    struct Unbind;
    impl Editor for Unbind {
        fn expr(&mut self, expr: &mut Expr) {
            match expr {
                Expr::Bound(value) => *expr = Expr::Literal(value.clone()),
                other => edit_expr(self, other),
            }
        }
        fn query(&mut self, query: &mut Query) {
            edit_query(self, query);
        }
    }
    let mut plain = statement.clone();
    Unbind.statement(&mut plain);
    plain
}
