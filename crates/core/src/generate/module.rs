//! Tables that a module holds, and functions in FROM.

use std::sync::Arc;

use super::{Generator, choices};
use crate::dialect::{Module, TableArgument};
use crate::sql::*;
use crate::state::{Relation, State, Table};

choices! {
    odds {
        MODULE = "schema.module": 12,
        ARGUMENT = "schema.module.argument": 40,
        SEARCH = "query.module.search": 60,
        WHOLE = "cell.module.whole": 50,
        LATERAL = "query.table-function.lateral": 60,
    }
}

impl Generator<'_> {
    /// A table of a module, where the dialect has any.
    pub(super) fn module_table(&mut self) -> Option<CreateTable> {
        let dialect = self.dialect;
        let weights: Vec<u32> = dialect.modules.iter().map(|module| module.weight).collect();
        if weights.is_empty() || !self.odds(&MODULE) {
            return None;
        }
        let module = &dialect.modules[self.rng.weighted(&weights)];
        let times = self.rng.between(1, module.most as usize);
        let count = module.columns.len() + module.more.len() * times;
        let column = |at: usize| ColumnDef {
            name: Name::from(format!("c{at}")),
            ty: DataType::new("", module.column(at).map_or(Kind::Any, |column| column.kind)),
            constraints: Vec::new(),
        };
        let argument = self.odds(&ARGUMENT).then(|| self.rng.choose(&module.arguments).cloned()).flatten();
        Some(CreateTable {
            name: self.fresh_name('t'),
            temporary: false,
            columns: (0..count).map(column).collect(),
            constraints: Vec::new(),
            options: argument.into_iter().collect(),
            module: Some(module.name.clone()),
            query: None,
        })
    }

    /// A number that a module stores as it is: a whole one, or quarters.
    pub(super) fn value_within(&mut self, kind: Kind, low: i64, high: i64) -> Value {
        let whole = low + self.rng.below((high - low + 1) as usize) as i64;
        match kind {
            Kind::Int => Value::Int(whole),
            _ if self.odds(&WHOLE) => Value::Int(whole),
            _ => Value::Real(whole as f64 + self.rng.below(4) as f64 / 4.0),
        }
    }

    /// A search in one of the relations in scope, if a module that can be searched holds it.
    pub(super) fn search(&mut self) -> Option<Expr> {
        let (dialect, state) = (self.dialect, self.state);
        let module = |relation: &Relation| dialect.module(module_of(relation, state)?);
        let found: Vec<(Relation, &Module)> =
            self.relations().iter().filter_map(|it| Some((it.clone(), module(it)?))).collect();
        let (relation, module) = self.rng.choose(&found)?;
        let search = module.search.as_ref()?;
        let column = self.rng.choose(&relation.columns)?;
        let pattern = self.rng.choose(&search.patterns)?;
        let args = vec![self.column_expr(relation, column), Expr::text(pattern.clone())];
        let form = search.form.clone();
        self.odds(&SEARCH).then_some(Expr::Operation { form, args })
    }

    /// A function in FROM; `lateral`: it may look at the relations before it.
    pub(super) fn has_table_functions(&self) -> bool {
        !self.dialect.table_functions.is_empty()
    }

    pub(super) fn table_function(&mut self, lateral: bool) -> Option<TableRef> {
        let dialect = self.dialect;
        let function = self.rng.choose(&dialect.table_functions)?;
        let args = function.args.iter().map(|arg| self.table_argument(arg, lateral)).collect();
        let alias = self.fresh_name('a');
        self.product = self.product.saturating_mul(function.rows);
        let columns = match function.renamed {
            true => function.columns.iter().map(|column| column.name.clone()).collect(),
            false => Vec::new(),
        };
        let table = TableRef::Function { name: function.name.clone(), args, alias, columns };
        let mut relations = Vec::new();
        self.state.relations_of(&table, None, dialect, &mut relations);
        let known = relations.into_iter().map(|(alias, columns)| Relation { alias, columns });
        self.scope.extend(known);
        Some(table)
    }

    fn table_argument(&mut self, argument: &TableArgument, lateral: bool) -> Expr {
        if lateral
            && let Some((kind, form)) = &argument.lateral
            && self.odds(&LATERAL)
            && let Some(column) = self.own_column(*kind)
        {
            let places = form.matches("{}").count();
            return Expr::Operation { form: form.clone(), args: vec![column.expr; places] };
        }
        let value = self.rng.choose(&argument.values).map_or(Value::Null, |text| argument.value(text));
        Expr::Literal(value)
    }
}

/// The module that holds a relation's rows, if one does.
fn module_of<'s>(relation: &Relation, state: &'s State) -> Option<&'s Name> {
    let is_this = |table: &&Table| Arc::ptr_eq(&table.columns, &relation.columns);
    state.base_tables().find(is_this)?.module.as_ref()
}
