//! The engines a user can name. A new one is a module that offers a [`Product`] and one line here.

use std::fmt;

use crate::store::{Available, Store};
use crate::target::Step;
use crate::{EngineError, Source};

pub(crate) const PRODUCTS: &[Product] = &[
    crate::sqlite::PRODUCT, //
    crate::duckdb::PRODUCT,
    crate::postgres::POSTGRES,
    crate::postgres::COCKROACHDB,
    crate::mysql::MYSQL,
    crate::mysql::MARIADB,
    crate::mysql::PERCONA,
    crate::mysql::TIDB,
    crate::mysql::OCEANBASE,
    crate::clickhouse::PRODUCT,
];

/// What a module offers so that its engine can be named, obtained and listed.
pub(crate) struct Product {
    /// What a target begins with; also the name of its dialect.
    pub name: &'static str,
    /// Reads what follows the name in a target. `None`: that is no target at all.
    pub choose: fn(&str) -> Option<Chosen>,
    /// Every version there is, the oldest first.
    pub catalog: fn(&Store) -> Vec<Available>,
}

/// What a user's words came to: an engine, or why there is no such one.
pub(crate) type Chosen = Result<Box<dyn Choice>, EngineError>;

/// One engine of a product, as a user chose it.
pub(crate) trait Choice: fmt::Debug + Send + Sync {
    /// Makes sure the engine is on this machine, telling what takes time.
    fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError>;

    /// The same engine with a counter on every edge of its code.
    fn obtain_counting(&self, _progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        Err(EngineError::NoCoverage { engine: "this engine" })
    }

    /// How it is shown, where the user's own spelling holds what must not be.
    fn shown(&self) -> Option<String> {
        None
    }
}

pub(crate) fn by_name(name: &str) -> Result<&'static Product, EngineError> {
    PRODUCTS
        .iter()
        .find(|product| product.name == name)
        .ok_or_else(|| EngineError::UnknownEngine(name.to_string()))
}

/// For messages: the names of all.
pub(crate) fn names() -> String {
    let names: Vec<&str> = PRODUCTS.iter().map(|product| product.name).collect();
    names.join(", ")
}

/// What follows a product's name: nothing, `@VERSION` or `:path=FILE`.
pub(crate) enum Rest<'a> {
    Nothing,
    Version(&'a str),
    Path(&'a str),
}

impl<'a> Rest<'a> {
    pub fn read(rest: &'a str) -> Option<Rest<'a>> {
        let filled = |text: &&str| !text.is_empty();
        if rest.is_empty() {
            Some(Rest::Nothing)
        } else if let Some(path) = rest.strip_prefix(":path=") {
            Some(path).filter(filled).map(Rest::Path)
        } else {
            rest.strip_prefix('@').filter(filled).map(Rest::Version)
        }
    }
}
