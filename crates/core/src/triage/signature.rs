//! A name for a bug that does not depend on the example it was found by.

use super::features;
use crate::finding::{Class, Evidence};
use crate::oracle::health;
use crate::subject::Subject;

/// What a reduced finding has in common with others of the same cause: how it fails, and the features of
/// SQL without which it did not: `wrong-result: left-join row-value`.
///
/// The oracle is no part of it: one cause shows to several. Worth something only for reduced subjects: in
/// others most features are chance. An internal error names its place in the engine better than any query
/// that reaches it: `internal-error: Left and right columns have same names`.
pub fn signature(subject: &Subject, evidence: &Evidence) -> String {
    let (class, difference) = (evidence.class, evidence.difference.as_str());
    let mut words: Vec<String> = Vec::new();
    let message = difference.strip_prefix(health::SAYS_OF_ITSELF);
    if let Some(message) = message.filter(|_| class == Class::InternalError) {
        words = abstracted(message);
    }
    let features = features(subject);
    if class == Class::ErrorDivergence {
        words = abstracted(difference.split_once(": ").map_or(difference, |(_, message)| message));
        words.extend(features);
    } else if words.is_empty() || words.iter().any(|word| NAMES_NO_PLACE.contains(&word.as_str())) {
        words.extend(features);
    }
    format!("{}: {}", grade(class), words.join(" "))
}

/// Words of messages that are the same for every cause.
const NAMES_NO_PLACE: [&str; 1] = ["malformed"];

/// A message without what belongs to the example: names, numbers, and everything in quotes or brackets.
pub fn abstracted(message: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut open: Vec<char> = Vec::new();
    let mut before = ' ';
    for c in message.chars() {
        match c {
            _ if open.last() == Some(&c) => drop(open.pop()),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            // Not the apostrophe within a word.
            '`' | '"' | '\'' if open.is_empty() && !before.is_alphanumeric() => open.push(c),
            _ if open.is_empty() => plain.push(c),
            _ => {}
        }
        before = c;
    }
    let words = plain.split_whitespace().map(|word| word.trim_matches([':', ',', '.', ';']));
    let is_word =
        |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "-:'".contains(c));
    words.filter(is_word).map(str::to_string).collect()
}

/// A failure that is known by what the engine says.
fn is_named_by_message(class: Class) -> bool {
    matches!(class, Class::InternalError | Class::ErrorDivergence)
}

/// Whether two failures are of one kind; of errors, whether they say the same.
pub fn is_same_failure(one: &Evidence, other: &Evidence) -> bool {
    let words = |evidence: &Evidence| abstracted(&evidence.difference);
    one.class == other.class && (!is_named_by_message(one.class) || words(one) == words(other))
}

/// A wrong row shows as a wrong value where the query counts rows: one thing for the cause.
pub(super) fn grade(class: Class) -> &'static str {
    match class {
        Class::WrongRows | Class::WrongValues => "wrong-result",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::*;

    fn signature(subject: &Subject, class: Class, difference: &str) -> String {
        let evidence =
            Evidence { class, relation: String::new(), arms: Vec::new(), difference: difference.to_string() };
        super::signature(subject, &evidence)
    }

    fn subject(options: &[&str], kind: JoinKind, predicate: Expr) -> Subject {
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
            query: None,
        };
        let join = TableRef::join(kind, TableRef::table("t0"), TableRef::table("t1"), JoinOn::Nothing);
        let query = Query::select(Select {
            items: vec![Expr::int(1).into()],
            from: vec![join],
            filter: Some(predicate),
            ..Select::default()
        });
        Subject { setup: vec![Statement::CreateTable(create)], ..Subject::new("norec", query) }
    }

    fn compare(op: BinaryOp, value: i64) -> Expr {
        Expr::binary(op, Expr::column("t0", "c0"), Expr::int(value))
    }

    #[test]
    fn names_values_and_kinds_of_comparison_do_not_count() {
        let one = subject(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let mut other = subject(&[], JoinKind::Left, compare(BinaryOp::Same, 77));
        if let Statement::CreateTable(create) = &mut other.setup[0] {
            create.name = "t9".into();
        }
        assert_eq!(signature(&one, Class::WrongRows, ""), "wrong-result: compare left-join");
        assert_eq!(signature(&one, Class::WrongRows, ""), signature(&other, Class::WrongValues, ""));
        assert_ne!(signature(&one, Class::WrongRows, ""), signature(&one, Class::Crash, ""));
    }

    #[test]
    fn operators_tell_bugs_apart() {
        let one = subject(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let negated = subject(&[], JoinKind::Left, compare(BinaryOp::Lt, 1).negate());
        let inner = subject(&[], JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let signatures = [&one, &negated, &inner].map(|subject| signature(subject, Class::WrongRows, ""));
        assert!(signatures[0] != signatures[1] && signatures[0] != signatures[2], "{signatures:?}");
    }

    #[test]
    fn storage_explains_more_than_the_predicate_that_shows_it() {
        let options = ["WITHOUT ROWID"];
        let one = subject(&options, JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let negated = subject(&options, JoinKind::Inner, compare(BinaryOp::Eq, 1).negate());
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
            let subject = Subject { oracle: "edc".into(), ..subject(&[], JoinKind::Inner, compared) };
            let subject = subject.with_expr(call(None)).with_choice("result", "temporal");
            signature(&subject, Class::WrongRows, "")
        };
        assert_eq!(of("FROM_DAYS"), "wrong-result: compare temporal-result");
        assert_eq!(of("FROM_DAYS"), of("LAST_DAY"));
    }

    #[test]
    fn an_internal_error_is_named_by_its_message() {
        let one = subject(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let other = subject(&["WITHOUT ROWID"], JoinKind::Inner, compare(BinaryOp::Lt, 1).negate());
        let says = |message: &str| format!("{}{message}", health::SAYS_OF_ITSELF);
        let clash = |names: &str| {
            says(&format!("Code: 49. Left and right columns have same names: {names}. (LOGICAL)"))
        };
        let a = signature(&one, Class::InternalError, &clash("[__table3.c0], [__table3.c0]"));
        let b = signature(&other, Class::InternalError, &clash("[__table7.c2, __table3.c3], [__table3.c2]"));
        assert_eq!(a, "internal-error: Code Left and right columns have same names");
        assert_eq!(a, b);
        let quoted = says("Failed to bind column reference \"t 0\" [12.3]: inequal types");
        let quoted = signature(&one, Class::InternalError, &quoted);
        assert_eq!(quoted, "internal-error: Failed to bind column reference inequal types");
    }

    #[test]
    fn a_message_that_names_no_place_is_told_apart_by_features() {
        let malformed = format!("{}database disk image is malformed", health::SAYS_OF_ITSELF);
        let rowid = subject(&["WITHOUT ROWID"], JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let signature = signature(&rowid, Class::InternalError, &malformed);
        assert_eq!(signature, "internal-error: database disk image is malformed without-rowid");
    }
}
