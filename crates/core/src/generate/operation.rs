//! Operations of the engine's catalog: every usable one can be generated, with arguments of its types.

use super::{Generator, choices};
use crate::catalog::{Arg, Entry, Repertoire, Signature};
use crate::dialect::Feature;
use crate::sql::*;
use crate::state::Column;

choices! {
    odds {
        /// Casts are many and alike.
        CASTS = "operation.cast": 12,
        /// Where any operand is converted, sometimes any operation will do.
        OF_ANY_KIND = "operation.any-kind": 25,
        /// Less with each time that it failed in this database.
        FAILED_BEFORE = "operation.failed-before": 40,
        /// It raises errors on some values.
        FRAGILE = "operation.fragile": 35,
        TYPICAL_CONSTANT = "operation.constant.typical": 70,
        TYPICAL_ARGUMENT = "operation.fragile.typical": 75,
        NESTED = "operation.argument.nested": 30,
        COLUMN = "operation.argument.column": 75,
        NULL = "operation.argument.null": 6,
        OUTER_COLUMN = "operation.argument.outer-column": 20,
        NOT_NULL = "operation.condition.not-null": 65,
        OPAQUE = "operation.condition.opaque": 60,
        BARE = "operation.condition.bare": 80,
        NULL_TEST = "operation.condition.null-test": 12,
        COMPARED_WITH_COLUMN = "operation.condition.column": 50,
    }
    choose {
        NUMBER: Kind = "operation.number" { Int: 1, Real: 1, Decimal: 1 },
        EQUALITY: BinaryOp = "operation.condition.equality" { Eq: 1, Ne: 1 },
    }
}

/// What happened to each operation in the statements of one database. It follows from these statements and
/// the engine's answers alone, so the same seed still gives the same cases.
#[derive(Clone, Debug, Default)]
pub struct Luck {
    /// By the catalog's numbers: how often a statement with it failed, less how often one succeeded.
    failures: std::collections::HashMap<u32, i32>,
}

impl Luck {
    /// Records what happened to a statement with these operations.
    pub fn note(&mut self, operations: &[u32], succeeded: bool) {
        for operation in operations {
            let failures = self.failures.entry(*operation).or_insert(0);
            *failures = (*failures + if succeeded { -1 } else { 1 }).clamp(-3, 3);
        }
    }

    fn failures(&self, operation: u32) -> i32 {
        self.failures.get(&operation).copied().unwrap_or(0)
    }
}

/// One signature of an entry.
type Place = (u32, u16);

impl<'a> Generator<'a> {
    fn repertoire(&self) -> &'a Repertoire {
        &self.dialect.repertoire
    }

    /// A condition about any operation: all of them are as likely, whatever they return.
    pub(super) fn operation_predicate(&mut self, depth: usize) -> Expr {
        let repertoire = self.repertoire();
        for _ in 0..6 {
            let casts = repertoire.casts_from == 0 || self.odds(&CASTS);
            let range = if casts { 0..repertoire.entries.len() } else { 0..repertoire.casts_from };
            let at = self.rng.below(range.len());
            let signature = self.rng.below(repertoire.entries[at].signatures.len());
            let place = (at as u32, signature as u16);
            if self.may_draw(place) {
                let call = self.call(place, depth);
                return self.condition_on(call, repertoire.entries[at].signatures[signature].returns);
            }
        }
        self.predicate(depth)
    }

    /// Any operation of the catalog, with the kind of its values where that is known.
    pub fn any_operation(&mut self, depth: usize) -> Option<(Expr, Kind)> {
        let repertoire = self.repertoire();
        let at = self.rng.below(repertoire.entries.len().max(1));
        let entry = repertoire.entries.get(at)?;
        let signature = self.rng.below(entry.signatures.len());
        let returns = entry.signatures[signature].returns;
        let place = (at as u32, signature as u16);
        let kind = returns.map_or(Kind::Any, |ty| repertoire.types[ty as usize].kind);
        self.may_draw(place).then(|| (self.call(place, depth), kind))
    }

    /// An operation whose values are of the kind.
    pub(super) fn operation_of_kind(&mut self, kind: Kind, depth: usize) -> Option<Expr> {
        let repertoire = self.repertoire();
        let places = match kind {
            Kind::Any if self.dialect.is_typed() => return None,
            _ if !self.dialect.is_typed() && self.odds(&OF_ANY_KIND) => {
                let at = self.rng.below(repertoire.entries.len());
                let signature = self.rng.below(repertoire.entries[at].signatures.len());
                let place = (at as u32, signature as u16);
                return self.may_draw(place).then(|| self.call(place, depth));
            }
            Kind::Decimal if !self.dialect.is_typed() => repertoire.of_kind(self.choose(&NUMBER)),
            kind => repertoire.of_kind(kind),
        };
        self.draw_from(places, depth)
    }

    fn draw_from(&mut self, places: &'a [Place], depth: usize) -> Option<Expr> {
        for _ in 0..4 {
            let place = *self.rng.choose(places)?;
            if self.may_draw(place) {
                return Some(self.call(place, depth));
            }
        }
        None
    }

    /// What keeps failing here is tried less; what raises errors is kept out of schemas.
    fn may_draw(&mut self, (entry, signature): Place) -> bool {
        let entry = &self.repertoire().entries[entry as usize];
        let fragile = entry.signatures[signature as usize].fragile;
        // JSON in text is marked as such, and the mark is lost when it is stored (SOUNDNESS 2).
        let marked = |ty: u16| self.repertoire().types[ty as usize].pseudo;
        let marked = entry.signatures[signature as usize].returns.is_some_and(marked);
        if self.rules.indexable && (fragile || marked || !entry.indexable) {
            return false;
        }
        let failures = self.luck.map_or(0, |luck| luck.failures(entry.number));
        if failures > 0 && !self.scaled_odds(&FAILED_BEFORE, |percent| percent / failures as u32) {
            return false;
        }
        !fragile || self.odds(&FRAGILE)
    }

    fn call(&mut self, (entry, signature): Place, depth: usize) -> Expr {
        let entry: &'a Entry = &self.repertoire().entries[entry as usize];
        let signature: &'a Signature = &entry.signatures[signature as usize];
        self.drawn_operations.push(entry.number);
        let args: Vec<Expr> =
            signature.args.iter().map(|arg| self.argument(arg, signature.fragile, depth)).collect();
        match &entry.form {
            Some(form) => operation(form, args),
            None => Expr::function(entry.name.clone(), args),
        }
    }

    fn argument(&mut self, arg: &Arg, fragile: bool, depth: usize) -> Expr {
        let ty = *self.rng.pick(&arg.types);
        if arg.constant {
            let at = if self.odds(&TYPICAL_CONSTANT) { 0 } else { self.rng.below(3) };
            return self.repertoire().types[ty as usize].value(if fragile { 0 } else { at });
        }
        // What raises errors on values that are not typical gets typical ones.
        if fragile && self.odds(&TYPICAL_ARGUMENT) {
            return self.repertoire().types[ty as usize].value(0);
        }
        // An argument that not every type can be is not converted either.
        let strict = self.dialect.is_typed() || arg.types.len() < self.repertoire().types.len();
        if strict { self.of_type(ty, depth) } else { self.value_expr(Kind::Any, depth.min(1)) }
    }

    /// An expression of exactly this type.
    fn of_type(&mut self, ty: u16, depth: usize) -> Expr {
        let repertoire = self.repertoire();
        let sample = &repertoire.types[ty as usize];
        if depth > 0
            && self.odds(&NESTED)
            && let Some(nested) = self.draw_from(repertoire.returning(ty), depth - 1)
        {
            return nested;
        }
        let from = self.inner_or_outer();
        if self.odds(&COLUMN)
            && !sample.pseudo
            && let Some(column) = self.column_of_type(from, ty)
        {
            return column;
        }
        if self.odds(&NULL) {
            return sample.null(self.dialect.is_typed());
        }
        sample.value(self.rng.below(3))
    }

    fn inner_or_outer(&mut self) -> usize {
        if self.inner > 0 && self.odds(&OUTER_COLUMN) { 0 } else { self.inner }
    }

    /// A column in scope from that relation on that was declared with the type.
    pub(super) fn column_of_type(&mut self, from: usize, ty: u16) -> Option<Expr> {
        let count: usize = self.scope[from..].iter().map(|relation| relation.columns.len()).sum();
        if count == 0 {
            return None;
        }
        // Each in turn, from anywhere on.
        let start = self.rng.below(count);
        let columns = || {
            self.scope[from..]
                .iter()
                .flat_map(|relation| relation.columns.iter().map(move |column| (relation, column)))
        };
        let repertoire = self.repertoire();
        let typed = self.dialect.is_typed();
        let sample = &repertoire.types[ty as usize];
        let fits = |column: &Column| match typed {
            true => repertoire.type_of_column(&column.ty.name) == Some(ty),
            false => column.ty.kind == sample.kind && sample.literal.is_none(),
        };
        let mut turn = columns().skip(start).chain(columns().take(start));
        let identity = self.rules.identity;
        let (relation, column) = turn.find(|(_, column)| (!identity || column.identity) && fits(column))?;
        Some(self.column_expr(relation, column))
    }

    /// An expression for a column of a derived table or view. Where JSON is text with a mark, a mark that
    /// some plans carry to the outside and some do not, the text without it.
    pub(super) fn unmarked(&self, expr: Expr) -> Expr {
        let marks = &self.dialect.catalog.returns;
        if marks.is_empty() || !self.dialect.can(Feature::DynamicTyping) {
            return expr;
        }
        let marked = |name: &Name| marks.values().flatten().any(|marked| name.eq_ignore_ascii_case(marked));
        let carries = visit::any_expr(&expr, |inner| match inner {
            Expr::Function { name, .. } | Expr::Operation { form: name, .. } => marked(name),
            _ => false,
        });
        if carries { Expr::binary(BinaryOp::Concat, expr, Expr::text("")) } else { expr }
    }

    /// A condition that is about the value of a call.
    fn condition_on(&mut self, call: Expr, ty: Option<u16>) -> Expr {
        let loose = !self.dialect.is_typed();
        let null_test = |g: &mut Self, call: Expr| {
            if g.odds(&NOT_NULL) { call.is_not(Truth::Null) } else { call.is(Truth::Null) }
        };
        let Some(ty) = ty else {
            // Some types, such as points, are compared with nothing.
            let plain = self.repertoire().types.iter().all(|ty| ty.literal.is_none());
            if loose && plain && self.odds(&OPAQUE) {
                let other = self.value_expr(Kind::Any, 0);
                return Expr::binary(self.comparison_op(), call, other);
            }
            return null_test(self, call);
        };
        let sample = &self.repertoire().types[ty as usize];
        if sample.kind == Kind::Bool && self.odds(&BARE) {
            return call;
        }
        if !sample.comparable || self.odds(&NULL_TEST) {
            return null_test(self, call);
        }
        let op = match sample.ordered {
            true => self.comparison_op(),
            false => self.choose(&EQUALITY),
        };
        let other = if self.odds(&COMPARED_WITH_COLUMN) {
            self.of_type(ty, 0)
        } else {
            sample.value(self.rng.below(3))
        };
        Expr::binary(op, call, other)
    }

    /// An aggregate of the engine's catalog over columns of the innermost query. An aggregate over an outer
    /// column would belong to the outer query.
    pub(super) fn aggregate_of_kind(&mut self, kind: Kind) -> Option<Expr> {
        let repertoire = self.repertoire();
        for _ in 0..8 {
            let entry = self.rng.choose(&repertoire.aggregates)?;
            let signature = self.rng.pick(&entry.signatures);
            let returned = signature.returns.map(|ty| repertoire.types[ty as usize].kind);
            let fits = returned == Some(kind) || (!self.dialect.is_typed() && returned.is_none());
            if !fits || signature.fragile {
                continue;
            }
            let mut args = Vec::with_capacity(signature.args.len());
            for arg in &signature.args {
                let ty = *self.rng.pick(&arg.types);
                let sample = &repertoire.types[ty as usize];
                let column = match arg.constant || sample.pseudo {
                    true => None,
                    false => self.column_of_type(self.inner, ty),
                };
                args.push(column.unwrap_or_else(|| sample.value(0)));
            }
            self.drawn_operations.push(entry.number);
            return Some(Expr::aggregate(entry.name.clone(), args));
        }
        None
    }
}

/// An operator as the tree knows it, where it does: oracles and reductions understand those better.
fn operation(form: &Name, mut args: Vec<Expr>) -> Expr {
    use BinaryOp::*;
    let known = match &**form {
        "{} + {}" => Add,
        "{} - {}" => Sub,
        "{} * {}" => Mul,
        "{} / {}" => Div,
        "{} % {}" => Mod,
        "{} || {}" => Concat,
        "{} & {}" => BitAnd,
        "{} | {}" => BitOr,
        "{} << {}" => ShiftLeft,
        "{} >> {}" => ShiftRight,
        "{} = {}" => Eq,
        "{} <> {}" => Ne,
        "{} < {}" => Lt,
        "{} <= {}" => Le,
        "{} > {}" => Gt,
        "{} >= {}" => Ge,
        "{} AND {}" => And,
        "{} OR {}" => Or,
        _ => return Expr::operation(form.clone(), args),
    };
    match (args.pop(), args.pop()) {
        (Some(right), Some(left)) => Expr::binary(known, left, right),
        _ => Expr::operation(form.clone(), args),
    }
}
