//! A name for a bug that does not depend on the example that showed it.

use std::collections::BTreeSet;

use crate::features::Features;
use crate::finding::{Class, Evidence, Signature};
use crate::oracle;
use crate::subject::TestCase;

/// What a reduced finding has in common with others of the same cause: how it fails, and the features of
/// SQL without which it did not.
///
/// The oracle is not part of it: several oracles may find one cause. Worth something only for reduced test cases: in
/// others most features are chance. An internal error names its place in the engine better than any query
/// that reaches it: `internal-error: Left and right columns have same names`.
pub fn signature(case: &TestCase, evidence: &Evidence) -> Signature {
    let message = words(evidence);
    let names_its_place = evidence.class == Class::InternalError
        && !message.is_empty()
        && !message.iter().any(|word| NAMES_NO_PLACE.contains(&word.as_str()));
    let features = if names_its_place { BTreeSet::new() } else { features(case) };
    Signature { fails: evidence.class.grade().to_string(), message, features }
}

/// Words of messages that are the same for every cause.
const NAMES_NO_PLACE: [&str; 1] = ["malformed"];

/// What the engine says, of a failure that is known by that.
fn words(evidence: &Evidence) -> Vec<String> {
    match (evidence.class, evidence.error()) {
        (Class::InternalError | Class::ErrorDivergence | Class::Changed, Some(error)) => error.words(),
        _ => Vec::new(),
    }
}

/// Whether two failures are of one kind; of errors, whether they say the same.
pub fn is_same_failure(one: &Evidence, other: &Evidence) -> bool {
    one.class == other.class && words(one) == words(other)
}

/// What a test case is made of, as its oracle sees it.
pub fn features(case: &TestCase) -> BTreeSet<String> {
    let oracle = oracle::by_name(&case.subject.oracle);
    without_chance(oracle.map_or_else(|| Features::default().of(case), |oracle| oracle.features(case)))
}

/// How a table is stored explains a failure better than the comparison that showed it: any would have.
pub(super) const STORAGE: [&str; 4] = ["without-rowid", "key-desc", "add-column", "generated"];
const ANY_PREDICATE: [&str; 5] = ["and", "or", "not", "compare", "is-null"];

/// But what a partial index or one over an expression is good for depends on the predicate.
const PREDICATE_MATTERS: [&str; 2] = ["index-partial", "index-expression"];

fn without_chance(mut words: BTreeSet<String>) -> BTreeSet<String> {
    let holds = |listed: &[&str]| listed.iter().any(|word| words.contains(*word));
    if holds(&STORAGE) && !holds(&PREDICATE_MATTERS) {
        words.retain(|word| !ANY_PREDICATE.contains(&word.as_str()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{ErrorClass, SqlError};
    use crate::finding::Failure;
    use crate::sql::*;
    use crate::subject::Subject;

    fn signature(case: &TestCase, class: Class, message: &str) -> String {
        let error =
            SqlError { class: ErrorClass::Internal, code: String::new(), message: message.to_string() };
        let failure = Failure::Harm { error, stack: Vec::new() };
        let evidence =
            Evidence { class, relation: String::new(), arms: Vec::new(), failure, explanation: None };
        super::signature(case, &evidence).to_string()
    }

    fn case(options: &[&str], kind: JoinKind, predicate: Expr) -> TestCase {
        let create = CreateTable {
            name: "t0".into(),
            temporary: false,
            columns: vec![ColumnDef {
                name: "c0".into(),
                ty: DataType::new("", Kind::Any),
                constraints: Vec::new(),
            }],
            constraints: Vec::new(),
            options: options.iter().map(|option| Name::from(*option)).collect(),
            module: None,
            query: None,
        };
        let join = TableRef::join(kind, TableRef::table("t0"), TableRef::table("t1"), JoinOn::Nothing);
        let query = Query::select(Select {
            items: vec![Expr::int(1).into()],
            from: vec![join],
            filter: Some(predicate),
            ..Select::default()
        });
        TestCase { setup: vec![Statement::CreateTable(create)], subject: Subject::new("norec", query) }
    }

    fn compare(op: BinaryOp, value: i64) -> Expr {
        Expr::binary(op, Expr::column("t0", "c0"), Expr::int(value))
    }

    #[test]
    fn names_values_and_kinds_of_comparison_do_not_count() {
        let one = case(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let mut other = case(&[], JoinKind::Left, compare(BinaryOp::Same, 77));
        if let Statement::CreateTable(create) = &mut other.setup[0] {
            create.name = "t9".into();
        }
        assert_eq!(signature(&one, Class::WrongRows, ""), "wrong-result: compare left-join");
        assert_eq!(signature(&one, Class::WrongRows, ""), signature(&other, Class::WrongValues, ""));
        assert_ne!(signature(&one, Class::WrongRows, ""), signature(&one, Class::Crash, ""));
    }

    #[test]
    fn operators_tell_bugs_apart() {
        let one = case(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let negated = case(&[], JoinKind::Left, compare(BinaryOp::Lt, 1).negate());
        let inner = case(&[], JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let signatures = [&one, &negated, &inner].map(|case| signature(case, Class::WrongRows, ""));
        assert!(signatures[0] != signatures[1] && signatures[0] != signatures[2], "{signatures:?}");
    }

    #[test]
    fn storage_explains_more_than_the_predicate_that_shows_it() {
        let options = ["WITHOUT ROWID"];
        let one = case(&options, JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let negated = case(&options, JoinKind::Inner, compare(BinaryOp::Eq, 1).negate());
        assert_eq!(signature(&one, Class::WrongRows, ""), "wrong-result: without-rowid");
        assert_eq!(signature(&one, Class::WrongRows, ""), signature(&negated, Class::WrongRows, ""));
    }

    #[test]
    fn how_a_point_in_time_is_compared_does_not_depend_on_what_computed_it() {
        let of = |function: &str| {
            let call = |table: Option<&str>| {
                let column = table.map_or(Expr::bare_column("c0"), |table| Expr::column(table, "c0"));
                Expr::function(function, vec![column])
            };
            let compared = Expr::binary(BinaryOp::Lt, call(Some("t0")), Expr::int(7));
            let mut case = case(&[], JoinKind::Inner, compared);
            case.subject.oracle = "edc".into();
            case.subject = case.subject.with_expr(call(None)).with_choice("result", "temporal");
            signature(&case, Class::WrongRows, "")
        };
        assert_eq!(of("FROM_DAYS"), "wrong-result: compare temporal-result");
        assert_eq!(of("FROM_DAYS"), of("LAST_DAY"));
    }

    #[test]
    fn an_internal_error_is_named_by_its_message() {
        let one = case(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let other = case(&["WITHOUT ROWID"], JoinKind::Inner, compare(BinaryOp::Lt, 1).negate());
        let clash =
            |names: &str| format!("Code: 49. Left and right columns have same names: {names}. (LOGICAL)");
        let a = signature(&one, Class::InternalError, &clash("[__table3.c0], [__table3.c0]"));
        let b = signature(&other, Class::InternalError, &clash("[__table7.c2, __table3.c3], [__table3.c2]"));
        assert_eq!(a, "internal-error: Code Left and right columns have same names");
        assert_eq!(a, b);
        let quoted = "Failed to bind column reference \"t 0\" [12.3]: inequal types";
        let quoted = signature(&one, Class::InternalError, quoted);
        assert_eq!(quoted, "internal-error: Failed to bind column reference inequal types");
    }

    #[test]
    fn a_message_that_names_no_place_is_told_apart_by_features() {
        let malformed = "database disk image is malformed";
        let rowid = case(&["WITHOUT ROWID"], JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let signature = signature(&rowid, Class::InternalError, malformed);
        assert_eq!(signature, "internal-error: database disk image is malformed without-rowid");
    }
}
