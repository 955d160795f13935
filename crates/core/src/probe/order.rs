//! Whether an aggregate's result may depend on the order of rows (SOUNDNESS 0.5).

use super::{Candidate, Prober, REVERSED, TABLE, These, Tried, lists, same};
use crate::engine::{Reply, Rows, Trouble};
use crate::sql::{Expr, Kind, Value};

/// What the order of rows is to an aggregate's answer.
pub(super) enum Order {
    Nothing,
    /// One of several rows is chosen by it, or they are put together in it.
    Matters,
    /// Every step is rounded.
    Rounds,
}

impl Prober<'_, '_> {
    /// As far as these tell: rows in two orders, rows that only the first argument tells apart, and what the answer is.
    pub(super) fn order(
        &mut self,
        candidate: &Candidate,
        call: &Expr,
        rows: &Rows,
        tried: &[Tried],
        fragile: bool,
    ) -> Result<Order, Trouble> {
        // Rows that are alike come in one order only.
        if !fragile {
            let tied: Vec<Tried> = tried.iter().enumerate().map(|(at, (ty, _))| (*ty, at > 0)).collect();
            let tied = self.call(candidate, &tied);
            let asked = [(call, These::All), (call, These::Different), (&tied, These::Different)];
            for (call, these) in asked {
                if self.depends_on_order(call, these)? {
                    return Ok(Order::Matters);
                }
            }
        }
        // Six rows do not show every rounding: a float that is computed, not picked, is taken for one.
        let floats = tried.iter().any(|(ty, _)| self.types[*ty as usize].kind == Kind::Real);
        let computed = match rows.values.first() {
            Some(Value::Real(_)) => {
                let equal_rows = self.ask(call, TABLE, These::Typical, true)?;
                !self.is_picked(rows, tried)
                    || !matches!(equal_rows, Reply::Rows(rows) if self.is_picked(&rows, tried))
            }
            // Nothing was shown.
            Some(Value::Null) => floats,
            _ => false,
        };
        let exact = !floats && lists(&self.plan.exact_aggregates, &candidate.name);
        Ok(if computed && !exact { Order::Rounds } else { Order::Nothing })
    }

    fn depends_on_order(&mut self, call: &Expr, these: These) -> Result<bool, Trouble> {
        let mut answers = Vec::with_capacity(2);
        for table in [TABLE, REVERSED] {
            answers.push(match self.ask(call, table, these, true)? {
                Reply::Rows(rows) => Some(rows.values),
                Reply::Failed(error) if error.class.is_harm() => {
                    self.harmed(&error)?;
                    return Ok(true);
                }
                _ => None,
            });
        }
        Ok(match &answers[..] {
            [Some(one), Some(other)] => !same(one, other),
            answers => answers.iter().any(Option::is_some),
        })
    }

    /// A float that is one of the argument's own values.
    fn is_picked(&self, rows: &Rows, tried: &[Tried]) -> bool {
        let Some(Value::Real(real)) = rows.values.first() else { return false };
        let mut values = tried.iter().flat_map(|(ty, _)| &self.types[*ty as usize].values);
        values.any(|value| value.parse() == Ok(*real))
    }
}
