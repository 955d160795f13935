//! ClickHouse's types, read from their names.

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Bool,
    Int {
        bytes: usize,
        signed: bool,
    },
    Float {
        bytes: usize,
    },
    Decimal {
        bytes: usize,
        scale: usize,
    },
    Text,
    FixedText(usize),
    /// Days since 1970 in so many bytes.
    Date {
        bytes: usize,
    },
    DateTime,
    /// Ticks of so many decimal digits below the second.
    DateTime64 {
        digits: u32,
    },
    Time,
    Uuid,
    Enum {
        bytes: usize,
        labels: Vec<(i64, String)>,
    },
    Interval,
    Nothing,
    Nullable(Box<Type>),
    Array(Box<Type>),
    Tuple(Vec<Type>),
    Map(Box<(Type, Type)>),
}

impl Type {
    /// `None`: a type whose values are not read.
    pub fn parse(name: &str) -> Option<Type> {
        let (word, arguments) = match name.split_once('(') {
            Some((word, rest)) => (word, arguments(rest.strip_suffix(')')?)),
            None => (name, Vec::new()),
        };
        let inner = || arguments.first().and_then(|name| Type::parse(name)).map(Box::new);
        let number = |at: usize| arguments.get(at)?.trim().parse::<usize>().ok();
        let integer = |digits: &str, signed| {
            let bits: usize = digits.parse().ok()?;
            (bits <= 256).then_some(Type::Int { bytes: bits / 8, signed })
        };
        Some(match word {
            "Bool" => Type::Bool,
            "String" => Type::Text,
            "FixedString" => Type::FixedText(number(0)?),
            "Date" => Type::Date { bytes: 2 },
            "Date32" => Type::Date { bytes: 4 },
            "DateTime" => Type::DateTime,
            "DateTime64" => Type::DateTime64 { digits: number(0)? as u32 },
            "Time" => Type::Time,
            "UUID" => Type::Uuid,
            "Float32" => Type::Float { bytes: 4 },
            "Float64" => Type::Float { bytes: 8 },
            "Decimal" => {
                let bytes = match number(0)? {
                    0..10 => 4,
                    10..19 => 8,
                    19..39 => 16,
                    _ => 32,
                };
                Type::Decimal { bytes, scale: number(1)? }
            }
            "Enum8" => Type::Enum { bytes: 1, labels: labels(&arguments)? },
            "Enum16" => Type::Enum { bytes: 2, labels: labels(&arguments)? },
            "Nothing" => Type::Nothing,
            "Nullable" => Type::Nullable(inner()?),
            "LowCardinality" => return inner().map(|inner| *inner),
            "Array" => Type::Array(inner()?),
            "Map" => Type::Map(Box::new((Type::parse(&arguments[0])?, Type::parse(arguments.get(1)?)?))),
            "Tuple" => Type::Tuple(arguments.iter().map(|name| element(name)).collect::<Option<_>>()?),
            word if word.starts_with("Interval") => Type::Interval,
            word => match (word.strip_prefix("UInt"), word.strip_prefix("Int")) {
                (Some(bits), _) => integer(bits, false)?,
                (None, Some(bits)) => integer(bits, true)?,
                _ => return None,
            },
        })
    }
}

/// An element of a tuple may have a name before its type.
fn element(text: &str) -> Option<Type> {
    Type::parse(text).or_else(|| Type::parse(text.split_once(' ')?.1))
}

/// Splits at the commas that are in no parentheses and no quotes.
fn arguments(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted, mut escaped) = (vec![String::new()], 0, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            ' ' if !quoted && parts.last().is_some_and(String::is_empty) => continue,
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// `'a' = 1`.
fn labels(arguments: &[String]) -> Option<Vec<(i64, String)>> {
    let label = |text: &String| {
        let (name, number) = text.rsplit_once('=')?;
        Some((number.trim().parse().ok()?, name.trim().trim_matches('\'').to_string()))
    };
    arguments.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_read() {
        let int = |bits: usize, signed| Type::Int { bytes: bits / 8, signed };
        assert_eq!(Type::parse("UInt64"), Some(int(64, false)));
        assert_eq!(Type::parse("Nullable(Int8)"), Some(Type::Nullable(Box::new(int(8, true)))));
        assert_eq!(Type::parse("Decimal(18, 3)"), Some(Type::Decimal { bytes: 8, scale: 3 }));
        assert_eq!(Type::parse("LowCardinality(String)"), Some(Type::Text));
        assert_eq!(Type::parse("DateTime('UTC')"), Some(Type::DateTime));
        assert_eq!(Type::parse("DateTime64(3, 'UTC')"), Some(Type::DateTime64 { digits: 3 }));
        assert_eq!(
            Type::parse("Map(String, Tuple(a UInt8, Array(Float64)))"),
            Some(Type::Map(Box::new((
                Type::Text,
                Type::Tuple(vec![int(8, false), Type::Array(Box::new(Type::Float { bytes: 8 }))])
            ))))
        );
        assert_eq!(
            Type::parse("Enum8('a, b' = 1, 'c' = -2)"),
            Some(Type::Enum { bytes: 1, labels: vec![(1, "a, b".into()), (-2, "c".into())] })
        );
        assert_eq!(Type::parse("AggregateFunction(sum, Int8)"), None);
    }
}
