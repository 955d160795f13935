//! Changes the value of a setting.

use crate::generate::Generator;
use crate::mutate::Mutation;
use crate::sql::Statement;

pub(super) struct Setting;

impl Mutation<Statement> for Setting {
    fn applies(&self, statement: &Statement, _: Option<&Statement>) -> bool {
        matches!(statement, Statement::Set { .. })
    }

    fn apply(&self, generator: &mut Generator, statement: &mut Statement, _: Option<&Statement>) {
        let Statement::Set { name, value } = statement else { return };
        let dialect = generator.dialect;
        if let Some(setting) = dialect.settings.iter().find(|setting| setting.name == *name)
            && let Some(other) = generator.rng.choose(&setting.values)
        {
            *value = other.clone();
        }
    }
}
