//! Window functions that give a row one value whatever the order of its peers (SOUNDNESS 0.5): no ROW_NUMBER,
//! no ROWS, and of a single row of the frame only the key by which the frame is ordered.

use super::Generator;
use crate::dialect::Feature;
use crate::sql::*;

impl Generator<'_> {
    /// A window over the rows of the innermost query.
    pub(super) fn window(&mut self) -> Option<Expr> {
        let partition = self.identical(|g| g.own_column(Kind::Any)).filter(|_| self.rng.chance(60));
        let key = self.identical(|g| g.own_column(Kind::Any))?.expr;
        let ranks = ["RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"];
        let (function, needs_order) = match self.rng.below(10) {
            0..3 => (Aggregate::new(*self.rng.pick(&ranks), Vec::new()), true),
            3 => {
                let name = *self.rng.pick(&["FIRST_VALUE", "LAST_VALUE"]);
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
