//! The places in a test case, numbered: a candidate names a place by its number in one fixed order.
//!
//! The order is reading order, node before children, with the queries under test before the setup: a small change
//! saves most there.

use crate::sql::visit::*;
use crate::sql::*;
use crate::subject::TestCase;

fn read(case: &TestCase, visitor: &mut impl Visitor) {
    case.subject.tests.iter().for_each(|statement| visitor.statement(statement));
    case.subject.exprs.iter().for_each(|expr| visitor.expr(expr));
    case.setup.iter().for_each(|statement| visitor.statement(statement));
}

fn edit(case: &mut TestCase, editor: &mut impl Editor) {
    case.subject.tests.iter_mut().for_each(|statement| editor.statement(statement));
    case.subject.exprs.iter_mut().for_each(|expr| editor.expr(expr));
    case.setup.iter_mut().for_each(|statement| editor.statement(statement));
}

/// The statements of the setup, and after them those under test.
pub fn statements(case: &TestCase) -> impl Iterator<Item = &Statement> {
    case.setup.iter().chain(&case.subject.tests)
}

/// The statement of a number in that order.
pub fn statement_mut(case: &mut TestCase, at: usize) -> Option<&mut Statement> {
    case.setup.iter_mut().chain(&mut case.subject.tests).nth(at)
}

/// For one kind of node: a function that calls another on each place and its number, and one that edits
/// the place of a number.
macro_rules! numbered {
    ($each:ident, $change:ident, $Node:ty, $method:ident, $walk:ident, $edit:ident) => {
        pub fn $each(case: &TestCase, f: impl FnMut(usize, &$Node)) {
            struct Each<F> {
                next: usize,
                f: F,
            }
            impl<F: FnMut(usize, &$Node)> Visitor for Each<F> {
                fn $method(&mut self, node: &$Node) {
                    (self.f)(self.next, node);
                    self.next += 1;
                    $walk(self, node);
                }
            }
            read(case, &mut Each { next: 0, f });
        }

        /// `false` if there is no such place or nothing to change there.
        pub fn $change(case: &mut TestCase, at: usize, f: impl FnOnce(&mut $Node) -> bool) -> bool {
            struct Change<F> {
                left: usize,
                f: Option<F>,
                changed: bool,
            }
            impl<F: FnOnce(&mut $Node) -> bool> Editor for Change<F> {
                fn $method(&mut self, node: &mut $Node) {
                    if self.f.is_none() {
                        return;
                    }
                    if self.left > 0 {
                        self.left -= 1;
                        $edit(self, node);
                    } else if let Some(f) = self.f.take() {
                        self.changed = f(node);
                    }
                }
            }
            let mut change = Change { left: at, f: Some(f), changed: false };
            edit(case, &mut change);
            change.changed
        }
    };
}

numbered!(each_expr, change_expr, Expr, expr, walk_expr, edit_expr);
numbered!(each_query, change_query, Query, query, walk_query, edit_query);
numbered!(each_select, change_select, Select, select, walk_select, edit_select);
numbered!(each_table, change_table, TableRef, table, walk_table, edit_table);

/// Replaces every expression for which `f` gives a substitute, wherever it stands.
pub fn replace_everywhere(case: &mut TestCase, f: impl FnMut(&Expr) -> Option<Expr>) -> bool {
    let mut replace = Replace { f, replaced: false };
    edit(case, &mut replace);
    replace.replaced
}

/// The same in what is under test only.
pub fn replace_in_tests(case: &mut TestCase, f: impl FnMut(&Expr) -> Option<Expr>) -> bool {
    let mut replace = Replace { f, replaced: false };
    case.subject.tests.iter_mut().for_each(|statement| replace.statement(statement));
    case.subject.exprs.iter_mut().for_each(|expr| replace.expr(expr));
    replace.replaced
}

struct Replace<F> {
    f: F,
    replaced: bool,
}

impl<F: FnMut(&Expr) -> Option<Expr>> Editor for Replace<F> {
    fn expr(&mut self, expr: &mut Expr) {
        match (self.f)(expr) {
            Some(substitute) => {
                *expr = substitute;
                self.replaced = true;
            }
            None => edit_expr(self, expr),
        }
    }
}

/// The direct children of an expression, subqueries left out.
pub fn children(expr: &Expr) -> Vec<Expr> {
    struct Children(Vec<Expr>);
    impl Visitor for Children {
        fn expr(&mut self, expr: &Expr) {
            self.0.push(expr.clone());
        }
        fn query(&mut self, _: &Query) {}
    }
    let mut children = Children(Vec::new());
    walk_expr(&mut children, expr);
    children.0
}

/// The columns a table is created with.
pub(super) fn columns_of(case: &TestCase, table: &Name) -> Vec<Name> {
    let created = statements(case).find_map(|statement| match statement {
        Statement::CreateTable(create) if create.name == *table => Some(&create.columns),
        _ => None,
    });
    created.into_iter().flatten().map(|column| column.name.clone()).collect()
}
