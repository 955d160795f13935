//! Aggregates over the rows of a group.

use super::super::facts::{Cell, Known, MANY_ROWS};
use super::super::relation::{Change, Nulls, Shift, Span};
use super::super::rules::{self, Rule, Stopped, together};
use super::{Outcome, Propagation};
use crate::sql::*;

impl Propagation<'_> {
    /// Looks at the rows that the groups in scope are made of.
    pub(super) fn in_rows<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let keys = self.scope().keys.take();
        let seen = look(self);
        self.scope().keys = keys;
        seen
    }

    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Outcome<Cell> {
        let Some(mut rows) = self.scope().rows else { return Err(Stopped("aggregate outside a group")) };
        if !self.is_own(aggregate) {
            return Err(Stopped("aggregate of an outer query"));
        }
        let mut args = Vec::new();
        for arg in &aggregate.args {
            args.push(self.in_rows(|walk| walk.value(arg))?);
        }
        if let Some(filter) = &aggregate.filter {
            let shift = self.in_rows(|walk| walk.predicate(filter))?;
            if shift != Shift::None {
                self.used.push(Rule::Filter);
            }
            rows = together([rows, shift.span()])?;
        }
        let name = aggregate.name.to_ascii_uppercase();
        if args.iter().any(|cell| !cell.is_number() && !cell.has_one_representative())
            && matches!(name.as_str(), "MIN" | "MAX")
        {
            return Err(Stopped("MIN or MAX of equal values that are not identical"));
        }
        let known = aggregated(&name, args.first().copied());
        let arg = args.first().map_or(Change::NONE, |cell| cell.change);
        if args.len() > 1 || !aggregate.order_by.is_empty() {
            let changed = rows != Span::Bijective || args.iter().any(|cell| !cell.change.is_none());
            return if changed { Err(Stopped("unknown aggregate")) } else { Ok(Cell { change: arg, known }) };
        }
        if rows == Span::Bijective && arg.is_none() {
            return Ok(Cell { change: Change::NONE, known });
        }
        let change = self.aggregate_change(&name, aggregate.distinct, rows, arg, args.first())?;
        Ok(Cell { change, known })
    }

    /// An aggregate of nothing but outer columns is one of the outer query.
    fn is_own(&mut self, aggregate: &Aggregate) -> bool {
        let mut columns = Vec::new();
        let mut note = |expr: &Expr| {
            if let Expr::Column(ColumnRef { table: Some(table), .. }) = expr {
                columns.push(table.clone());
            }
            false
        };
        for expr in aggregate.args.iter().chain(&aggregate.filter) {
            visit::any_expr(expr, &mut note);
        }
        let sources = &self.scope().sources;
        let own = |table: &Name| sources.iter().any(|source| source.alias == *table);
        columns.is_empty() || columns.iter().any(own)
    }

    /// The aggregates' rows of the table.
    pub(super) fn aggregate_change(
        &mut self,
        name: &str,
        distinct: bool,
        rows: Span,
        arg: Change,
        cell: Option<&Cell>,
    ) -> Outcome<Change> {
        let values_alone = rows == Span::Bijective && arg.nulls == Nulls::Alike;
        let (rule, change) = match (name, cell) {
            ("COUNT", None) => (Rule::CountRows, rules::count(rows, Nulls::Alike)?),
            ("COUNT", Some(_)) if distinct && !arg.is_none() => {
                return Err(Stopped("COUNT(DISTINCT) of a changed value"));
            }
            ("COUNT", Some(_)) if distinct => (Rule::CountDistinct, rules::count(rows, Nulls::Alike)?),
            ("COUNT", Some(_)) => (Rule::CountColumn, rules::count(rows, arg.nulls)?),
            ("SUM" | "AVG", _) if distinct => {
                return Err(Stopped("DISTINCT in an aggregate of changed rows"));
            }
            ("MIN" | "MAX", Some(cell)) if !cell.is_number() => {
                return Err(Stopped("aggregate of non-numbers"));
            }
            ("SUM" | "AVG", Some(cell)) if !cell.is_small() => {
                return Err(Stopped("sum that may overflow or round"));
            }
            ("MIN" | "MAX" | "SUM" | "AVG", _) if values_alone => (Rule::ChangedValues, arg),
            ("MAX", _) => (Rule::Max, rules::extreme(rows, arg, true)?),
            ("MIN", _) => (Rule::Min, rules::extreme(rows, arg, false)?),
            ("SUM", Some(cell)) if !cell.is_never_negative() => {
                return Err(Stopped("SUM of values that may be negative"));
            }
            ("SUM", _) => (Rule::Sum, rules::extreme(rows, arg, true)?),
            ("AVG", _) => return Err(Stopped("AVG of a changed set")),
            _ => return Err(Stopped("variance or other aggregate of a changed set")),
        };
        self.used.push(rule);
        Ok(change)
    }
}

/// What is known of an aggregate's value.
fn aggregated(name: &str, arg: Option<Cell>) -> Known {
    let known = arg.map_or(Known::NOTHING, |cell| cell.known);
    match name {
        "COUNT" => Known::whole((0, MANY_ROWS)),
        "MIN" | "MAX" => Known { rounded: known.rounded, ..known },
        "SUM" => match known.whole {
            Some((low, high)) => {
                Known::whole((low.saturating_mul(MANY_ROWS).min(0), high.saturating_mul(MANY_ROWS).max(0)))
            }
            None => Known::of_kind(known.kind),
        },
        "AVG" | "VAR_POP" | "VAR_SAMP" | "STDDEV_POP" | "STDDEV_SAMP" => {
            Known { rounded: true, ..Known::of_kind(Kind::Real) }
        }
        _ => Known::NOTHING,
    }
}
