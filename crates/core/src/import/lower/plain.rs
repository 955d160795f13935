//! Simple statements that need no parser: `PRAGMA x = y`, `ANALYZE t`, `BEGIN`.

use crate::dialect::{Dialect, Feature};
use crate::sql::{Name, Statement};

pub fn statement(text: &str, dialect: &Dialect) -> Option<Statement> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first()?.to_ascii_uppercase();
    let name = |word: &str| is_name(word).then(|| Name::from(word));
    Some(match (first.as_str(), &words[1..]) {
        ("PRAGMA", _) if dialect.can(Feature::Pragma) => setting(text)?,
        ("SET", _) if !dialect.can(Feature::Pragma) => setting(text)?,
        ("ANALYZE", []) => Statement::Analyze(None),
        ("ANALYZE", [table]) => Statement::Analyze(Some(name(table)?)),
        ("REINDEX", []) => Statement::Reindex(None),
        ("REINDEX", [index]) => Statement::Reindex(Some(name(index)?)),
        ("VACUUM", []) => Statement::Vacuum,
        ("BEGIN", []) => Statement::Begin,
        ("COMMIT", []) => Statement::Commit,
        ("ROLLBACK", []) => Statement::Rollback,
        ("SAVEPOINT", [savepoint]) => Statement::Savepoint(name(savepoint)?),
        ("RELEASE", [savepoint]) => Statement::Release(name(savepoint)?),
        ("RELEASE", [word, savepoint]) if word.eq_ignore_ascii_case("savepoint") => {
            Statement::Release(name(savepoint)?)
        }
        ("ROLLBACK", [to, word, savepoint])
            if to.eq_ignore_ascii_case("to") && word.eq_ignore_ascii_case("savepoint") =>
        {
            Statement::RollbackTo(name(savepoint)?)
        }
        _ => return None,
    })
}

fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `PRAGMA name = value`, `SET name = value`.
fn setting(text: &str) -> Option<Statement> {
    let (_, rest) = text.trim().split_once(char::is_whitespace)?;
    let (name, value) = rest.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let quoted = |value: &str| value.len() > 1 && value.starts_with('\'') && value.ends_with('\'');
    let plain = is_name(value.strip_prefix('-').unwrap_or(value)) || quoted(value);
    (is_name(name) && plain && !value.is_empty())
        .then(|| Statement::Set { name: name.into(), value: value.into() })
}
