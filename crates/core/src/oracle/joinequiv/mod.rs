//! JoinEquiv: an inner join as set algebra over the two outer joins around it ("JoinEquiv", see the
//! paper's rules SJT, ADT and SDT), made safe for NULLs.
//!
//! ```sql
//! SELECT t0.c0, t1.c0 FROM t0 JOIN t1 ON p;
//! SELECT t0.c0, t1.c0 FROM t0 LEFT JOIN t1 ON p INTERSECT ALL SELECT t0.c0, t1.c0 FROM t0 RIGHT JOIN t1 ON p;
//! ```
//!
//! With M the matched rows, L = M ⊎ Lonly and R = M ⊎ Ronly, a tuple that is m times in M, l times in
//! Lonly and r times in Ronly is m + min(l, r) times in the intersection: the relation holds exactly when
//! no tuple is in both Lonly and Ronly.
//!
//! Conditions (SOUNDNESS 3): the projection contains a *tag*, a NOT NULL base column of the right operand or of a left
//! operand that is a single table. It is NULL in one of Lonly and Ronly and has a value in the other. Only columns are
//! projected. SDT holds for sets only. If the engine does the set algebra, equal values of the projected columns are
//! identical (SOUNDNESS 0.8); if it has no ALL forms, the judge does the bag algebra over the two outer joins. Under
//! USING and NATURAL an unqualified column is that of the left operand or of either, so all are qualified. If a right
//! outer join has to be written with its operands swapped, neither is used, because the collation of `a.c = b.c` is
//! that of its left side.

use std::collections::BTreeSet;

use crate::dialect::{Dialect, Feature};
use crate::engine::{Rows, Stop};
use crate::features::Features;
use crate::finding::{Evidence, Verdict};
use crate::generate::{Generator, Named, Rules, choices};
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::freedom;
use crate::oracle::kit::given::{Given, asking};
use crate::oracle::kit::judge::{self, Difference, Equality};
use crate::oracle::{Expected, Oracle, answers, norec};
use crate::session::Session;
use crate::sql::*;
use crate::state::{Column, State};
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        /// The operands have columns that share some values.
        SELECTIVE = "joinequiv.selective": 90,
        FILTER = "joinequiv.filter": 15,
        /// The left operand is a join, or one more.
        LEFT_JOIN = "joinequiv.left-join": 15,
    }
    choose {
        FORMS: Form = "joinequiv.form" { Distinct: 3, All: 4, Judge: 3 },
        RULES: Rule = "joinequiv.rule" { Sjt: 1, Adt: 1, Sdt: 1 },
    }
}

/// See [the module](self).
pub struct JoinEquiv;

/// The feature of an inner join and the outer ones that hold it, one of which is wrong.
pub const ANY_JOIN: &str = "any-join";

const RULE: &str = "rule";
const FORM: &str = "form";
const NO_TAG: &str = "no NOT NULL base column in the select list";
const NOT_A_JOIN: &str = "not a single inner join of plain columns";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// L ∩ R.
    Sjt,
    /// L − (L − R).
    Adt,
    /// (L ∪ R) − ((L − R) ∪ (R − L)); of sets only.
    Sdt,
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Rule::Sjt => "sjt",
            Rule::Adt => "adt",
            Rule::Sdt => "sdt",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Bags; the judge does the algebra.
    Judge,
    /// Bags; the engine does it with its ALL forms.
    All,
    /// Sets; the engine does it.
    Distinct,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Judge => "judge",
            Form::All => "all",
            Form::Distinct => "distinct",
        }
    }
}

impl Oracle for JoinEquiv {
    fn name(&self) -> &'static str {
        "joinequiv"
    }

    fn about(&self) -> &'static str {
        "an inner join is the intersection of its left and right outer joins"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let form = form(generator);
        let distinct = form == Form::Distinct;
        let rule = generator.choose_or(&RULES, Rule::Sjt, |rule| rule != Rule::Sdt || distinct);
        // Not every table has a column that is never NULL, nor one that shares some values with another
        // table: a few draws find operands that have.
        let selective = generator.odds(&SELECTIVE);
        let (from, items) = (0..12).find_map(|attempt| joined(generator, form, selective && attempt < 9))?;
        let filter = generator.odds(&FILTER).then(|| generator.padding_filter());
        let query =
            generator.finish(Select { distinct, items, from: vec![from], filter, ..Select::default() });
        Some(choosing(Subject::new(self.name(), query), rule, form).into())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let can = |feature| given.dialect.can(feature);
        let all = can(Feature::IntersectAll) && can(Feature::ExceptAll);
        let sets = can(Feature::Intersect) && can(Feature::Except);
        let choices = [
            (Rule::Sjt, Form::Judge, true),
            (Rule::Sjt, Form::All, all),
            (Rule::Adt, Form::All, all),
            (Rule::Sdt, Form::Distinct, sets),
        ];
        let mut subjects = Vec::new();
        for query in given.selects() {
            for (join, filter) in inner_joins(&query) {
                for (rule, form, _) in choices.iter().filter(|(_, _, can)| *can) {
                    for items in given_items(given, &query, &join, *form != Form::Judge) {
                        let whole = asking(&query, |select| {
                            *select = Select {
                                distinct: *form == Form::Distinct,
                                filter: filter.clone(),
                                items,
                                from: vec![join.clone()],
                                ..Select::default()
                            };
                        });
                        let subject = Subject::new(self.name(), whole);
                        subjects.push(choosing(subject, *rule, *form));
                    }
                }
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some(join) = Join::of(subject, session.dialect()) else {
            return Ok(Verdict::skip(NOT_A_JOIN));
        };
        let (Some(rule), Some(form)) = (join.rule, join.form) else {
            return Ok(Verdict::skip("rule that does not hold for bags"));
        };
        let mut arms = Arms::new("the inner join is the intersection of its left and right outer joins");
        arms.ask("inner join", &join.inner, session)?;
        let combined = match form {
            Form::Judge => None,
            Form::All | Form::Distinct => {
                let query = algebra(rule, form == Form::All, &join);
                arms.ask("what the outer joins have in common, by a set operator", query, session)?;
                Some(1)
            }
        };
        // The engine's own algebra is looked into only if it differs.
        if let Some(at) = combined {
            if let Some(verdict) = arms.unanswered(subject, session)? {
                return Ok(verdict);
            }
            if judge::compare(arms.rows(0), arms.rows(at), Equality::Engine).is_none() {
                return Ok(Verdict::Pass { nonempty: !arms.rows(0).is_empty() });
            }
        }
        let outer = 1 + usize::from(combined.is_some());
        arms.ask("left outer join", &join.left, session)?;
        arms.ask("right outer join", &join.right, session)?;
        if let Some(verdict) = arms.unanswered(subject, session)? {
            return Ok(verdict);
        }
        let common = judge::intersect_all(arms.rows(outer), arms.rows(outer + 1));
        let common = if form == Form::Distinct { judge::distinct(&common) } else { common };
        note_shape(arms.rows(0), arms.rows(outer), arms.rows(outer + 1), session);
        let compared = combined.map_or_else(|| common.clone(), |at| arms.rows(at).clone());
        let Some(difference) = judge::compare(arms.rows(0), &compared, Equality::Engine) else {
            return Ok(Verdict::Pass { nonempty: !compared.is_empty() });
        };
        if let Some(reason) = untagged(subject, session.database().state()) {
            return Ok(Verdict::skip(reason));
        }
        // Set operators may return any of several equal values.
        if form != Form::Judge {
            let algebra = algebra(rule, form == Form::All, &join);
            let (state, dialect) = (session.database().state(), session.dialect());
            if let Some(reason) = freedom::left_open(&algebra, state, dialect) {
                return Ok(Verdict::skip(reason));
            }
        }
        let explanation = Some(localise(&arms, combined, outer, &common));
        arms.differ(Difference { explanation, ..difference }, subject, session)
    }

    /// Where the outer joins have in common what the inner join returns, the set operator is wrong.
    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        let [(by, inner), (arm, _), (_, left), (_, right)] = answers(evidence)[..] else { return None };
        let common = judge::intersect_all(left, right);
        let same = |rows: &Rows| judge::compare(inner, rows, Equality::Engine).is_none();
        let why = "the two outer joins, intersected outside the engine, give the same rows as the inner join";
        (same(&common) || same(&judge::distinct(&common))).then(|| Expected {
            arm,
            rows: inner.clone(),
            by,
            why,
        })
    }

    fn complaint(&self, _: &TestCase) -> String {
        "differs from that of the outer joins around it".to_string()
    }

    /// It needs a NOT NULL column, whatever the bug is. It cannot say which of its joins is wrong.
    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        let mut words = Features::default().of(case);
        words.remove("not-null");
        if !words.contains("left-join") {
            words.insert(ANY_JOIN.to_string());
        }
        words
    }

    /// An inner join is a WHERE over all pairs of rows; failing that, one of the outer joins loses rows to a
    /// WHERE.
    fn restate(&self, case: &TestCase) -> Vec<TestCase> {
        let Some(query) = case.subject.query() else { return Vec::new() };
        let Some([TableRef::Join { left, right, on: JoinOn::On(on), .. }]) =
            query.as_select().map(|select| select.from.as_slice())
        else {
            return Vec::new();
        };
        let about = |kind, a: &TableRef, b: &TableRef, on: JoinOn, condition| {
            let join = TableRef::join(kind, a.clone(), b.clone(), on);
            norec::restate::rows(case, query, |select| select.from = vec![join], condition)
        };
        let outer = |a, b| about(JoinKind::Left, a, b, JoinOn::On(on.clone()), None);
        let pairs = about(JoinKind::Inner, left, right, JoinOn::Nothing, Some(on.clone()));
        vec![pairs, outer(left, right), outer(right, left)]
    }
}

fn choosing(subject: Subject, rule: Rule, form: Form) -> Subject {
    subject.with_choice(RULE, rule.name()).with_choice(FORM, form.name())
}

fn form(generator: &mut Generator) -> Form {
    let dialect = generator.dialect;
    let all = dialect.can(Feature::IntersectAll) && dialect.can(Feature::ExceptAll);
    let sets = dialect.can(Feature::Intersect) && dialect.can(Feature::Except);
    generator.choose_or(&FORMS, Form::Judge, |form| match form {
        Form::Distinct => sets,
        Form::All => all,
        Form::Judge => true,
    })
}

/// An inner join and its projection, or nothing if its operands have no tag.
fn joined(generator: &mut Generator, form: Form, selective: bool) -> Option<(TableRef, Vec<SelectItem>)> {
    generator.start_over();
    let mut left = generator.relation_or_none()?;
    while generator.relations().len() < 3 && generator.odds(&LEFT_JOIN) {
        left = generator.joined(left);
    }
    let right_at = generator.relations().len();
    let right = generator.relation_or_none()?;
    if selective && !generator.has_selective_condition(right_at) {
        return None;
    }
    let rules = Rules { identity: form != Form::Judge, ..generator.rules };
    let items = generator.under(rules, |g| items(g, right_at))?;
    let on = generator.join_on(right_at);
    Some((TableRef::join(JoinKind::Inner, left, right, on), items))
}

/// Columns of both operands, among them every tag there is.
fn items(generator: &mut Generator, right: usize) -> Option<Vec<SelectItem>> {
    let mut items = Vec::new();
    // A tag of the left operand counts only if nothing can pad it there.
    for at in if right == 1 { vec![0, right] } else { vec![right] } {
        items.extend(generator.never_null_column(at));
    }
    if items.is_empty() {
        return None;
    }
    for _ in 0..generator.rng.between(1, 2) {
        items.extend(generator.own_column(Kind::Any).map(|column| column.expr));
    }
    items.dedup();
    generator.rng.shuffle(&mut items);
    Some(items.into_iter().map(SelectItem::from).collect())
}

/// The joins of a SELECT as inner joins, each with the WHERE that goes with it: the last one of each item of its
/// FROM, those inside its left operand, and two items with the WHERE between them.
fn inner_joins(query: &Query) -> Vec<(TableRef, Option<Expr>)> {
    let Some(select) = query.as_select() else { return Vec::new() };
    let filter = select.filter.clone();
    let mut found = Vec::new();
    match select.from.as_slice() {
        [left, right] => {
            if let Some(filter) = filter {
                let on = JoinOn::On(filter);
                found.push((TableRef::join(JoinKind::Inner, left.clone(), right.clone(), on), None));
            }
        }
        [table] => {
            let mut inside = Some(table);
            while let Some(TableRef::Join { left, right, on, .. }) = inside {
                let join = |on| TableRef::join(JoinKind::Inner, (**left).clone(), (**right).clone(), on);
                let is_last = std::ptr::eq(inside.unwrap_or(table), table);
                match (on, filter.as_ref().filter(|_| is_last)) {
                    (JoinOn::Nothing, Some(filter)) => found.push((join(JoinOn::On(filter.clone())), None)),
                    (JoinOn::Nothing, None) => {}
                    (JoinOn::On(on), Some(filter)) => {
                        found.push((join(JoinOn::On(on.clone())), Some(filter.clone())));
                        found.push((join(JoinOn::On(on.clone().and(filter.clone()))), None));
                    }
                    (on, filter) => found.push((join(on.clone()), filter.cloned())),
                }
                inside = Some(left);
            }
        }
        _ => {}
    }
    found
}

/// What to ask of a join: the query's own columns, if it asks for columns alone, and those of both operands, first
/// those that can be tags. Where the engine does the algebra, only columns whose equal values are identical.
fn given_items(given: &Given, query: &Query, join: &TableRef, identical: bool) -> Vec<Vec<SelectItem>> {
    const MOST: usize = 6;
    let mut columns = given.columns(query, std::slice::from_ref(join));
    columns.retain(|(_, column)| column.identity || !identical);
    columns.sort_by_key(|(_, column)| !column.is_never_null());
    let item = |(table, column): &(Name, Column)| Expr::column(table.clone(), column.name.clone()).into();
    let all: Vec<SelectItem> = columns.iter().map(item).collect();
    let own = query.as_select().map(|select| select.items.clone()).unwrap_or_default();
    let bare = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => all.contains(&expr.clone().into()),
        _ => false,
    };
    let mut choices = Vec::new();
    if !own.is_empty() && own.iter().all(bare) {
        choices.push(own);
    }
    choices.push(all[..all.len().min(MOST)].to_vec());
    choices.dedup();
    choices.retain(|items| !items.is_empty());
    choices
}

/// A subject as the queries of its arms.
struct Join {
    inner: Query,
    left: Query,
    right: Query,
    rule: Option<Rule>,
    form: Option<Form>,
}

impl Join {
    fn of(subject: &Subject, dialect: &Dialect) -> Option<Join> {
        let query = subject.query()?;
        let select = query.as_select()?;
        let plain = select.group_by.is_empty()
            && select.having.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.offset.is_none()
            && select.items.iter().all(|item| matches!(item, SelectItem::Expr { expr: Expr::Column(_), .. }));
        let [TableRef::Join { kind: JoinKind::Inner, left, right, on }] = select.from.as_slice() else {
            return None;
        };
        let merges = matches!(on, JoinOn::Using(_) | JoinOn::Natural);
        if !plain || (merges && (!dialect.can(Feature::RightJoin) || has_unqualified_column(select))) {
            return None;
        }
        let with_from = |table: TableRef| {
            let mut query = query.clone();
            if let Some(select) = query.as_select_mut() {
                select.from = vec![table];
            }
            query
        };
        let left_outer = TableRef::join(JoinKind::Left, (**left).clone(), (**right).clone(), on.clone());
        let right_outer = if dialect.can(Feature::RightJoin) {
            TableRef::join(JoinKind::Right, (**left).clone(), (**right).clone(), on.clone())
        } else {
            TableRef::join(JoinKind::Left, (**right).clone(), (**left).clone(), on.clone())
        };
        let form = FORMS.options().copied().find(|form| subject.choice(FORM) == Some(form.name()));
        let form = form.filter(|form| select.distinct == (*form == Form::Distinct));
        let rule = RULES.options().copied().find(|rule| subject.choice(RULE) == Some(rule.name()));
        let rule = rule.filter(|rule| *rule != Rule::Sdt || form == Some(Form::Distinct));
        let (left, right) = (with_from(left_outer), with_from(right_outer));
        Some(Join { inner: query.clone(), left, right, rule, form })
    }
}

fn has_unqualified_column(select: &Select) -> bool {
    let bare = |expr: &Expr| {
        visit::any_expr(expr, |inner| matches!(inner, Expr::Column(reference) if reference.table.is_none()))
    };
    select.filter.as_ref().is_some_and(bare)
        || select.items.iter().any(|item| matches!(item, SelectItem::Expr { expr, .. } if bare(expr)))
}

/// The rule's set algebra as one query.
fn algebra(rule: Rule, all: bool, join: &Join) -> Query {
    let (left, right) = (|| renamed(&join.left), || renamed(&join.right));
    let op = |op, a, b| Body::Compound { op, all, left: Box::new(a), right: Box::new(b) };
    let body = match rule {
        Rule::Sjt => op(SetOp::Intersect, left(), right()),
        Rule::Adt => op(SetOp::Except, left(), op(SetOp::Except, left(), right())),
        Rule::Sdt => {
            let only_left = op(SetOp::Except, left(), right());
            let only_right = op(SetOp::Except, right(), left());
            let either = op(SetOp::Union, left(), right());
            op(SetOp::Except, either, op(SetOp::Union, only_left, only_right))
        }
    };
    Query { with: join.inner.with.clone(), ..Query::from(body) }
}

/// A query's body with a name of its own for each column: some engines (MariaDB) read a nested compound as
/// a derived table, which cannot have two columns of one name.
fn renamed(query: &Query) -> Body {
    let mut query = query.clone();
    if let Some(select) = query.as_select_mut() {
        for (at, item) in select.items.iter_mut().enumerate() {
            if let SelectItem::Expr { alias, .. } = item {
                *alias = Some(format!("r{at}").into());
            }
        }
    }
    query.body
}

/// Why a projection has no tag, if it has none.
fn untagged(subject: &Subject, state: &State) -> Option<&'static str> {
    let query = subject.query()?;
    let select = query.as_select()?;
    let [TableRef::Join { left, right, .. }] = select.from.as_slice() else { return Some(NOT_A_JOIN) };
    let common = |name: &Name| {
        query.with.as_ref().is_some_and(|with| with.tables.iter().any(|table| table.name == *name))
    };
    let never_null = |operand: &TableRef, reference: &ColumnRef| match operand {
        TableRef::Table { name, alias, .. } if !common(name) => {
            reference.table.as_ref() == Some(alias.as_ref().unwrap_or(name))
                && state.table(name).is_some_and(|table| {
                    let tag = |column: &Column| column.name == reference.column && column.is_never_null();
                    !table.is_view && table.columns.iter().any(tag)
                })
        }
        _ => false,
    };
    let tagged = select.items.iter().any(|item| match item {
        SelectItem::Expr { expr: Expr::Column(reference), .. } => {
            never_null(left, reference) || never_null(right, reference)
        }
        _ => false,
    });
    (!tagged).then_some(NO_TAG)
}

/// Counts how much a checked join has to show: matched rows, and rows that only one side has.
fn note_shape(inner: &Rows, left: &Rows, right: &Rows, session: &mut Session) {
    let padded = usize::from(left.len() > inner.len()) + usize::from(right.len() > inner.len());
    session.note(match (inner.is_empty(), padded) {
        (true, _) => "joinequiv: no matched rows",
        (false, 0) => "joinequiv: matched rows only",
        (false, 1) => "joinequiv: matched rows and one padded side",
        (false, _) => "joinequiv: matched rows and both padded sides",
    });
}

/// Which part is wrong, in a sentence: by the algebra done outside the engine.
fn localise(arms: &Arms, combined: Option<usize>, outer: usize, common: &Rows) -> String {
    let same = |a: &Rows, b: &Rows| judge::compare(a, b, Equality::Engine).is_none();
    let (inner, left, right) = (arms.rows(0), arms.rows(outer), arms.rows(outer + 1));
    if combined.is_some() && same(inner, common) {
        return String::from(
            "the set operators are wrong: intersecting the outer joins outside the engine gives the inner join",
        );
    }
    // Every matched row is in both outer joins.
    let missing = |outer: &Rows| judge::intersect_all(inner, outer).len() < inner.len();
    let part = match (missing(left), missing(right)) {
        (true, false) => {
            "the left outer join is wrong: it lacks rows that the inner and the right outer join have"
        }
        (false, true) => {
            "the right outer join is wrong: it lacks rows that the inner and the left outer join have"
        }
        (true, true) => "the inner join is wrong: it has rows that neither outer join has",
        (false, false) => "the inner join is wrong: it lacks rows that both outer joins have",
    };
    String::from(part)
}
