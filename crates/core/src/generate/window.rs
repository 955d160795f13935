//! Window functions that give each row a defined value (SOUNDNESS 0.5).
//!
//! If rows have peers: no ROW_NUMBER, no ROWS frames, and of a single row in the frame only the key that orders it.
//! If keys of all tables in FROM give the rows a total order, no row has a peer, so any window function in the
//! engine's catalog and any frame can be used.

use super::{Generator, Rules, choices};
use crate::dialect::Feature;
use crate::sql::*;

choices! {
    odds {
        /// Over rows in a total order, if keys give one.
        TOTAL_ORDER = "window.total-order": 60,
        PARTITION = "window.partition": 60,
        ORDER = "window.order": 60,
        NULLS = "window.nulls": 15,
        DESC = "window.desc": 35,
        OF_CATALOG = "window.total-order.catalog": 75,
        TOTAL_PARTITION = "window.total-order.partition": 40,
        FIRST_KEY = "window.total-order.first-key": 40,
        TOTAL_DESC = "window.total-order.desc": 40,
        ROWS = "window.total-order.frame": 60,
        FRAME = "window.frame": 35,
        FROM_START = "window.frame.from-start": 65,
        TO_END = "window.frame.to-end": 50,
        EXCLUDE = "window.frame.exclude": 25,
        GROUPS = "window.frame.groups": 25,
        /// A frame by distances between values.
        OFFSETS = "window.frame.offsets": 15,
    }
    choose {
        NULLS_ORDER: NullsOrder = "window.nulls.order" { First: 1, Last: 1 },
        EXCLUSION: FrameExclude = "window.frame.exclusion" { CurrentRow: 1, Group: 1, Ties: 1 },
    }
    choose enum {
        FUNCTION: Function = "window.function" { Rank: 3, Edge: 1, Aggregate: 6 },
        ROWS_START: RowsStart = "window.rows.start" { Unbounded: 1, Offset: 1, CurrentRow: 1 },
        ROWS_END: RowsEnd = "window.rows.end" { Unbounded: 1, Offset: 1, CurrentRow: 1 },
    }
}

impl Generator<'_> {
    /// A window over the rows of the innermost query.
    pub(super) fn window(&mut self) -> Option<Expr> {
        if self.odds(&TOTAL_ORDER)
            && let Some(window) = self.window_without_peers()
        {
            return Some(window);
        }
        let partition = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.odds(&PARTITION));
        let mut key = self.identical(|g| g.own_column(Kind::Any))?.expr;
        let distant = self.dialect.can(Feature::FrameOffsets) && self.odds(&OFFSETS);
        let distant = distant.then(|| self.small_column()).flatten();
        let by_distance = distant.is_some();
        key = distant.unwrap_or(key);
        let ranks = ["RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"];
        let (function, needs_order) = match self.choose(&FUNCTION) {
            Function::Rank => {
                let name = *self.rng.pick(&ranks);
                self.note_window(name);
                (Aggregate::new(name, Vec::new()), true)
            }
            Function::Edge => {
                let name = *self.rng.pick(&["FIRST_VALUE", "LAST_VALUE"]);
                self.note_window(name);
                (Aggregate::new(name, vec![key.clone()]), true)
            }
            Function::Aggregate => match self.exact_aggregate().0 {
                Expr::Aggregate(aggregate) => (*aggregate, false),
                _ => return None,
            },
        };
        let ordered = needs_order || by_distance || self.odds(&ORDER);
        let nulls = self.dialect.can(Feature::NullsOrder) && self.odds(&NULLS);
        let order =
            OrderItem { expr: key, desc: self.odds(&DESC), nulls: nulls.then(|| self.choose(&NULLS_ORDER)) };
        let spec = WindowSpec {
            partition_by: partition.into_iter().map(|column| column.expr).collect(),
            order_by: if ordered { vec![order] } else { Vec::new() },
            // A rank looks at the whole partition; some engines refuse to be told otherwise.
            frame: match function.args.is_empty() && needs_order {
                true => None,
                false if by_distance => Some(self.frame_of(FrameUnit::Range)),
                false => self.frame(ordered),
            },
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
        // Without a catalog there are still aggregates.
        let of_catalog = self.odds(&OF_CATALOG).then(|| self.window_of_catalog()).flatten();
        let function = match of_catalog {
            Some(function) => function,
            None => match self.exact_aggregate().0 {
                Expr::Aggregate(aggregate) => *aggregate,
                _ => return None,
            },
        };
        let partition = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.odds(&TOTAL_PARTITION));
        let first = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.odds(&FIRST_KEY));
        let keys = first.into_iter().map(|column| column.expr).chain(keys);
        let order = |expr| OrderItem { expr, desc: self.odds(&TOTAL_DESC), nulls: None };
        let order_by = keys.map(order).collect();
        // What numbers rows or looks at a distance sees the whole partition.
        let is = |names: &[&str]| names.iter().any(|name| function.name.eq_ignore_ascii_case(name));
        let framed = is(&["COUNT", "SUM", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE"]);
        let frame = if framed && self.odds(&ROWS) { Some(self.frame_of(FrameUnit::Rows)) } else { None };
        let partition_by = partition.into_iter().map(|column| column.expr).collect();
        let spec = WindowSpec { partition_by, order_by, frame };
        Some(Expr::Window(Box::new(Window { function, over: Over::Spec(spec) })))
    }

    /// Of each table in FROM a column that is never NULL and that no two rows share. Joined in whatever way, no two
    /// rows have all of them in common.
    fn total_order(&mut self) -> Option<Vec<Expr>> {
        let mut keys = Vec::new();
        for relation in self.relations() {
            let is_this =
                |table: &&crate::state::Table| std::sync::Arc::ptr_eq(&table.columns, &relation.columns);
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

    /// A frame of so many rows before and behind, or groups of them, or so far away.
    fn frame_of(&mut self, unit: FrameUnit) -> Frame {
        use FrameBound::*;
        let some = |g: &mut Self| Box::new(Expr::int(g.rng.between(1, 2) as i64));
        let start = match self.choose(&ROWS_START) {
            RowsStart::Unbounded => UnboundedPreceding,
            RowsStart::Offset => Preceding(some(self)),
            RowsStart::CurrentRow => CurrentRow,
        };
        let end = match self.choose(&ROWS_END) {
            RowsEnd::Unbounded => UnboundedFollowing,
            RowsEnd::Offset => Following(some(self)),
            RowsEnd::CurrentRow => CurrentRow,
        };
        Frame { unit, start, end, exclude: None }
    }

    /// A frame that begins and ends between peers.
    fn frame(&mut self, ordered: bool) -> Option<Frame> {
        use FrameBound::*;
        if !self.odds(&FRAME) {
            return None;
        }
        if ordered && self.dialect.can(Feature::FrameGroups) && self.odds(&GROUPS) {
            return Some(self.frame_of(FrameUnit::Groups));
        }
        let start = if self.odds(&FROM_START) { UnboundedPreceding } else { CurrentRow };
        let end = if self.odds(&TO_END) { UnboundedFollowing } else { CurrentRow };
        let exclude = self.dialect.can(Feature::WindowExclude) && self.odds(&EXCLUDE);
        let exclude = exclude.then(|| self.choose(&EXCLUSION));
        Some(Frame { unit: FrameUnit::Range, start, end, exclude })
    }
}
