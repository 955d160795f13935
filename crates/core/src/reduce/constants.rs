//! Constants: numbers towards 0 and 1, texts towards the empty text.

use super::sites::{change_expr, each_expr, replace_everywhere};
use super::{Edit, Pass};
use crate::sql::*;
use crate::subject::TestCase;

pub struct Constants;

impl Pass for Constants {
    fn name(&self) -> &'static str {
        "constants"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut distinct: Vec<Value> = Vec::new();
        let mut places: Vec<(usize, Value)> = Vec::new();
        each_expr(case, |at, expr| {
            if let Expr::Literal(value) | Expr::Bound(value) = expr {
                places.push((at, value.clone()));
                if !distinct.contains(value) {
                    distinct.push(value.clone());
                }
            }
        });
        let mut edits = Vec::new();
        // A value in the data and in the query keeps being the same value.
        for value in &distinct {
            for simpler in simpler(value) {
                let value = value.clone();
                edits.push(Edit::new(move |case| {
                    replace_everywhere(case, |expr| match expr {
                        Expr::Literal(other) if *other == value => Some(Expr::Literal(simpler.clone())),
                        Expr::Bound(other) if *other == value => Some(Expr::Bound(simpler.clone())),
                        _ => None,
                    })
                }));
            }
        }
        for (at, value) in places {
            for simpler in simpler(&value) {
                edits.push(Edit::new(move |case| {
                    change_expr(case, at, |expr| {
                        *expr = match expr {
                            Expr::Bound(_) => Expr::Bound(simpler.clone()),
                            _ => Expr::Literal(simpler.clone()),
                        };
                        true
                    })
                }));
            }
            // What is no parameter is easier to read.
            edits.push(Edit::new(move |case| {
                change_expr(case, at, |expr| match expr {
                    Expr::Bound(_) => {
                        *expr = Expr::Literal(value.clone());
                        true
                    }
                    _ => false,
                })
            }));
        }
        edits
    }
}

/// Values to try instead; the driver leaves out those that are no simpler.
fn simpler(value: &Value) -> Vec<Value> {
    let int = Value::Int;
    let mut options = match value {
        Value::Null => vec![int(0), int(1)],
        Value::Bool(_) => vec![int(0), int(1), Value::Bool(true)],
        Value::Int(n) => {
            let mut options = vec![int(0), int(1)];
            if n.unsigned_abs() > 1 {
                options.extend([int(2), int(n / 2), int(n.saturating_neg())]);
            }
            if n.unsigned_abs() > 99 {
                options.extend([int(9), int(n / 10), int(n / 1_000_000)]);
            }
            options
        }
        Value::Real(r) => {
            let whole = r.trunc();
            let mut options = vec![int(0), int(1), Value::Null];
            if whole.abs() < 9e15 {
                options.push(int(whole as i64));
            }
            options.extend([0.0, 1.0, 0.5, 1.5, whole].map(Value::Real));
            options
        }
        Value::Decimal(_) => vec![int(0), int(1), Value::Null],
        Value::Text(text) => {
            let chars: Vec<char> = text.chars().collect();
            let part = |range: &[char]| Value::Text(range.iter().collect());
            let mut options = vec![part(&[]), int(0), int(1), Value::Null];
            if chars.len() > 1 {
                let half = chars.len() / 2;
                options.extend([part(&chars[..half]), part(&chars[half..])]);
            }
            if (2..=8).contains(&chars.len()) {
                for at in 0..chars.len() {
                    let mut less = chars.clone();
                    less.remove(at);
                    options.push(part(&less));
                }
            }
            options.extend(["0", "1", "A", "a"].map(|text| Value::Text(text.to_string())));
            options
        }
        Value::Blob(bytes) => {
            let half = bytes.len() / 2;
            let mut options = vec![Value::Blob(Vec::new()), int(0), int(1), Value::Null];
            if half > 0 {
                options.extend([Value::Blob(bytes[..half].to_vec()), Value::Blob(bytes[half..].to_vec())]);
            }
            options.push(Value::Blob(vec![0]));
            options.push(Value::Text(String::new()));
            options
        }
        Value::Other { .. } => vec![int(0), int(1), Value::Null],
    };
    options.retain(|option| option != value);
    options
}
