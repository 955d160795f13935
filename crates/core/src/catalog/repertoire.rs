//! A catalog in the form that the generator uses: the usable operations, by result type.

use std::collections::HashMap;

use super::sample::plain_name;
use super::{Catalog, OperationKind, SampleType, Signature};
use crate::sql::{DataType, Kind, Name};

/// Empty until the engine's catalog is known.
#[derive(Clone, Debug, Default)]
pub struct Repertoire {
    /// The types that signatures count by.
    pub types: Vec<SampleType>,
    /// Functions, operators and casts.
    pub entries: Vec<Entry>,
    /// Aggregate functions.
    pub aggregates: Vec<Entry>,
    /// Window functions; what they give may depend on the order of peers.
    pub windows: Vec<Entry>,
    /// The entries that are no casts come first.
    pub casts_from: usize,
    /// By the number of a type: the entries and signatures that return it.
    returning: Vec<Vec<(u32, u16)>>,
    /// The same by kind, `Any` being those whose type has no name here.
    of_kind: HashMap<Kind, Vec<(u32, u16)>>,
    /// The types of columns by their spelling.
    declared: HashMap<Name, u16>,
    /// How many operations of the catalog are usable.
    pub usable: usize,
}

/// An operation that can be drawn.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number in the catalog.
    pub number: u32,
    /// Its name.
    pub name: Name,
    /// How it is written if not as a call.
    pub form: Option<Name>,
    /// What it takes and gives; one is drawn each time.
    pub signatures: Vec<Signature>,
    /// Whether an index may be built on it.
    pub indexable: bool,
}

impl Repertoire {
    /// What a catalog offers to a dialect whose generator knows these types.
    pub fn new<'t>(catalog: &Catalog, known: impl Iterator<Item = &'t DataType>) -> Repertoire {
        let entries_of = |wanted: &dyn Fn(OperationKind) -> bool| -> Vec<Entry> {
            let all = catalog.operations.iter().enumerate();
            all.filter(|(_, operation)| operation.is_usable() && wanted(operation.kind))
                .map(|(number, operation)| Entry {
                    number: number as u32,
                    name: operation.name.clone(),
                    form: operation.form.clone(),
                    signatures: operation.signatures.clone(),
                    indexable: operation.indexable,
                })
                .collect()
        };
        let mut entries =
            entries_of(&|kind| matches!(kind, OperationKind::Function | OperationKind::Operator));
        let casts_from = entries.len();
        entries.extend(entries_of(&|kind| kind == OperationKind::Cast));
        let mut returning = vec![Vec::new(); catalog.types.len()];
        let mut of_kind: HashMap<Kind, Vec<(u32, u16)>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            for (signature_at, signature) in entry.signatures.iter().enumerate() {
                let place = (at as u32, signature_at as u16);
                let ty = signature.returns.map(|ty| ty as usize).filter(|ty| *ty < returning.len());
                let kind = ty.map_or(Kind::Any, |ty| catalog.types[ty].kind);
                if let Some(ty) = ty {
                    returning[ty].push(place);
                }
                of_kind.entry(kind).or_default().push(place);
            }
        }
        let number = |name: &Name| {
            let plain = plain_name(name);
            let called = |ty: &SampleType| ty.name == *name || ty.is_called(&plain);
            catalog.types.iter().position(called).map(|at| (name.clone(), at as u16))
        };
        Repertoire {
            types: catalog.types.clone(),
            aggregates: entries_of(&|kind| kind == OperationKind::Aggregate),
            windows: entries_of(&|kind| kind == OperationKind::Window),
            entries,
            casts_from,
            returning,
            of_kind,
            declared: known.filter_map(|ty| number(&ty.name)).collect(),
            usable: catalog.usable().count(),
        }
    }

    /// Draws none of these any more.
    pub fn forget(&mut self, forgotten: impl Fn(&Name) -> bool) {
        let entries = &self.entries;
        let stays = |place: &(u32, u16)| !forgotten(&entries[place.0 as usize].name);
        self.returning.iter_mut().for_each(|places| places.retain(stays));
        self.of_kind.values_mut().for_each(|places| places.retain(stays));
        self.aggregates.retain(|entry| !forgotten(&entry.name));
        self.windows.retain(|entry| !forgotten(&entry.name));
    }

    /// Whether the engine's catalog is not known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of a column's type, if values of it are known.
    pub fn type_of_column(&self, declared: &Name) -> Option<u16> {
        self.declared.get(declared).copied()
    }

    /// Entries and their signatures that return a type.
    pub fn returning(&self, ty: u16) -> &[(u32, u16)] {
        self.returning.get(ty as usize).map_or(&[], Vec::as_slice)
    }

    /// Entries and their signatures that return a kind.
    pub fn of_kind(&self, kind: Kind) -> &[(u32, u16)] {
        self.of_kind.get(&kind).map_or(&[], Vec::as_slice)
    }
}
