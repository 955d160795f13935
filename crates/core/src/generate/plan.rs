//! The order in which a database is built.

use super::Generator;
use crate::dialect::Feature;
use crate::sql::Statement;

/// One step of building a database; each is drawn over the state that the steps before it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    InitialSetting,
    Setting,
    Table,
    /// A unique index can only be promised to succeed while the table is empty.
    UniqueIndex,
    Index,
    /// Rows for the table of this number.
    Rows(usize),
    View,
    Change,
    Analyze,
}

impl Generator<'_> {
    /// The stages of a new database.
    pub fn plan(&mut self) -> Vec<Stage> {
        let policy = self.policy;
        let mut stages = Vec::new();
        if self.rng.chance(15) {
            stages.push(Stage::InitialSetting);
        }
        let tables = self.rng.between(1, policy.max_tables);
        stages.extend(std::iter::repeat_n(Stage::Table, tables));
        if self.rng.chance(25) {
            stages.push(Stage::UniqueIndex);
        }
        let indexes = self.rng.between(0, policy.max_indexes);
        let before_rows = self.rng.between(0, indexes);
        stages.extend(std::iter::repeat_n(Stage::Index, before_rows));
        for table in 0..tables {
            stages.push(Stage::Rows(table));
            if self.rng.chance(30) {
                stages.push(Stage::Rows(table));
            }
        }
        stages.extend(std::iter::repeat_n(Stage::Index, indexes - before_rows));
        stages.extend(std::iter::repeat_n(Stage::Change, self.rng.below(3)));
        stages.extend(std::iter::repeat_n(Stage::View, self.rng.between(0, policy.max_views)));
        if self.rng.chance(35) {
            stages.push(Stage::Analyze);
        }
        if self.rng.chance(35) {
            stages.push(Stage::Setting);
        }
        stages
    }

    /// The statements of a stage; none if the state or the dialect has no room for it.
    pub fn stage(&mut self, stage: Stage) -> Vec<Statement> {
        let drawn = match stage {
            Stage::InitialSetting => self.initial_setting(),
            Stage::Setting => self.setting(),
            Stage::Table => return self.create_table(),
            Stage::UniqueIndex => self.create_index(true),
            Stage::Index => self.create_index(false),
            Stage::Rows(table) => {
                let table = self.state.base_tables().nth(table).map(|table| table.name.clone());
                table.and_then(|table| self.insert_rows(&table))
            }
            Stage::View => self.create_view(),
            Stage::Change => return self.change(),
            Stage::Analyze if self.dialect.can(Feature::Analyze) => Some(Statement::Analyze(None)),
            Stage::Analyze => self.maintenance(),
        };
        drawn.into_iter().collect()
    }
}
