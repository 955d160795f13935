//! A name for a bug that does not depend on the example it was found by.

use super::features;
use crate::finding::Class;
use crate::subject::Subject;

/// What a reduced finding has in common with others of the same cause: how it fails, and the features of
/// SQL without which it did not: `wrong-result: left-join row-value`.
///
/// The oracle is no part of it: one cause shows to several. Worth something only for reduced subjects: in
/// others most features are chance.
pub fn signature(subject: &Subject, class: Class) -> String {
    let features: Vec<String> = features(subject).into_iter().collect();
    format!("{}: {}", grade(class), features.join(" "))
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
        assert_eq!(signature(&one, Class::WrongRows), "wrong-result: compare left-join");
        assert_eq!(signature(&one, Class::WrongRows), signature(&other, Class::WrongValues));
        assert_ne!(signature(&one, Class::WrongRows), signature(&one, Class::Crash));
    }

    #[test]
    fn operators_tell_bugs_apart() {
        let one = subject(&[], JoinKind::Left, compare(BinaryOp::Lt, 1));
        let negated = subject(&[], JoinKind::Left, compare(BinaryOp::Lt, 1).negate());
        let inner = subject(&[], JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let signatures = [&one, &negated, &inner].map(|subject| signature(subject, Class::WrongRows));
        assert!(signatures[0] != signatures[1] && signatures[0] != signatures[2], "{signatures:?}");
    }

    #[test]
    fn storage_explains_more_than_the_predicate_that_shows_it() {
        let options = ["WITHOUT ROWID"];
        let one = subject(&options, JoinKind::Inner, compare(BinaryOp::Lt, 1));
        let negated = subject(&options, JoinKind::Inner, compare(BinaryOp::Eq, 1).negate());
        assert_eq!(signature(&one, Class::WrongRows), "wrong-result: without-rowid");
        assert_eq!(signature(&one, Class::WrongRows), signature(&negated, Class::WrongRows));
    }
}
