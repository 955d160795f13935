//! The order in which a database is built.

use super::{Generator, choices};
use crate::dialect::Feature;
use crate::sql::Statement;

choices! {
    odds {
        INITIAL_SETTING = "plan.initial-setting": 15,
        UNIQUE_INDEX = "plan.unique-index": 25,
        MORE_ROWS = "plan.more-rows": 30,
        ANALYZE = "plan.analyze": 35,
        SETTING = "plan.setting": 35,
    }
}

/// One step of building a database; each is drawn over the state that the steps before it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A setting that must be made before the first table.
    InitialSetting,
    /// A setting that can be made at any time.
    Setting,
    /// A table.
    Table,
    /// A unique index can only be promised to succeed while the table is empty.
    UniqueIndex,
    /// An index.
    Index,
    /// Rows for the table of this number.
    Rows(usize),
    /// A view.
    View,
    /// A change to what is there: rows, schema, settings.
    Change,
    /// Statistics of what is there.
    Analyze,
}

impl Generator<'_> {
    /// The stages of a new database.
    pub fn plan(&mut self) -> Vec<Stage> {
        let policy = self.policy;
        let mut stages = Vec::new();
        if self.odds(&INITIAL_SETTING) {
            stages.push(Stage::InitialSetting);
        }
        let tables = self.rng.between(1, policy.max_tables);
        stages.extend(std::iter::repeat_n(Stage::Table, tables));
        if self.odds(&UNIQUE_INDEX) {
            stages.push(Stage::UniqueIndex);
        }
        let indexes = self.rng.between(0, policy.max_indexes);
        let before_rows = self.rng.between(0, indexes);
        stages.extend(std::iter::repeat_n(Stage::Index, before_rows));
        for table in 0..tables {
            stages.push(Stage::Rows(table));
            if self.odds(&MORE_ROWS) {
                stages.push(Stage::Rows(table));
            }
        }
        stages.extend(std::iter::repeat_n(Stage::Index, indexes - before_rows));
        stages.extend(std::iter::repeat_n(Stage::Change, self.rng.below(3)));
        stages.extend(std::iter::repeat_n(Stage::View, self.rng.between(0, policy.max_views)));
        if self.odds(&ANALYZE) {
            stages.push(Stage::Analyze);
        }
        if self.odds(&SETTING) {
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
