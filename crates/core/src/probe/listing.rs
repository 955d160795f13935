//! What will be probed: the engine's own lists, and the names in the dialect's file.

use crate::catalog::{Operation, OperationKind, Plan, SampleType, Unusable, Why};
use crate::engine::{Reply, Trouble};
use crate::session::Session;
use crate::sql::{Name, Statement, Value};

/// Something an engine may be able to compute, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What sort of thing it is.
    pub kind: OperationKind,
    /// Its name.
    pub name: Name,
    /// How it is written if not as a call.
    pub form: Option<Name>,
    /// Its arguments by the names of their types, `?` if unknown; none if not even their number is known.
    pub params: Option<Vec<String>>,
    /// Any number of arguments of the last type may follow.
    pub more: bool,
    /// The type of its answer, if told.
    pub returns: Option<String>,
    /// On what its answer depends, if told.
    pub volatility: Option<Volatility>,
}

impl Candidate {
    /// It is not used, for this reason.
    pub(super) fn unusable(&self, why: Why, detail: impl Into<String>) -> Operation {
        Operation {
            kind: self.kind,
            name: self.name.clone(),
            form: self.form.clone(),
            signatures: Vec::new(),
            indexable: false,
            unusable: Some(Unusable { why, detail: detail.into() }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// The candidates in a fixed order, each once.
pub fn candidates(
    plan: &Plan,
    types: &[SampleType],
    session: &mut Session,
) -> Result<Vec<Candidate>, Trouble> {
    let mut all: Vec<Candidate> = Vec::new();
    for list in &plan.lists {
        if let Reply::Rows(rows) = session.try_run(&Statement::Raw(list.clone()))? {
            all.extend(rows.iter().filter_map(listed));
        }
    }
    let named = |kind, name: &Name| Candidate {
        kind,
        name: name.clone(),
        form: None,
        params: None,
        more: false,
        returns: None,
        volatility: plan.immutable.then_some(Volatility::Immutable),
    };
    let files = [
        (OperationKind::Function, &plan.functions),
        (OperationKind::Aggregate, &plan.aggregates),
        (OperationKind::Window, &plan.windows),
    ];
    for (kind, names) in files {
        let known = |name: &&Name| {
            !all.iter().any(|listed| listed.kind == kind && listed.name.eq_ignore_ascii_case(name))
        };
        let unlisted: Vec<Candidate> = names.iter().filter(known).map(|name| named(kind, name)).collect();
        all.extend(unlisted);
    }
    for form in &plan.operators {
        let operands = form.matches("{}").count();
        all.push(Candidate {
            form: Some(form.clone()),
            params: Some(vec!["?".to_string(); operands]),
            ..named(OperationKind::Operator, form)
        });
    }
    let castable = |ty: &&SampleType| !ty.pseudo;
    for to in types.iter().filter(|ty| !ty.pseudo && ty.literal.is_none()) {
        for from in types.iter().filter(castable) {
            all.push(Candidate {
                form: Some(Name::from(format!("CAST({{}} AS {})", to.name))),
                params: Some(vec![from.name.to_string()]),
                returns: Some(to.name.to_string()),
                ..named(OperationKind::Cast, &Name::from(format!("{} to {}", from.name, to.name)))
            });
        }
    }
    all.sort_by(|a, b| (a.kind, &a.name, &a.params).cmp(&(b.kind, &b.name, &b.params)));
    all.dedup_by(|a, b| (a.kind, &a.name, &a.params) == (b.kind, &b.name, &b.params));
    Ok(all)
}

/// A row of a list, unless it is of no kind that is known.
fn listed(row: &[Value]) -> Option<Candidate> {
    let text = |at: usize| match row.get(at) {
        Some(Value::Text(text)) => Some(text.clone()),
        Some(Value::Other { text, .. }) => Some(text.clone()),
        _ => None,
    };
    let kind = match text(0)?.as_str() {
        "function" => OperationKind::Function,
        "aggregate" => OperationKind::Aggregate,
        "window" => OperationKind::Window,
        "operator" => OperationKind::Operator,
        _ => return None,
    };
    let name = Name::from(text(1)?);
    let mut params: Option<Vec<String>> = text(2).map(|list| match list.as_str() {
        "" => Vec::new(),
        list => list.split('|').map(|name| name.trim().to_string()).collect(),
    });
    let more = params.as_ref().is_some_and(|params| params.last().is_some_and(|last| last == "..."));
    if more && let Some(params) = &mut params {
        params.pop();
    }
    let symbolic = !name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let operator = kind == OperationKind::Operator || symbolic;
    let form = match params.as_ref().map(Vec::len) {
        Some(1) if operator => Some(Name::from(format!("{name} {{}}"))),
        Some(2) if operator => Some(Name::from(format!("{{}} {name} {{}}"))),
        _ if operator => return None,
        _ => None,
    };
    let volatility = match text(4).as_deref() {
        Some("immutable") => Some(Volatility::Immutable),
        Some("stable") => Some(Volatility::Stable),
        Some("volatile") => Some(Volatility::Volatile),
        _ => None,
    };
    let kind = if operator { OperationKind::Operator } else { kind };
    Some(Candidate { kind, name, form, params, more, returns: text(3), volatility })
}
