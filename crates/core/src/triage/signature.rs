//! A name for a bug that does not depend on the example it was found by.

use super::features;
use crate::finding::{Class, Evidence};
use crate::subject::Subject;

/// What a reduced finding has in common with others of the same cause: the family of the oracle, how it
/// fails, and the features of SQL without which it did not: `tlp wrong-rows: left-join row-value`.
///
/// Worth something only for reduced subjects: in others most features are chance.
pub fn signature(subject: &Subject, evidence: &Evidence) -> String {
    let features: Vec<String> = features(subject).into_iter().collect();
    format!("{} {}: {}", family(&subject.oracle), grade(evidence.class), features.join(" "))
}

/// `tlp` for every `tlp-…`: they ask the same question of different queries.
pub fn family(oracle: &str) -> &str {
    oracle.split('-').next().unwrap_or(oracle)
}

/// A wrong row shows as a wrong value where the query counts rows: one thing for the cause.
fn grade(class: Class) -> &'static str {
    match class {
        Class::WrongRows | Class::WrongValues => "wrong-result",
        other => other.name(),
    }
}
