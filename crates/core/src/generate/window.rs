//! Window functions that give a row one value (SOUNDNESS 0.5).
//!
//! Where rows have peers, no ROW_NUMBER, no ROWS, and of a single row of the frame only the key by which the
//! frame is ordered. Where keys of all tables in FROM put the rows in a total order, no row has a peer: then any
//! window function of the engine's catalog, and any frame.

use super::{Generator, Rules};
use crate::dialect::Feature;
use crate::sql::*;

impl Generator<'_> {
    /// A window over the rows of the innermost query.
    pub(super) fn window(&mut self) -> Option<Expr> {
        if self.rng.chance(60)
            && let Some(window) = self.window_without_peers()
        {
            return Some(window);
        }
        let partition = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.rng.chance(60));
        let key = self.identical(|g| g.own_column(Kind::Any))?.expr;
        let ranks = ["RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"];
        let (function, needs_order) = match self.rng.below(10) {
            0..3 => {
                let name = *self.rng.pick(&ranks);
                self.note_window(name);
                (Aggregate::new(name, Vec::new()), true)
            }
            3 => {
                let name = *self.rng.pick(&["FIRST_VALUE", "LAST_VALUE"]);
                self.note_window(name);
                (Aggregate::new(name, vec![key.clone()]), true)
            }
            _ => match self.exact_aggregate().0 {
                Expr::Aggregate(aggregate) => (*aggregate, false),
                _ => return None,
            },
        };
        let ordered = needs_order || self.rng.chance(60);
        let nulls = self.dialect.can(Feature::NullsOrder) && self.rng.chance(15);
        let order = OrderItem {
            expr: key,
            desc: self.rng.chance(35),
            nulls: nulls.then(|| *self.rng.pick(&[NullsOrder::First, NullsOrder::Last])),
        };
        let spec = WindowSpec {
            partition_by: partition.into_iter().map(|column| column.expr).collect(),
            order_by: if ordered { vec![order] } else { Vec::new() },
            // A rank looks at the whole partition; some engines refuse to be told otherwise.
            frame: if function.args.is_empty() && needs_order { None } else { self.frame() },
        };
        Some(Expr::Window(Box::new(Window { function, over: Over::Spec(spec) })))
    }

    fn note_window(&mut self, name: &str) {
        let windows = &self.dialect.repertoire.windows;
        let known = windows.iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
        self.drawn_operations.extend(known.map(|entry| entry.number));
    }

    /// A window over rows in a total order.
    fn window_without_peers(&mut self) -> Option<Expr> {
        let keys = self.total_order()?;
        let function = match self.rng.chance(75) {
            true => self.window_of_catalog()?,
            false => match self.exact_aggregate().0 {
                Expr::Aggregate(aggregate) => *aggregate,
                _ => return None,
            },
        };
        let partition = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.rng.chance(40));
        let first = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.rng.chance(40));
        let keys = first.into_iter().map(|column| column.expr).chain(keys);
        let order = |expr| OrderItem { expr, desc: self.rng.chance(40), nulls: None };
        let order_by = keys.map(order).collect();
        // What numbers rows or looks at a distance sees the whole partition.
        let is = |names: &[&str]| names.iter().any(|name| function.name.eq_ignore_ascii_case(name));
        let framed = is(&["COUNT", "SUM", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"]);
        let frame = if framed && self.rng.chance(60) { Some(self.frame_of_rows()) } else { None };
        let partition_by = partition.into_iter().map(|column| column.expr).collect();
        let spec = WindowSpec { partition_by, order_by, frame };
        Some(Expr::Window(Box::new(Window { function, over: Over::Spec(spec) })))
    }

    /// Of each table in FROM a column that is never NULL and that no two rows share. Joined in whatever way, no two
    /// rows have all of them in common.
    fn total_order(&mut self) -> Option<Vec<Expr>> {
        let mut keys = Vec::new();
        for relation in self.relations() {
            let is_this = |table: &&super::Table| std::sync::Arc::ptr_eq(&table.columns, &relation.columns);
            let table = self.state.base_tables().find(is_this)?;
            let key = table.columns.iter().find(|column| column.is_key())?;
            keys.push(self.column_expr(relation, key));
        }
        (!keys.is_empty()).then_some(keys)
    }

    /// A window function of the catalog: of its arguments the first is a column, the others are constants.
    fn window_of_catalog(&mut self) -> Option<Aggregate> {
        let repertoire = &self.dialect.repertoire;
        let entry = self.rng.choose(&repertoire.windows)?;
        let signature = self.rng.pick(&entry.signatures);
        let mut args = Vec::with_capacity(signature.args.len());
        for (at, arg) in signature.args.iter().enumerate() {
            let stored: Vec<u16> =
                arg.types.iter().copied().filter(|ty| !repertoire.types[*ty as usize].pseudo).collect();
            let ty = *self.rng.choose(&stored)?;
            let rules = Rules { identity: true, ..self.rules };
            // Into how many parts rows are divided is a number that has to make sense.
            let divides = entry.name.eq_ignore_ascii_case("NTILE");
            let column = match at == 0 && !arg.constant && !signature.fragile && !divides {
                true => self.under(rules, |g| g.column_of_type(g.inner, ty)),
                false => None,
            };
            args.push(column.unwrap_or_else(|| repertoire.types[ty as usize].value(0)));
        }
        self.drawn_operations.push(entry.number);
        Some(Aggregate::new(entry.name.clone(), args))
    }

    /// A frame of so many rows before and behind.
    fn frame_of_rows(&mut self) -> Frame {
        use FrameBound::*;
        let some = |g: &mut Self| Box::new(Expr::int(g.rng.between(1, 2) as i64));
        let start = match self.rng.below(3) {
            0 => UnboundedPreceding,
            1 => Preceding(some(self)),
            _ => CurrentRow,
        };
        let end = match self.rng.below(3) {
            0 => UnboundedFollowing,
            1 => Following(some(self)),
            _ => CurrentRow,
        };
        Frame { unit: FrameUnit::Rows, start, end, exclude: None }
    }

    /// A frame that begins and ends between peers.
    fn frame(&mut self) -> Option<Frame> {
        use FrameBound::*;
        if !self.rng.chance(35) {
            return None;
        }
        let start = if self.rng.chance(65) { UnboundedPreceding } else { CurrentRow };
        let end = if self.rng.chance(50) { UnboundedFollowing } else { CurrentRow };
        let exclude = self.dialect.can(Feature::WindowExclude) && self.rng.chance(25);
        let exclusions = [FrameExclude::CurrentRow, FrameExclude::Group, FrameExclude::Ties];
        let exclude = exclude.then(|| *self.rng.pick(&exclusions));
        Some(Frame { unit: FrameUnit::Range, start, end, exclude })
    }
}
