//! Changes the query of a view.

use crate::generate::Generator;
use crate::mutate::{Mutation, query};
use crate::sql::Statement;

pub(super) struct View;

impl Mutation<Statement> for View {
    fn applies(&self, statement: &Statement, _: Option<&Statement>) -> bool {
        matches!(statement, Statement::CreateView(_))
    }

    fn apply(&self, generator: &mut Generator, statement: &mut Statement, _: Option<&Statement>) {
        let Statement::CreateView(create) = statement else { return };
        let columns = create.query.as_select().map(|select| select.items.len());
        let before = create.query.clone();
        query(generator, &mut create.query, None);
        // Its columns are named by others.
        if create.query.as_select().map(|select| select.items.len()) != columns {
            create.query = before;
        }
    }
}
