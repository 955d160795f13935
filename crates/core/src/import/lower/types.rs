//! Types by their spelling.

use sqlparser::ast;

use super::{Lower, Lowered, refuse};
use crate::sql::{DataType, Kind};

/// The families of types that the dialect's file does not list, by what their names hold.
const FAMILIES: &[(&str, Kind)] = &[
    ("BOOL", Kind::Bool),
    ("INTERVAL", Kind::Interval),
    ("TIMESTAMP", Kind::Timestamp),
    ("DATETIME", Kind::Timestamp),
    ("INT", Kind::Int),
    ("SERIAL", Kind::Int),
    ("CHAR", Kind::Text),
    ("TEXT", Kind::Text),
    ("CLOB", Kind::Text),
    ("STRING", Kind::Text),
    ("BLOB", Kind::Blob),
    ("BINARY", Kind::Blob),
    ("BYTEA", Kind::Blob),
    ("REAL", Kind::Real),
    ("DOUB", Kind::Real),
    ("FLOA", Kind::Real),
    ("DEC", Kind::Decimal),
    ("NUMERIC", Kind::Decimal),
    ("DATE", Kind::Date),
    ("TIME", Kind::Time),
    ("JSON", Kind::Json),
    ("UUID", Kind::Uuid),
    ("[]", Kind::Array),
];

/// A spelling without blanks, in capitals: what is the same so is one thing.
pub fn squeezed(spelling: &str) -> String {
    spelling.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_uppercase()
}

impl Lower<'_> {
    pub fn data_type(&self, ty: &ast::DataType) -> Lowered<DataType> {
        if *ty == ast::DataType::Unspecified {
            return Ok(DataType::new("", Kind::Any));
        }
        let spelling = ty.to_string();
        let wanted = squeezed(&spelling);
        let listed = self.dialect.types.iter().map(|entry| &entry.ty);
        let listed = listed.chain(self.dialect.casts.iter().map(|cast| &cast.ty));
        if let Some(known) = listed.into_iter().find(|known| squeezed(&known.name) == wanted) {
            return Ok(known.clone());
        }
        if spelling.contains(['\'', '"']) {
            return refuse(format!("the type {spelling}"));
        }
        let kind =
            FAMILIES.iter().find(|(part, _)| wanted.contains(part)).map_or(Kind::Any, |(_, kind)| *kind);
        Ok(DataType::new(spelling, kind))
    }
}
