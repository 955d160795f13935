//! A name for a bug that does not depend on the example it was found by.

use super::features;
use crate::finding::{Class, Evidence};
use crate::subject::Subject;

/// What a reduced finding has in common with others of the same cause: how it fails, and the features of
/// SQL without which it did not: `wrong-result: left-join row-value`.
///
/// The oracle is no part of it: one cause shows to several. Worth something only for reduced subjects: in
/// others most features are chance.
pub fn signature(subject: &Subject, evidence: &Evidence) -> String {
    let features: Vec<String> = features(subject).into_iter().collect();
    format!("{}: {}", grade(evidence.class), features.join(" "))
}

/// A wrong row shows as a wrong value where the query counts rows: one thing for the cause.
fn grade(class: Class) -> &'static str {
    match class {
        Class::WrongRows | Class::WrongValues => "wrong-result",
        other => other.name(),
    }
}
