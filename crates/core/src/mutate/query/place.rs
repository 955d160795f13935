//! The places in a query that can be mutated: its SELECTs, and their expressions.

use crate::generate::Generator;
use crate::sql::visit::*;
use crate::sql::*;
use crate::state::{Relation, kind_within};

/// A SELECT somewhere in the query, with the relations of its FROM.
pub(super) struct Place<'a> {
    pub select: &'a mut Select,
    pub relations: Vec<Relation>,
}

/// The relations of a FROM. Of those that are not known nothing can be drawn: they are left out.
pub(super) fn relations_of(generator: &Generator, select: &Select, with: Option<&With>) -> Vec<Relation> {
    let mut relations = Vec::new();
    for table in &select.from {
        generator.state.relations_of(table, with, generator.dialect, &mut relations);
    }
    let known = relations.into_iter().filter(|(_, columns)| !columns.is_empty());
    known.map(|(alias, columns)| Relation { alias, columns }).collect()
}

/// Whether a SELECT of the query fits.
pub(super) fn any_select(query: &Query, fits: impl Fn(&Select) -> bool) -> bool {
    count_selects(query, &fits) > 0
}

fn count_selects(query: &Query, fits: impl Fn(&Select) -> bool) -> usize {
    struct Count<F>(F, usize);
    impl<F: Fn(&Select) -> bool> Visitor for Count<F> {
        fn select(&mut self, select: &Select) {
            self.1 += usize::from((self.0)(select));
            walk_select(self, select);
        }
    }
    let mut count = Count(fits, 0);
    count.query(query);
    count.1
}

/// Works on one of the SELECTs of a query that fit.
pub(super) fn in_select(
    generator: &mut Generator,
    query: &mut Query,
    fits: impl Fn(&Select) -> bool,
    work: impl FnOnce(&mut Generator, Place),
) {
    struct Nth<T, F> {
        fits: T,
        left: usize,
        work: Option<F>,
    }
    impl<T: Fn(&Select) -> bool, F: FnOnce(&mut Select)> Editor for Nth<T, F> {
        fn select(&mut self, select: &mut Select) {
            if !(self.fits)(select) {
                edit_select(self, select);
            } else if self.left > 0 {
                self.left -= 1;
                edit_select(self, select);
            } else if let Some(work) = self.work.take() {
                work(select);
            }
        }
    }
    let count = count_selects(query, &fits);
    if count == 0 {
        return;
    }
    let left = generator.rng.below(count);
    let with = query.with.clone();
    let work = |select: &mut Select| {
        let relations = relations_of(generator, select, with.as_ref());
        work(generator, Place { select, relations });
    };
    Nth { fits, left, work: Some(work) }.query(query);
}

/// Works on an expression somewhere in the query.
pub(super) fn in_expr(
    generator: &mut Generator,
    query: &mut Query,
    work: impl FnOnce(&mut Generator, &mut Expr, Vec<Relation>),
) {
    in_select(generator, query, |_| true, |generator, place| place.in_expr(generator, work));
}

impl Place<'_> {
    /// What is computed here: items, conditions.
    pub fn roots(&mut self) -> Vec<&mut Expr> {
        let mut roots: Vec<&mut Expr> = Vec::new();
        for item in &mut self.select.items {
            if let SelectItem::Expr { expr, .. } = item {
                roots.push(expr);
            }
        }
        roots.extend(&mut self.select.filter);
        roots.extend(&mut self.select.having);
        self.select.from.iter_mut().for_each(|table| conditions(table, &mut roots));
        roots
    }

    /// Works on one of the expressions here; those of subqueries have places of their own.
    fn in_expr(
        mut self,
        generator: &mut Generator,
        work: impl FnOnce(&mut Generator, &mut Expr, Vec<Relation>),
    ) {
        let relations = std::mem::take(&mut self.relations);
        let mut roots = self.roots();
        if roots.is_empty() {
            return;
        }
        let at = generator.rng.below(roots.len());
        let root = roots.swap_remove(at);
        let node = generator.rng.below(size(root));
        nth(root, node, |expr| work(generator, expr, relations));
    }
}

/// The conditions of the joins in a FROM item.
pub(super) fn conditions<'a>(table: &'a mut TableRef, found: &mut Vec<&'a mut Expr>) {
    if let TableRef::Join { left, right, on, .. } = table {
        conditions(left, found);
        conditions(right, found);
        if let JoinOn::On(condition) = on {
            found.push(condition);
        }
    }
}

/// How many expressions an expression is, itself among them, without its subqueries.
fn size(expr: &Expr) -> usize {
    struct Size(usize);
    impl Visitor for Size {
        fn expr(&mut self, expr: &Expr) {
            self.0 += 1;
            walk_expr(self, expr);
        }
        fn query(&mut self, _: &Query) {}
    }
    let mut size = Size(0);
    size.expr(expr);
    size.0
}

fn nth(expr: &mut Expr, at: usize, work: impl FnOnce(&mut Expr)) {
    struct Nth<F> {
        left: usize,
        work: Option<F>,
    }
    impl<F: FnOnce(&mut Expr)> Editor for Nth<F> {
        fn expr(&mut self, expr: &mut Expr) {
            if self.left > 0 {
                self.left -= 1;
                edit_expr(self, expr);
            } else if let Some(work) = self.work.take() {
                work(expr);
            }
        }
        fn query(&mut self, _: &mut Query) {}
    }
    Nth { left: at, work: Some(work) }.expr(expr);
}

/// The kind of an expression here; where types matter and it is not known, nothing should take its place.
pub(super) fn kind_here(generator: &Generator, expr: &Expr, relations: &[Relation]) -> Option<Kind> {
    let kind = kind_within(expr, relations, generator.dialect);
    let replaceable = kind != Kind::Any || !generator.dialect.is_typed();
    // A row stands where nothing else may.
    (replaceable && !matches!(expr, Expr::Row(_))).then_some(kind)
}
