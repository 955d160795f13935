//! The switches that a test case has: settings of its engine, and parts of its schema.

use crate::dialect::{Dialect, Setting};
use crate::features::hyphenated;
use crate::finding::Switch;
use crate::render::to_sql;
use crate::sql::*;
use crate::subject::TestCase;

/// A switch, and the test case with it.
pub struct Trial {
    /// What is changed.
    pub switch: Switch,
    /// The test case after the change.
    pub case: TestCase,
}

/// The test case with settings made when its database is built.
pub fn with_settings(case: &TestCase, settings: &[(Name, Name)]) -> TestCase {
    let mut case = case.clone();
    let made =
        settings.iter().map(|(name, value)| Statement::Set { name: name.clone(), value: value.clone() });
    case.setup.extend(made);
    case
}

/// How telling a setting is: one that names single optimizations says more than a limit, and that more than one that
/// switches the whole optimizer off.
pub fn rank(setting: &Setting, dialect: &Dialect) -> u8 {
    let names_parts =
        setting.values.iter().any(|value| parts(value).is_some_and(|parts| parts.len() > MOST_SINGLE));
    let is_number = |value: &Name| value.parse::<f64>().is_ok_and(|number| number != 0.0 && number != 1.0);
    if dialect.discovery.masters.contains(&setting.name) {
        3
    } else if names_parts {
        0
    } else if setting.values.iter().any(is_number) {
        2
    } else {
        1
    }
}

/// Values of so many parts still count as one: `'mrr=on,mrr_sort_keys=on'`.
const MOST_SINGLE: usize = 2;

/// Whether a value switches many things at once.
pub fn is_strong(value: &Name) -> bool {
    parts(value).is_some_and(|parts| parts.len() > MOST_SINGLE)
}

/// The parts of a value that is a list or a mask: `'a,b'`, `0x00000003`.
pub fn parts(value: &Name) -> Option<Vec<Name>> {
    if let Some(digits) = value.strip_prefix("0x") {
        let mask = u32::from_str_radix(digits, 16).ok()?;
        let bits = (0..u32::BITS).map(|bit| 1_u32 << bit).filter(|bit| mask & bit != 0);
        return Some(bits.map(mask_of).collect());
    }
    let items = value.strip_prefix('\'')?.strip_suffix('\'')?;
    items.contains(',').then(|| items.split(',').map(Name::from).collect())
}

/// The value that has these parts.
pub fn joined(parts: &[Name]) -> Name {
    let bits = parts.iter().map(|part| u32::from_str_radix(part.strip_prefix("0x")?, 16).ok());
    match bits.collect::<Option<Vec<u32>>>() {
        Some(bits) => mask_of(bits.into_iter().fold(0, |mask, bit| mask | bit)),
        None => Name::from(format!("'{}'", parts.join(","))),
    }
}

fn mask_of(mask: u32) -> Name {
    Name::from(format!("{mask:#010x}"))
}

/// The test case without each part of its schema that should not matter to an answer, and without what ANALYZE
/// gathers.
pub fn without_parts(case: &TestCase, dialect: &Dialect) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (at, statement) in case.setup.iter().enumerate() {
        let mut add = |part: String, named: String, edited: Option<Statement>| {
            let mut case = case.clone();
            match edited {
                Some(edited) => case.setup[at] = edited,
                None => drop(case.setup.remove(at)),
            }
            trials.push(Trial { switch: Switch::Without { part, named }, case });
        };
        match statement {
            Statement::CreateIndex(_) => add("index".into(), to_sql(statement, dialect), None),
            Statement::Analyze(_) => add("analyze".into(), to_sql(statement, dialect), None),
            Statement::CreateTable(create) => {
                for (part, named, edited) in parts_of_table(create) {
                    add(part, named, Some(Statement::CreateTable(edited)));
                }
            }
            _ => {}
        }
    }
    trials
}

fn parts_of_table(create: &CreateTable) -> Vec<(String, String, CreateTable)> {
    let mut edits = Vec::new();
    let table = &create.name;
    for (at, option) in create.options.iter().enumerate() {
        let mut edited = create.clone();
        edited.options.remove(at);
        edits.push((hyphenated(option), format!("{option} of {table}"), edited));
    }
    for (at, constraint) in create.constraints.iter().enumerate() {
        let mut edited = create.clone();
        edited.constraints.remove(at);
        let word = match constraint {
            TableConstraint::PrimaryKey(_) => "PRIMARY KEY",
            TableConstraint::Unique(_) => "UNIQUE",
            TableConstraint::Check(_) => "CHECK",
            TableConstraint::ForeignKey { .. } => "FOREIGN KEY",
            TableConstraint::Index { .. } => "INDEX",
        };
        edits.push((hyphenated(word), format!("{word} of {table}"), edited));
    }
    for (number, column) in create.columns.iter().enumerate() {
        for (at, constraint) in column.constraints.iter().enumerate() {
            let word = match constraint {
                ColumnConstraint::NotNull => "NOT NULL",
                ColumnConstraint::PrimaryKey { .. } => "PRIMARY KEY",
                ColumnConstraint::Unique { .. } => "UNIQUE",
                ColumnConstraint::Check(_) => "CHECK",
                ColumnConstraint::References { .. } => "REFERENCES",
                // These decide what is stored, or how it compares.
                ColumnConstraint::Default(_)
                | ColumnConstraint::Collate(_)
                | ColumnConstraint::Generated { .. } => continue,
            };
            let mut edited = create.clone();
            edited.columns[number].constraints.remove(at);
            edits.push((hyphenated(word), format!("{word} of {table}.{}", column.name), edited));
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_apart_and_put_together() {
        let names = |names: &[&str]| names.iter().map(|name| Name::from(*name)).collect::<Vec<_>>();
        assert_eq!(parts(&"0x00002001".into()), Some(names(&["0x00000001", "0x00002000"])));
        assert_eq!(parts(&"'a=off,b=off'".into()), Some(names(&["a=off", "b=off"])));
        assert_eq!(parts(&"'a'".into()), None);
        assert_eq!(parts(&"12".into()), None);
        for value in ["0x00002001", "'a=off,b=off'"] {
            assert_eq!(joined(&parts(&value.into()).unwrap()), value);
        }
        assert!(is_strong(&"0xfdffffff".into()) && !is_strong(&"0x00000001".into()));
    }
}
