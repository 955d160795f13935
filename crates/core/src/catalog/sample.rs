//! Types with values for probing.

use serde::{Deserialize, Serialize};

use super::plan::TypeLine;
use crate::sql::{DataType, Expr, Kind, Name, Value};

/// A type, values of it, and what the engine does with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleType {
    /// Its name as a cast writes it.
    pub name: Name,
    /// The family of its values.
    pub kind: Kind,
    /// Typical first, then boundaries.
    pub values: Vec<String>,
    /// Other names under which the engine lists it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Whether its values are written as literals without a cast.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// Around the text of a value, where there is no cast from text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal: Option<Name>,
    /// Whether it stands for any type (`anyelement`) and has no values of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pseudo: bool,
    /// Whether the catalog is worthless if the engine does not take it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// `=` takes two of it.
    pub comparable: bool,
    /// `<` takes two of it.
    pub ordered: bool,
}

impl SampleType {
    pub(crate) fn new(line: &TypeLine) -> SampleType {
        SampleType {
            name: line.name.clone(),
            kind: line.kind,
            values: line.values.clone(),
            aliases: line.aliases.clone(),
            plain: line.plain,
            literal: line.literal.clone(),
            pseudo: line.pseudo,
            required: line.required,
            comparable: true,
            ordered: true,
        }
    }

    /// One of its values as an expression; the first is typical.
    pub fn value(&self, at: usize) -> Expr {
        let text = self.values.get(at % self.values.len().max(1)).map_or("", String::as_str);
        if let Some(form) = &self.literal {
            return Expr::operation(form.clone(), vec![Expr::text(text)]);
        }
        if !self.plain {
            let ty = DataType::new(self.name.clone(), self.kind);
            return Expr::Cast { expr: Box::new(Expr::text(text)), ty };
        }
        Expr::Literal(match self.kind {
            Kind::Bool => Value::Bool(text == "true"),
            Kind::Int => text.parse().map_or_else(|_| Value::Decimal(text.into()), Value::Int),
            Kind::Real => text.parse().map_or(Value::Null, Value::Real),
            Kind::Decimal => Value::Decimal(text.into()),
            Kind::Blob => Value::Blob(text.as_bytes().to_vec()),
            Kind::Text | Kind::Any => Value::Text(text.into()),
            kind => Value::Other { kind, text: text.into() },
        })
    }

    /// NULL of this type.
    pub fn null(&self, typed: bool) -> Expr {
        if self.pseudo || !typed {
            return Expr::null();
        }
        Expr::Cast { expr: Box::new(Expr::null()), ty: DataType::new(self.name.clone(), self.kind) }
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        plain_name(&self.name) == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// A type's name in lower case, without lengths and wrappers that do not matter here: `DECIMAL(9, 2)` is
/// `decimal`, `Nullable(Int8)` is `int8`.
pub fn plain_name(name: &str) -> String {
    let mut name = name.trim().to_lowercase();
    for wrapper in ["lowcardinality(", "nullable("] {
        if let Some(inner) = name.strip_prefix(wrapper).and_then(|rest| rest.strip_suffix(')')) {
            name = inner.to_string();
        }
    }
    // A length stands before what follows it: `character(5)[]`.
    match (name.find('('), name.find(')')) {
        (Some(open), Some(close)) if open < close && name[open + 1..close].bytes().all(is_length) => {
            format!("{}{}", &name[..open], &name[close + 1..]).trim().to_string()
        }
        _ => name,
    }
}

fn is_length(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b',' || byte == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_compared_without_lengths() {
        for (name, plain) in [
            ("DECIMAL(18, 3)", "decimal"),
            ("LowCardinality(Nullable(String))", "string"),
            ("Array(Int32)", "array(int32)"),
            ("timestamp(6) without time zone", "timestamp without time zone"),
            ("INTEGER[]", "integer[]"),
        ] {
            assert_eq!(plain_name(name), plain);
        }
    }
}
