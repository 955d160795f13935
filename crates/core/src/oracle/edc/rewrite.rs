//! The rewrite of the tree: every occurrence of the operation becomes the stored column, the base table becomes the
//! stored table, and a HAVING over an aggregate becomes a WHERE over its stored result.

use super::case::{Case, StandIn, strip};
use super::{RESULT, STORED};
use crate::oracle::kit::gate::has_aggregate;
use crate::sql::visit::{Editor, any_expr, edit_expr, edit_select, edit_table, replace_exprs};
use crate::sql::*;

const ALL_COLUMNS: &str = "* or NATURAL JOIN, but the stored table has other columns";

/// The query over the stored table, or why there is none.
pub fn rewrite(query: &Query, case: &Case) -> Result<Query, &'static str> {
    let mut rewritten = query.clone();
    let mut rewriter = Rewriter { case, as_set: false, refused: None };
    rewriter.query(&mut rewritten);
    match rewriter.refused {
        Some(reason) => Err(reason),
        None => Ok(rewritten),
    }
}

/// A query drawn over a table that has the result as a column, as one that computes it.
pub fn inline(query: &mut Query, operation: &Expr) {
    replace_exprs(query, |expr| match expr {
        Expr::Column(reference) if reference.column == RESULT => {
            Some(qualified(operation, reference.table.as_ref()))
        }
        _ => None,
    });
}

/// The operation over the columns of the relation of this name.
pub fn qualified(operation: &Expr, table: Option<&Name>) -> Expr {
    struct Qualify<'a>(Option<&'a Name>);
    impl Editor for Qualify<'_> {
        fn expr(&mut self, expr: &mut Expr) {
            if let Expr::Column(reference) = expr {
                reference.table = self.0.cloned();
            }
            edit_expr(self, expr);
        }
    }
    let mut operation = operation.clone();
    Qualify(table).expr(&mut operation);
    operation
}

/// What stands for the result.
pub fn stand_in(case: &Case, table: Option<&Name>) -> Expr {
    let column = Expr::Column(ColumnRef { table: table.cloned(), column: RESULT.into() });
    let bare = |column| {
        let branches = vec![Branch { when: Expr::int(1), then: column }];
        Expr::Case { operand: None, branches, otherwise: None }
    };
    match &case.stand_in {
        StandIn::Column => column,
        StandIn::Plus => Expr::Unary { op: UnaryOp::Plus, expr: Box::new(column) },
        StandIn::Cast(ty) => Expr::Cast { expr: Box::new(bare(column)), ty: ty.clone() },
        StandIn::Case => bare(column),
    }
}

struct Rewriter<'a> {
    case: &'a Case,
    /// Inside a subquery of which only the set of rows counts.
    as_set: bool,
    refused: Option<&'static str>,
}

impl Rewriter<'_> {
    fn refuse(&mut self, reason: &'static str) {
        self.refused.get_or_insert(reason);
    }

    /// The relation over whose columns this is the operation; `Some(None)` if they are unqualified.
    fn operation_over(&self, expr: &Expr) -> Option<Option<Name>> {
        let operation = &self.case.operation;
        if std::mem::discriminant(expr) != std::mem::discriminant(operation) {
            return None;
        }
        let mut tables: Vec<Option<Name>> = Vec::new();
        any_expr(expr, |inner| {
            if let Expr::Column(reference) = inner
                && !tables.contains(&reference.table)
            {
                tables.push(reference.table.clone());
            }
            false
        });
        match tables.as_slice() {
            [table] if strip(expr) == *operation => Some(table.clone()),
            _ => None,
        }
    }

    fn renamed(&self, table: Option<Name>) -> Option<Name> {
        table.map(|table| if table == self.case.base.name { STORED.into() } else { table })
    }

    fn subquery(&mut self, query: &mut Query, as_set: bool) {
        // What is cut off depends on how often a row is there.
        let as_set = as_set && query.limit.is_none() && query.offset.is_none();
        let before = std::mem::replace(&mut self.as_set, as_set);
        self.query(query);
        self.as_set = before;
    }

    /// Whether a FROM holds only the base table, or does not name it at all.
    fn reads_base(&mut self, from: &[TableRef]) -> bool {
        let is_base =
            |table: &TableRef| matches!(table, TableRef::Table { name, .. } if *name == self.case.base.name);
        match from {
            [table] if is_base(table) => true,
            tables => {
                if tables.iter().any(|table| names(table, &self.case.base.name)) {
                    self.refuse("aggregate over more than the base table");
                }
                false
            }
        }
    }

    /// A query over the groups is one over the rows of the stored table.
    fn ungroup(&mut self, select: &mut Select, keys: &[Name]) {
        let by_keys = select.group_by.len() == keys.len()
            && keys.iter().all(|key| select.group_by.iter().any(|expr| is_column(expr, key)));
        let aggregates = select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => has_aggregate(expr),
            _ => false,
        });
        if select.group_by.is_empty() && !aggregates && select.having.is_none() {
            // Its rows are not those of the groups, but they are the same set.
            if !self.as_set || !select.filter.as_ref().is_none_or(|filter| reads_only(filter, keys)) {
                self.refuse("rows that are not grouped");
            }
            return;
        }
        if !by_keys {
            return self.refuse("not grouped by the keys of the stored table");
        }
        match &select.filter {
            // Without groups an aggregate over no rows is still one row.
            Some(_) if keys.is_empty() => return self.refuse("WHERE before an aggregate without groups"),
            Some(filter) if !reads_only(filter, keys) => {
                return self.refuse("WHERE over other columns than the grouping keys");
            }
            _ => {}
        }
        select.group_by.clear();
        let having = select.having.take();
        select.filter = match (select.filter.take(), having) {
            (Some(filter), Some(having)) => Some(filter.and(having)),
            (filter, having) => filter.or(having),
        };
    }
}

impl Editor for Rewriter<'_> {
    fn select(&mut self, select: &mut Select) {
        if select.items.iter().any(|item| !matches!(item, SelectItem::Expr { .. })) {
            self.refuse(ALL_COLUMNS);
        }
        let keys = self.case.keys.clone();
        if let Some(keys) = &keys
            && self.reads_base(&select.from)
        {
            self.ungroup(select, keys);
            // What is under the table's own clauses is a question of its own.
            let before = std::mem::replace(&mut self.as_set, false);
            edit_select(self, select);
            self.as_set = before;
            let left_over = |expr: &Expr| has_aggregate(expr);
            let items = select.items.iter().any(|item| match item {
                SelectItem::Expr { expr, .. } => left_over(expr),
                _ => true,
            });
            if items || select.filter.as_ref().is_some_and(left_over) {
                self.refuse("another aggregate in the query");
            }
            return;
        }
        edit_select(self, select);
    }

    fn table(&mut self, table: &mut TableRef) {
        if let TableRef::Table { name, .. } = table
            && *name == self.case.base.name
        {
            *name = STORED.into();
        }
        if let TableRef::Join { kind, left, right, on } = table {
            if *on == JoinOn::Natural {
                self.refuse(ALL_COLUMNS);
            }
            let base = &self.case.base.name;
            let padded = match kind {
                JoinKind::Inner | JoinKind::Cross => false,
                JoinKind::Left => names(right, base),
                JoinKind::Right => names(left, base),
                JoinKind::Full => names(left, base) || names(right, base),
            };
            if padded {
                self.refuse("base table on the padded side of an outer join");
            }
        }
        edit_table(self, table);
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Some(table) = self.operation_over(expr) {
            *expr = stand_in(self.case, self.renamed(table).as_ref());
            return;
        }
        match expr {
            Expr::Column(reference) => reference.table = self.renamed(reference.table.take()),
            Expr::InQuery { expr, query, .. } => {
                self.expr(expr);
                self.subquery(query, true);
            }
            Expr::Quantified { left, query, .. } => {
                self.expr(left);
                self.subquery(query, true);
            }
            Expr::Exists { query, .. } => self.subquery(query, true),
            Expr::Subquery(query) => self.subquery(query, false),
            other => edit_expr(self, other),
        }
    }
}

fn is_column(expr: &Expr, name: &Name) -> bool {
    matches!(expr, Expr::Column(reference) if reference.column == *name)
}

/// Whether an expression reads no other columns than these.
fn reads_only(expr: &Expr, columns: &[Name]) -> bool {
    !any_expr(expr, |inner| matches!(inner, Expr::Column(reference) if !columns.contains(&reference.column)))
}

fn names(table: &TableRef, base: &Name) -> bool {
    match table {
        TableRef::Table { name, .. } => name == base,
        TableRef::Join { left, right, .. } => names(left, base) || names(right, base),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::dialect::Dialect;
    use crate::render::{Parens, query_to_sql};
    use crate::subject::Subject;

    fn rewritten(operation: Expr, select: Select) -> std::result::Result<String, &'static str> {
        let column = |name: &str| ColumnDef {
            name: name.into(),
            ty: DataType::new("INTEGER", Kind::Int),
            constraints: Vec::new(),
        };
        let base = CreateTable {
            name: "e0".into(),
            temporary: false,
            columns: vec![column("c0"), column("c1")],
            constraints: Vec::new(),
            options: Vec::new(),
            module: None,
            query: None,
        };
        let query = Query::select(select);
        let subject = Subject::new("edc", query.clone()).with_expr(operation);
        let dialect = Dialect::load("postgres", "18").unwrap();
        let database = Database::of(&[Statement::CreateTable(base)], &dialect);
        let case = Case::read(&subject, &database, &dialect)?;
        Ok(query_to_sql(&rewrite(&query, &case)?, &dialect, Parens::Needed))
    }

    fn column(table: &str, name: &str) -> Expr {
        Expr::column(table, name)
    }

    fn from(alias: Option<&str>) -> Vec<TableRef> {
        vec![TableRef::Table { name: "e0".into(), alias: alias.map(Name::from), hint: None }]
    }

    #[test]
    fn every_occurrence_becomes_the_column_of_its_own_table() {
        let sum = |table: &str| Expr::binary(BinaryOp::Add, column(table, "c0"), column(table, "c1"));
        let mixed = Expr::binary(BinaryOp::Add, column("e0", "c0"), column("a0", "c1"));
        let inner = Select {
            items: vec![sum("a0").into(), mixed.into()],
            from: from(Some("a0")),
            ..Select::default()
        };
        let exists = Expr::Exists { query: Box::new(Query::select(inner)), negated: false };
        let select = Select {
            items: vec![sum("e0").into(), column("e0", "c1").into()],
            from: from(None),
            filter: Some(exists),
            ..Select::default()
        };
        assert_eq!(
            rewritten(sum("e0"), select).unwrap(),
            "SELECT stored0.result0, stored0.c1 FROM stored0 WHERE EXISTS \
             (SELECT a0.result0, stored0.c0 + a0.c1 FROM stored0 AS a0)"
        );
    }

    #[test]
    fn a_having_over_the_aggregate_becomes_a_where() {
        let most = Expr::aggregate("MAX", vec![column("e0", "c0")]);
        let compare = |left, value| Expr::binary(BinaryOp::Gt, left, Expr::int(value));
        let select = Select {
            items: vec![most.clone().into(), column("e0", "c1").into()],
            from: from(None),
            filter: Some(compare(column("e0", "c1"), 1)),
            group_by: vec![column("e0", "c1")],
            having: Some(compare(most.clone(), 2)),
            ..Select::default()
        };
        assert_eq!(
            rewritten(most.clone(), select.clone()).unwrap(),
            "SELECT stored0.result0, stored0.c1 FROM stored0 WHERE stored0.c1 > 1 AND stored0.result0 > 2"
        );
        let over_rows = Select { filter: Some(compare(column("e0", "c0"), 1)), ..select };
        assert_eq!(rewritten(most, over_rows), Err("WHERE over other columns than the grouping keys"));
    }
}
