//! TLP: compares a query with the union of its three partitions by a predicate, TRUE, FALSE and NULL (Rigger
//! and Su, "Finding Bugs in Database Systems via Query Partitioning", 2020).
//!
//! ```sql
//! SELECT c0 FROM t0;
//! SELECT c0 FROM t0 WHERE p UNION ALL SELECT c0 FROM t0 WHERE NOT p UNION ALL SELECT c0 FROM t0 WHERE p IS NULL;
//! ```
//!
//! Conditions (SOUNDNESS 1): WHERE is partitioned, never the ON of an outer join. `tlp-where` compares
//! multisets; `tlp-distinct`, `tlp-group-by` and `tlp-having` compare sets, the latter two over the keys
//! only; `tlp-aggregate` takes decomposable aggregates over exact values. Equal values that are deduplicated or
//! grouped are identical (SOUNDNESS 0.8).

mod culprit;

use std::collections::BTreeSet;

use crate::dialect::{Dialect, Feature};
use crate::engine::{Rows, Stop};
use crate::features::Features;
use crate::finding::{Evidence, Verdict};
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::gate::{self, looks_beyond_its_row};
use crate::oracle::kit::given::{Given, asking, names_its_items, plain, selects_rows};
use crate::oracle::kit::judge::{self, Equality};
use crate::oracle::{Expected, Oracle, norec};
use crate::session::Session;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        FILTER = "tlp.where.filter": 20,
        FILTER_OF_GROUPS = "tlp.groups.filter": 25,
    }
    choose enum {
        /// The partitions as one query, or one by one.
        PARTITIONS: Partitions = "tlp.form" { Compound: 1, Separate: 1 },
    }
}

/// Partitions the rows of a query by its WHERE.
pub struct Where;
/// Partitions the groups of a query by its HAVING.
pub struct Having;
/// Composes an aggregate of those of the partitions.
pub struct Aggregate;
/// Partitions the rows of a SELECT DISTINCT.
pub struct Distinct;
/// Partitions the rows of a GROUP BY without aggregates.
pub struct GroupBy;

const FORM: &str = "form";
const AMBIGUOUS: &str = "collation in deduplicated values";
const NOT_APPLICABLE: &str = "not a query that this oracle can partition";

fn splits(clause: &str) -> String {
    format!("changes when {clause} splits it by p, NOT p and p IS NULL")
}

const WHOLE: &str = "all rows";
/// The labels of the arms of one partition each.
const PARTS: [&str; 3] = ["rows where p", "rows where NOT p", "rows where p IS NULL"];

/// The three conditions a row or group meets exactly one of.
fn partitions(predicate: &Expr) -> [(&'static str, Expr); 3] {
    [
        (PARTS[0], predicate.clone()),
        (PARTS[1], predicate.clone().negate()),
        (PARTS[2], predicate.clone().is(Truth::Null)),
    ]
}

/// The SELECT of a subject whose query is a single SELECT.
fn plain_select(subject: &Subject) -> Option<(&Query, &Select, &Expr)> {
    let query = subject.query()?;
    let select = query.as_select()?;
    let plain = query.limit.is_none() && query.offset.is_none() && query.order_by.is_empty();
    match subject.exprs.as_slice() {
        // A partition has subtotals of its own.
        [predicate] if plain && select.grouping.is_plain() => Some((query, select, predicate)),
        _ => None,
    }
}

fn items_without_aggregates(select: &Select) -> bool {
    select.items.iter().all(|item| match item {
        SelectItem::Expr { expr, .. } => !looks_beyond_its_row(expr),
        _ => true,
    })
}

/// The query with a condition added to its WHERE.
fn filtered(query: &Query, condition: Expr) -> Query {
    let mut query = query.clone();
    if let Some(select) = query.as_select_mut() {
        select.filter = Some(match select.filter.take() {
            Some(filter) => filter.and(condition),
            None => condition,
        });
    }
    query
}

/// The query with this condition as its HAVING.
fn having(query: &Query, condition: Expr) -> Query {
    let mut query = query.clone();
    if let Some(select) = query.as_select_mut() {
        select.having = Some(condition);
    }
    query
}

/// The partitions as one query, joined by a set operator.
fn compound(parts: Vec<Query>, all: bool) -> Option<Query> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        let (left, right) = (Box::new(whole.body), Box::new(part.body));
        whole.body = Body::Compound { op: SetOp::Union, all, left, right };
    }
    Some(whole)
}

/// Asks the whole query, then its partitions (one by one, or as one compound), and compares.
fn check_partitions(
    relation: &'static str,
    whole: &Query,
    parts: [(&'static str, Query); 3],
    as_sets: bool,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let mut arms = Arms::new(relation);
    arms.ask(WHOLE, whole, session)?;
    let mut asked = 1;
    if subject.choice(FORM) == Some("compound") {
        let parts = parts.iter().map(|(_, query)| query.clone()).collect();
        let Some(query) = compound(parts, !as_sets) else { return Ok(Verdict::skip(NOT_APPLICABLE)) };
        arms.ask("rows where p, NOT p and p IS NULL, put together", query, session)?;
        asked += 1;
    } else {
        for (label, query) in &parts {
            arms.ask(label, query, session)?;
            asked += 1;
        }
    }
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let together = arms.union_all(1..asked);
    let rows = arms.rows(0).clone();
    let mut verdict = match as_sets {
        true => {
            let (rows, together) = (judge::distinct(&rows), judge::distinct(&together));
            let verdict = arms.verdict(&rows, &together, Equality::Engine, subject, session)?;
            unless_ambiguous(verdict, subject, session)
        }
        false => arms.verdict(&rows, &together, Equality::Exact, subject, session)?,
    };
    if let (Verdict::Bug(evidence), [predicate]) = (&mut verdict, subject.exprs.as_slice()) {
        culprit::look_for(evidence, whole, predicate, parts, as_sets, session)?;
    }
    Ok(verdict)
}

/// What is deduplicated or grouped must have one representative among equal values.
fn unless_ambiguous(verdict: Verdict, subject: &Subject, session: &Session) -> Verdict {
    match verdict {
        Verdict::Bug(_)
            if gate::has_no_one_representative(subject, session.database().state(), session.dialect()) =>
        {
            Verdict::skip(AMBIGUOUS)
        }
        verdict => verdict,
    }
}

/// Subjects of a given query: each of its SELECTs as `shape` makes it, partitioned by each of its predicates,
/// in each form. What the SELECT filters by is no filter while it is what partitions.
fn adopted(
    oracle: &'static str,
    given: &Given,
    forms: &[&str],
    shape: impl Fn(&mut Select) -> bool,
) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for query in given.selects() {
        let filter = query.as_select().and_then(|select| select.filter.clone());
        for predicate in given.predicates(&query) {
            let mut fits = false;
            let whole = asking(&query, |select| {
                let is_of_filter =
                    filter.as_ref().is_some_and(|filter| visit::any_expr(filter, |part| *part == predicate));
                if is_of_filter {
                    select.filter = None;
                }
                fits = shape(select);
            });
            if fits {
                let subject = Subject::new(oracle, whole).with_expr(predicate);
                subjects.extend(forms.iter().map(|form| subject.clone().with_choice(FORM, form)));
            }
        }
    }
    subjects
}

const FORMS: &[&str] = &["separate", "compound"];

fn form(generator: &mut Generator) -> &'static str {
    match generator.choose(&PARTITIONS) {
        Partitions::Compound => "compound",
        Partitions::Separate => "separate",
    }
}

impl Oracle for Where {
    fn name(&self) -> &'static str {
        "tlp-where"
    }

    fn about(&self) -> &'static str {
        "the rows of a query are those of its three partitions: p, NOT p and p IS NULL"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let from = generator.from_clause(generator.policy.max_relations)?.tables;
        let items = generator.select_items(3).into_iter().map(SelectItem::from).collect();
        let filter = generator.odds(&FILTER).then(|| generator.predicate(1));
        let predicate = generator.predicate(generator.policy.depth);
        let query = generator.finish(Select { items, from, filter, ..Select::default() });
        let form = form(generator);
        Some(Subject::new(self.name(), query).with_expr(predicate).with_choice(FORM, form).into())
    }

    /// Of all five.
    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        adopted(self.name(), given, FORMS, |select| {
            if !selects_rows(select) {
                plain(select, vec![SelectItem::Wildcard]);
            }
            true
        })
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some((query, select, predicate)) = plain_select(subject) else {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        };
        let grouped = !select.group_by.is_empty() || select.having.is_some();
        if select.distinct || grouped || !items_without_aggregates(select) || looks_beyond_its_row(predicate)
        {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        }
        let parts = partitions(predicate).map(|(label, condition)| (label, filtered(query, condition)));
        let relation = "the rows where p, NOT p and p IS NULL hold are together all rows of the query";
        check_partitions(relation, query, parts, false, subject, session)
    }

    fn restate(&self, case: &TestCase) -> Vec<TestCase> {
        norec::restate::partitions(case)
    }

    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        culprit::expected(evidence, false)
    }

    fn complaint(&self, _: &TestCase) -> String {
        splits("WHERE")
    }
}

impl Oracle for Distinct {
    fn name(&self) -> &'static str {
        "tlp-distinct"
    }

    fn about(&self) -> &'static str {
        "the distinct rows of a query are the union of those of its three partitions"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let from = generator.from_clause(generator.policy.max_relations)?.tables;
        let items = generator.identical(|g| g.select_items(3));
        let predicate = generator.predicate(generator.policy.depth);
        let items = items.into_iter().map(SelectItem::from).collect();
        let query = generator.finish(Select { distinct: true, items, from, ..Select::default() });
        let form = form(generator);
        Some(Subject::new(self.name(), query).with_expr(predicate).with_choice(FORM, form).into())
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        adopted(self.name(), given, FORMS, |select| select.distinct && names_its_items(select))
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some((query, select, predicate)) = plain_select(subject) else {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        };
        let grouped = !select.group_by.is_empty() || select.having.is_some();
        if !select.distinct || grouped || !items_without_aggregates(select) || looks_beyond_its_row(predicate)
        {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        }
        if folds_text(select, session.dialect()) {
            return Ok(Verdict::skip(AMBIGUOUS));
        }
        let parts = partitions(predicate).map(|(label, condition)| (label, filtered(query, condition)));
        let relation =
            "the distinct rows where p, NOT p and p IS NULL hold are together all distinct rows of the query";
        check_partitions(relation, query, parts, true, subject, session)
    }

    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        untyped().of(case)
    }

    fn restate(&self, case: &TestCase) -> Vec<TestCase> {
        norec::restate::partitions(case)
    }

    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        culprit::expected(evidence, true)
    }

    fn complaint(&self, _: &TestCase) -> String {
        splits("WHERE")
    }
}

/// What is compared in groups has a type, whatever the bug is.
fn untyped() -> Features {
    Features { types_matter: false, ..Features::default() }
}

/// A COLLATE in what is deduplicated or grouped: equal values need not be identical (SOUNDNESS 0.8).
/// So it is with any computed text where texts fold unless a column says otherwise.
fn folds_text(select: &Select, dialect: &Dialect) -> bool {
    let collates = |expr: &Expr| {
        (dialect.can(Feature::FoldedText) && is_computed(expr))
            || visit::any_expr(expr, |inner| matches!(inner, Expr::Collate { .. }))
    };
    select.group_by.iter().any(collates)
        || select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => collates(expr),
            _ => false,
        })
}

/// Neither a column nor a constant, nor a number that an aggregate makes of whatever it is given.
fn is_computed(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Literal(_) => false,
        Expr::Aggregate(aggregate) => match aggregate.name.to_ascii_uppercase().as_str() {
            "COUNT" | "SUM" => false,
            _ => aggregate.args.iter().any(is_computed),
        },
        _ => true,
    }
}

/// `SELECT keys … GROUP BY keys`, over columns; and the keys with their kinds.
fn grouped_query(generator: &mut Generator) -> Option<(Query, Vec<(Expr, Kind)>)> {
    let from = generator.from_clause(generator.policy.max_relations)?.tables;
    let mut keys: Vec<(Expr, Kind)> = Vec::new();
    for _ in 0..generator.rng.between(1, 2) {
        let key = generator.identical(|g| g.column(Kind::Any))?;
        if keys.iter().all(|(known, _)| *known != key.expr) {
            keys.push((key.expr, key.kind));
        }
    }
    let group_by: Vec<Expr> = keys.iter().map(|(key, _)| key.clone()).collect();
    let items = group_by.iter().cloned().map(SelectItem::from).collect();
    let filter = generator.odds(&FILTER_OF_GROUPS).then(|| generator.predicate(1));
    Some((generator.finish(Select { items, from, filter, group_by, ..Select::default() }), keys))
}

/// A query that selects exactly its grouping keys.
fn selects_only_keys(select: &Select) -> bool {
    !select.distinct
        && !select.group_by.is_empty()
        && select.items.iter().all(|item| match item {
            SelectItem::Expr { expr, .. } => select.group_by.contains(expr),
            _ => false,
        })
}

/// Has a query that groups ask for its keys alone; `false` if it has none.
fn selects_keys(select: &mut Select) -> bool {
    let keys = select.group_by.clone();
    select.items = keys.into_iter().map(SelectItem::from).collect();
    select.distinct = false;
    select.grouping = Grouping::Plain;
    select.having = None;
    !select.group_by.is_empty()
}

impl Oracle for GroupBy {
    fn name(&self) -> &'static str {
        "tlp-group-by"
    }

    fn about(&self) -> &'static str {
        "the groups of a query are the union of those of its three partitions"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let (query, _) = grouped_query(generator)?;
        let predicate = generator.predicate(generator.policy.depth);
        let form = form(generator);
        Some(Subject::new(self.name(), query).with_expr(predicate).with_choice(FORM, form).into())
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        adopted(self.name(), given, FORMS, selects_keys)
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some((query, select, predicate)) = plain_select(subject) else {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        };
        if !selects_only_keys(select) || select.having.is_some() || looks_beyond_its_row(predicate) {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        }
        if folds_text(select, session.dialect()) {
            return Ok(Verdict::skip(AMBIGUOUS));
        }
        let parts = partitions(predicate).map(|(label, condition)| (label, filtered(query, condition)));
        let relation =
            "the groups of the rows where p, NOT p and p IS NULL hold are together all groups of the query";
        check_partitions(relation, query, parts, true, subject, session)
    }

    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        untyped().of(case)
    }

    fn restate(&self, case: &TestCase) -> Vec<TestCase> {
        norec::restate::partitions(case)
    }

    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        culprit::expected(evidence, true)
    }

    fn complaint(&self, _: &TestCase) -> String {
        splits("WHERE")
    }
}

impl Oracle for Having {
    fn name(&self) -> &'static str {
        "tlp-having"
    }

    fn about(&self) -> &'static str {
        "each group of a query satisfies exactly one of HAVING p, NOT p and p IS NULL"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let (query, keys) = grouped_query(generator)?;
        let predicate = generator.group_predicate(&keys);
        let form = form(generator);
        Some(Subject::new(self.name(), query).with_expr(predicate).with_choice(FORM, form).into())
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let mut subjects = Vec::new();
        for query in given.selects() {
            let Some(predicate) = query.as_select().and_then(|select| select.having.clone()) else {
                continue;
            };
            let mut fits = false;
            let whole = asking(&query, |select| fits = selects_keys(select));
            if fits {
                let subject = Subject::new(self.name(), whole).with_expr(predicate);
                subjects.extend(FORMS.iter().map(|form| subject.clone().with_choice(FORM, form)));
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some((query, select, predicate)) = plain_select(subject) else {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        };
        if !selects_only_keys(select) || select.having.is_some() {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        }
        if folds_text(select, session.dialect()) {
            return Ok(Verdict::skip(AMBIGUOUS));
        }
        let parts = partitions(predicate).map(|(label, condition)| (label, having(query, condition)));
        let relation = "the groups that have p, NOT p and p IS NULL are together all groups of the query";
        check_partitions(relation, query, parts, true, subject, session)
    }

    /// The predicate moves from HAVING to WHERE only in engines that can do that.
    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        let mut words = untyped().of(case);
        words.insert("having".to_string());
        words
    }

    fn complaint(&self, _: &TestCase) -> String {
        splits("HAVING")
    }
}

impl Oracle for Aggregate {
    fn name(&self) -> &'static str {
        "tlp-aggregate"
    }

    fn about(&self) -> &'static str {
        "an aggregate over a query can be combined from its three partitions"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let from = generator.from_clause(generator.policy.max_relations)?.tables;
        let (aggregate, ..) = generator.exact_aggregate();
        let predicate = generator.predicate(generator.policy.depth);
        let items = vec![SelectItem::from(aggregate)];
        let query = generator.finish(Select { items, from, ..Select::default() });
        Some(Subject::new(self.name(), query).with_expr(predicate).into())
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let one_aggregate = |select: &mut Select| {
            matches!(&select.items[..], [SelectItem::Expr { expr: Expr::Aggregate(_), .. }])
        };
        adopted(self.name(), given, &["compound"], one_aggregate)
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some((query, select, predicate)) = plain_select(subject) else {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        };
        let [SelectItem::Expr { expr: Expr::Aggregate(aggregate), .. }] = select.items.as_slice() else {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        };
        let grouped = !select.group_by.is_empty() || select.having.is_some() || select.distinct;
        let decomposable = !aggregate.distinct && aggregate.filter.is_none();
        if grouped || !decomposable || looks_beyond_its_row(predicate) {
            return Ok(Verdict::skip(NOT_APPLICABLE));
        }
        let combine = match aggregate.name.to_ascii_uppercase().as_str() {
            "MIN" => "MIN",
            "MAX" => "MAX",
            "COUNT" => "SUM",
            "SUM" if sums_small_ints(aggregate, query, session) => "SUM",
            "SUM" => return Ok(Verdict::skip("sum that may round or overflow")),
            _ => return Ok(Verdict::skip("aggregate that is not decomposable")),
        };
        if folds_text(select, session.dialect()) {
            return Ok(Verdict::skip(AMBIGUOUS));
        }
        let mut arms = Arms::new(
            "the aggregate over all rows is the one put together from the rows where p, NOT p and p IS NULL hold",
        );
        arms.ask(WHOLE, query, session)?;
        arms.ask(
            "put together from the rows where p, NOT p and p IS NULL",
            combined(query, predicate, combine),
            session,
        )?;
        if let Some(verdict) = arms.unanswered(subject, session)? {
            return Ok(verdict);
        }
        let (whole, parts) = (arms.rows(0).clone(), arms.rows(1).clone());
        let something =
            |rows: &Rows| rows.single().is_some_and(|value| *value != Value::Int(0) && !value.is_null());
        let mut verdict = match arms.verdict(&whole, &parts, Equality::Engine, subject, session)? {
            Verdict::Pass { .. } => Verdict::Pass { nonempty: something(&whole) },
            other if combine == "SUM" => other,
            other => unless_ambiguous(other, subject, session),
        };
        if let Verdict::Bug(evidence) = &mut verdict {
            let parts = partitions(predicate).map(|(label, condition)| (label, filtered(query, condition)));
            culprit::look_for_aggregate(evidence, query, predicate, parts, session)?;
        }
        Ok(verdict)
    }

    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        Features { aggregates_matter: true, ..untyped() }.of(case)
    }

    fn restate(&self, case: &TestCase) -> Vec<TestCase> {
        norec::restate::partitions(case)
    }

    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        culprit::expected_aggregate(evidence)
    }

    fn complaint(&self, _: &TestCase) -> String {
        splits("WHERE")
    }
}

/// The argument is bounded by construction: a length, or a remainder of whole numbers.
fn sums_small_ints(aggregate: &crate::sql::Aggregate, query: &Query, session: &Session) -> bool {
    let (state, dialect) = (session.database().state(), session.dialect());
    let is_whole = |reference: &ColumnRef| {
        let column = state.column_of(reference, query, dialect);
        column.is_some_and(|column| column.ty.kind == Kind::Int)
    };
    match aggregate.args.as_slice() {
        [Expr::Literal(Value::Int(n))] => n.abs() <= 1_000_000,
        [Expr::Function { name, .. }] => name.eq_ignore_ascii_case("length"),
        [Expr::Binary { op: BinaryOp::Mod, left, right }] => {
            // Where operands are converted, a column may hold what is no whole number.
            let whole = match &**left {
                Expr::Cast { ty, .. } => ty.kind == Kind::Int,
                Expr::Column(reference) => dialect.is_typed() && is_whole(reference),
                _ => false,
            };
            whole && matches!(**right, Expr::Literal(Value::Int(n)) if n != 0 && n.abs() <= 1_000_000)
        }
        _ => false,
    }
}

/// `SELECT combine(s0) FROM (SELECT agg(x) AS s0 … WHERE p UNION ALL …)`.
fn combined(query: &Query, predicate: &Expr, combine: &'static str) -> Query {
    let mut part = query.clone();
    let with = part.with.take();
    if let Some(select) = part.as_select_mut() {
        for item in &mut select.items {
            if let SelectItem::Expr { alias, .. } = item {
                *alias = Some(Name::from("s0"));
            }
        }
    }
    let parts = partitions(predicate).map(|(_, condition)| filtered(&part, condition).body);
    let [first, second, third] = parts;
    let union = |left, right| Body::Compound {
        op: SetOp::Union,
        all: true,
        left: Box::new(left),
        right: Box::new(right),
    };
    let parts = Query::from(union(union(first, second), third));
    let outer = Select {
        items: vec![Expr::aggregate(combine, vec![Expr::column("p0", "s0")]).into()],
        from: vec![TableRef::Derived {
            query: Box::new(parts),
            alias: "p0".into(),
            columns: Vec::new(),
            lateral: false,
        }],
        ..Select::default()
    };
    Query { with, ..Query::select(outer) }
}
