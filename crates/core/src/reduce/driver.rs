//! The loop around the passes.

use std::collections::{BTreeMap, HashSet};

use super::weight::{Weight, text};
use super::{Edit, Pass};
use crate::dialect::Dialect;
use crate::engine::Trouble;
use crate::sql::recursion;
use crate::subject::TestCase;

/// What a reduction may use.
pub struct Budget<'a> {
    /// How many candidates may be checked.
    pub checks: u64,
    /// Called before each check; `true` ends the reduction with the best result so far.
    pub over: &'a dyn Fn() -> bool,
}

/// The result of a reduction.
#[derive(Debug)]
pub struct Reduction {
    /// The smallest test case that still fails.
    pub case: TestCase,
    /// Candidates that were checked.
    pub checks: u64,
    /// No pass finds anything more to remove: the budget was enough.
    pub complete: bool,
    /// Edits that were kept, by pass.
    pub kept: BTreeMap<&'static str, u64>,
}

/// Repeats the passes until none of them makes the test case smaller, or the budget is used up.
///
/// `still_fails` builds a candidate's state on a fresh database and checks it; it must say no unless it
/// fails in the same way. Deterministic as far as `still_fails` and the budget are.
pub fn reduce(
    case: TestCase,
    dialect: &Dialect,
    passes: &[&dyn Pass],
    budget: &Budget,
    still_fails: &mut dyn FnMut(&TestCase) -> Result<bool, Trouble>,
) -> Result<Reduction, Trouble> {
    let start = text(&case, dialect);
    let mut driver = Driver {
        dialect,
        budget,
        still_fails,
        weight: Weight::of_text(&start),
        refused: HashSet::new(),
        reduction: Reduction { case, checks: 0, complete: false, kept: BTreeMap::new() },
    };
    loop {
        let before = driver.weight;
        for pass in passes {
            if !driver.run(*pass)? {
                return Ok(driver.reduction);
            }
        }
        if driver.weight == before {
            driver.reduction.complete = true;
            return Ok(driver.reduction);
        }
    }
}

struct Driver<'a> {
    dialect: &'a Dialect,
    budget: &'a Budget<'a>,
    still_fails: &'a mut dyn FnMut(&TestCase) -> Result<bool, Trouble>,
    /// Of the test case as it is now.
    weight: Weight,
    /// Candidates that did not fail: the last round tries most of them again.
    refused: HashSet<String>,
    reduction: Reduction,
}

impl Driver<'_> {
    /// One pass, once through. `false`: the budget is used up.
    fn run(&mut self, pass: &dyn Pass) -> Result<bool, Trouble> {
        let mut at = 0;
        let mut edits = pass.candidates(&self.reduction.case);
        while at < edits.len() {
            match self.attempt(&edits[at])? {
                Attempt::OutOfBudget => return Ok(false),
                Attempt::Refused => at += 1,
                Attempt::Kept => {
                    *self.reduction.kept.entry(pass.name()).or_insert(0) += 1;
                    edits = pass.candidates(&self.reduction.case);
                }
            }
        }
        Ok(true)
    }

    fn attempt(&mut self, edit: &Edit) -> Result<Attempt, Trouble> {
        let Some(candidate) = edit.apply(&self.reduction.case) else { return Ok(Attempt::Refused) };
        // Without what ends it a recursion would only be cut off, after long.
        let ends = |case: &TestCase| case.subject.tests.iter().all(recursion::ends);
        if !ends(&candidate) && ends(&self.reduction.case) {
            return Ok(Attempt::Refused);
        }
        let text = text(&candidate, self.dialect);
        let weight = Weight::of_text(&text);
        if weight >= self.weight || self.refused.contains(&text) {
            return Ok(Attempt::Refused);
        }
        if self.reduction.checks >= self.budget.checks || (self.budget.over)() {
            return Ok(Attempt::OutOfBudget);
        }
        self.reduction.checks += 1;
        if (self.still_fails)(&candidate)? {
            self.reduction.case = candidate;
            self.weight = weight;
            return Ok(Attempt::Kept);
        }
        self.refused.insert(text);
        Ok(Attempt::Refused)
    }
}

enum Attempt {
    Kept,
    Refused,
    OutOfBudget,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::*;
    use crate::subject::Subject;

    /// `WITH RECURSIVE d0 AS (SELECT 1 AS c0 UNION ALL SELECT d0.c0 + 1 FROM d0 WHERE d0.c0 < 3 AND d0.c0 > 0)
    /// SELECT d0.c0 FROM d0`.
    fn counting() -> TestCase {
        let own = || Expr::column("d0", "c0");
        let select = |item: SelectItem| Select { items: vec![item], ..Select::default() };
        let anchor = select(SelectItem::Expr { expr: Expr::int(1), alias: Some("c0".into()) });
        let bound = Expr::binary(BinaryOp::Lt, own(), Expr::int(3));
        let step = Select {
            from: vec![TableRef::table("d0")],
            filter: Some(bound.and(Expr::binary(BinaryOp::Gt, own(), Expr::int(0)))),
            ..select(Expr::binary(BinaryOp::Add, own(), Expr::int(1)).into())
        };
        let body = |select| Body::Select(Box::new(select));
        let query = Query::compound(SetOp::Union, true, body(anchor), body(step));
        let table = CommonTable { name: "d0".into(), columns: Vec::new(), materialized: None, query };
        let with = Some(With { recursive: true, tables: vec![table] });
        let all = Select { from: vec![TableRef::table("d0")], ..select(own().into()) };
        TestCase { setup: Vec::new(), subject: Subject::new("norec", Query { with, ..Query::select(all) }) }
    }

    fn reduced(keep: &str) -> String {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        let budget = Budget { checks: 10_000, over: &|| false };
        let mut fails = |candidate: &TestCase| {
            assert!(candidate.subject.tests.iter().all(recursion::ends), "{candidate:?}");
            Ok(text(candidate, &dialect).contains(keep))
        };
        let reduction = reduce(counting(), &dialect, crate::reduce::all(), &budget, &mut fails).unwrap();
        text(&reduction.case, &dialect)
    }

    #[test]
    fn a_recursion_is_never_tried_without_what_ends_it() {
        let left = reduced("UNION ALL");
        assert!(left.contains("RECURSIVE") || !left.contains("FROM w0"), "{left}");
    }

    #[test]
    fn a_recursion_that_is_not_needed_goes() {
        assert!(!reduced("SELECT").contains("RECURSIVE"), "{}", reduced("SELECT"));
    }
}
