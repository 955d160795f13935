//! Walking trees: one traversal, for reading ([`Visitor`]) and for editing ([`Editor`]).
//!
//! A visitor sees a node before its children, and descends by calling the matching `walk_…`. One macro generates
//! both traversals, so they cannot diverge.

use super::*;

macro_rules! traversal {
    ($Trait:ident, $walk_statement:ident, $walk_query:ident, $walk_body:ident, $walk_select:ident,
     $walk_table:ident, $walk_expr:ident, $doc:literal, $($m:tt)?) => {
        #[doc = $doc]
        pub trait $Trait {
            /// Meets a statement; by default goes on to what is inside it.
            fn statement(&mut self, statement: &$($m)? Statement) {
                $walk_statement(self, statement);
            }
            /// Meets a query, on its own or inside something else; by default goes on to what is inside it.
            fn query(&mut self, query: &$($m)? Query) {
                $walk_query(self, query);
            }
            /// Meets the body of a query; by default goes on to what is inside it.
            fn body(&mut self, body: &$($m)? Body) {
                $walk_body(self, body);
            }
            /// Meets a SELECT; by default goes on to what is inside it.
            fn select(&mut self, select: &$($m)? Select) {
                $walk_select(self, select);
            }
            /// Meets an operand of FROM; by default goes on to what is inside it.
            fn table(&mut self, table: &$($m)? TableRef) {
                $walk_table(self, table);
            }
            /// Meets an expression; by default goes on to what is inside it.
            fn expr(&mut self, expr: &$($m)? Expr) {
                $walk_expr(self, expr);
            }
        }

        /// Goes on to the queries and expressions right inside a statement.
        pub fn $walk_statement<V: $Trait + ?Sized>(v: &mut V, statement: &$($m)? Statement) {
            match statement {
                Statement::CreateTable(create) => {
                    for column in &$($m)? create.columns {
                        for constraint in &$($m)? column.constraints {
                            match constraint {
                                ColumnConstraint::Check(expr)
                                | ColumnConstraint::Default(expr)
                                | ColumnConstraint::Generated { expr, .. } => v.expr(expr),
                                _ => {}
                            }
                        }
                    }
                    for constraint in &$($m)? create.constraints {
                        match constraint {
                            TableConstraint::PrimaryKey(keys)
                            | TableConstraint::Unique(keys)
                            | TableConstraint::Index { keys, .. } => {
                                for key in keys {
                                    v.expr(&$($m)? key.expr);
                                }
                            }
                            TableConstraint::Check(expr) => v.expr(expr),
                            TableConstraint::ForeignKey { .. } => {}
                        }
                    }
                    if let Some(query) = &$($m)? create.query {
                        v.query(query);
                    }
                }
                Statement::CreateIndex(create) => {
                    for key in &$($m)? create.keys {
                        v.expr(&$($m)? key.expr);
                    }
                    if let Some(filter) = &$($m)? create.filter {
                        v.expr(filter);
                    }
                }
                Statement::CreateView(create) => v.query(&$($m)? create.query),
                Statement::Insert(insert) => {
                    match &$($m)? insert.source {
                        InsertSource::Values(rows) => {
                            for expr in rows.into_iter().flatten() {
                                v.expr(expr);
                            }
                        }
                        InsertSource::Query(query) => v.query(query),
                        InsertSource::Defaults => {}
                    }
                    if let Some(upsert) = &$($m)? insert.upsert {
                        for assignment in &$($m)? upsert.assignments {
                            v.expr(&$($m)? assignment.value);
                        }
                        if let Some(filter) = &$($m)? upsert.filter {
                            v.expr(filter);
                        }
                    }
                }
                Statement::Update(update) => {
                    for assignment in &$($m)? update.assignments {
                        v.expr(&$($m)? assignment.value);
                    }
                    if let Some(filter) = &$($m)? update.filter {
                        v.expr(filter);
                    }
                }
                Statement::Delete(delete) => {
                    if let Some(filter) = &$($m)? delete.filter {
                        v.expr(filter);
                    }
                }
                Statement::AlterTable { action: AlterAction::AddColumn(column), .. } => {
                    for constraint in &$($m)? column.constraints {
                        match constraint {
                            ColumnConstraint::Check(expr)
                            | ColumnConstraint::Default(expr)
                            | ColumnConstraint::Generated { expr, .. } => v.expr(expr),
                            _ => {}
                        }
                    }
                }
                Statement::Execute { args, .. } => {
                    for arg in args {
                        v.expr(arg);
                    }
                }
                Statement::Prepare { statement, .. } | Statement::Explain(statement) => {
                    v.statement(statement);
                }
                Statement::Query(query) => v.query(query),
                _ => {}
            }
        }

        /// Goes on to the parts of a query: common table expressions, body, ORDER BY, LIMIT.
        pub fn $walk_query<V: $Trait + ?Sized>(v: &mut V, query: &$($m)? Query) {
            if let Some(with) = &$($m)? query.with {
                for table in &$($m)? with.tables {
                    v.query(&$($m)? table.query);
                }
            }
            v.body(&$($m)? query.body);
            for item in &$($m)? query.order_by {
                v.expr(&$($m)? item.expr);
            }
            if let Some(limit) = &$($m)? query.limit {
                v.expr(limit);
            }
            if let Some(offset) = &$($m)? query.offset {
                v.expr(offset);
            }
        }

        /// Goes on to the SELECTs, queries or values of a body.
        pub fn $walk_body<V: $Trait + ?Sized>(v: &mut V, body: &$($m)? Body) {
            match body {
                Body::Select(select) => v.select(select),
                Body::Compound { left, right, .. } => {
                    v.body(left);
                    v.body(right);
                }
                Body::Values(rows) => {
                    for expr in rows.into_iter().flatten() {
                        v.expr(expr);
                    }
                }
                Body::Nested(query) => v.query(query),
            }
        }

        /// Goes on to the parts of a SELECT, in the order they are written.
        pub fn $walk_select<V: $Trait + ?Sized>(v: &mut V, select: &$($m)? Select) {
            for item in &$($m)? select.items {
                if let SelectItem::Expr { expr, .. } = item {
                    v.expr(expr);
                }
            }
            for table in &$($m)? select.from {
                v.table(table);
            }
            if let Some(filter) = &$($m)? select.filter {
                v.expr(filter);
            }
            for expr in &$($m)? select.group_by {
                v.expr(expr);
            }
            if let Some(having) = &$($m)? select.having {
                v.expr(having);
            }
            for window in &$($m)? select.windows {
                for expr in &$($m)? window.spec.partition_by {
                    v.expr(expr);
                }
                for item in &$($m)? window.spec.order_by {
                    v.expr(&$($m)? item.expr);
                }
            }
        }

        /// Goes on to the queries, operands and conditions right inside an operand of FROM.
        pub fn $walk_table<V: $Trait + ?Sized>(v: &mut V, table: &$($m)? TableRef) {
            match table {
                TableRef::Table { .. } => {}
                TableRef::Derived { query, .. } => v.query(query),
                TableRef::Join { left, right, on, .. } => {
                    v.table(left);
                    v.table(right);
                    if let JoinOn::On(condition) = on {
                        v.expr(condition);
                    }
                }
                TableRef::Function { args, .. } => {
                    for arg in args {
                        v.expr(arg);
                    }
                }
            }
        }

        /// Goes on to the operands and queries right inside an expression.
        pub fn $walk_expr<V: $Trait + ?Sized>(v: &mut V, expr: &$($m)? Expr) {
            match expr {
                Expr::Literal(_) | Expr::Bound(_) | Expr::Column(_) | Expr::Param(_) | Expr::Raw(_) => {}
                Expr::Unary { expr, .. }
                | Expr::Is { expr, .. }
                | Expr::Cast { expr, .. }
                | Expr::Collate { expr, .. } => v.expr(expr),
                Expr::Binary { left, right, .. } => {
                    v.expr(left);
                    v.expr(right);
                }
                Expr::Between { expr, low, high, .. } => {
                    v.expr(expr);
                    v.expr(low);
                    v.expr(high);
                }
                Expr::InList { expr, list, .. } => {
                    v.expr(expr);
                    for item in list {
                        v.expr(item);
                    }
                }
                Expr::InQuery { expr, query, .. } => {
                    v.expr(expr);
                    v.query(query);
                }
                Expr::Exists { query, .. } | Expr::Subquery(query) => v.query(query),
                Expr::Quantified { left, query, .. } => {
                    v.expr(left);
                    v.query(query);
                }
                Expr::Match { expr, pattern, escape, .. } => {
                    v.expr(expr);
                    v.expr(pattern);
                    if let Some(escape) = escape {
                        v.expr(escape);
                    }
                }
                Expr::Case { operand, branches, otherwise } => {
                    if let Some(operand) = operand {
                        v.expr(operand);
                    }
                    for branch in branches {
                        v.expr(&$($m)? branch.when);
                        v.expr(&$($m)? branch.then);
                    }
                    if let Some(otherwise) = otherwise {
                        v.expr(otherwise);
                    }
                }
                Expr::Function { args, .. } | Expr::Operation { args, .. } | Expr::Row(args) => {
                    for arg in args {
                        v.expr(arg);
                    }
                }
                Expr::Aggregate(aggregate) => {
                    for arg in &$($m)? aggregate.args {
                        v.expr(arg);
                    }
                    for item in &$($m)? aggregate.order_by {
                        v.expr(&$($m)? item.expr);
                    }
                    if let Some(filter) = &$($m)? aggregate.filter {
                        v.expr(filter);
                    }
                }
                Expr::Window(window) => {
                    for arg in &$($m)? window.function.args {
                        v.expr(arg);
                    }
                    if let Some(filter) = &$($m)? window.function.filter {
                        v.expr(filter);
                    }
                    if let Over::Spec(spec) = &$($m)? window.over {
                        for expr in &$($m)? spec.partition_by {
                            v.expr(expr);
                        }
                        for item in &$($m)? spec.order_by {
                            v.expr(&$($m)? item.expr);
                        }
                    }
                }
            }
        }
    };
}

traversal!(
    Visitor,
    walk_statement,
    walk_query,
    walk_body,
    walk_select,
    walk_table,
    walk_expr,
    "Reads a tree, node before children.",
);
traversal!(
    Editor,
    edit_statement,
    edit_query,
    edit_body,
    edit_select,
    edit_table,
    edit_expr,
    "Edits a tree in place, node before children.",
    mut
);

/// Calls `f` on every expression of a query, subqueries included.
pub fn each_expr(query: &Query, f: impl FnMut(&Expr)) {
    struct Each<F>(F);
    impl<F: FnMut(&Expr)> Visitor for Each<F> {
        fn expr(&mut self, expr: &Expr) {
            (self.0)(expr);
            walk_expr(self, expr);
        }
    }
    Each(f).query(query);
}

/// Whether an expression, or one below it, fits. Subqueries are looked into.
pub fn any_expr(expr: &Expr, test: impl FnMut(&Expr) -> bool) -> bool {
    struct Any<F> {
        test: F,
        found: bool,
    }
    impl<F: FnMut(&Expr) -> bool> Visitor for Any<F> {
        fn expr(&mut self, expr: &Expr) {
            if !self.found {
                self.found = (self.test)(expr);
                walk_expr(self, expr);
            }
        }
    }
    let mut any = Any { test, found: false };
    any.expr(expr);
    any.found
}

/// Replaces every expression that `f` gives a substitute for; substitutes are not looked into.
pub fn replace_exprs(query: &mut Query, f: impl FnMut(&Expr) -> Option<Expr>) {
    struct Replace<F>(F);
    impl<F: FnMut(&Expr) -> Option<Expr>> Editor for Replace<F> {
        fn expr(&mut self, expr: &mut Expr) {
            match (self.0)(expr) {
                Some(substitute) => *expr = substitute,
                None => edit_expr(self, expr),
            }
        }
    }
    Replace(f).query(query);
}
