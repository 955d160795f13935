//! What the functions of a binary are called, as far as its file says.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::CoverageError;
use crate::scan::map_file;

/// Names by the addresses of functions.
pub struct Symbols {
    /// Sorted by address.
    names: Vec<(u64, String)>,
}

impl Symbols {
    /// Those of a binary; none if it was stripped of all but what others use.
    pub fn of(path: &Path) -> Result<Symbols, CoverageError> {
        let bytes = map_file(path)?;
        let failed = |error: object::Error| CoverageError::NotScanned {
            path: path.to_path_buf(),
            reason: error.to_string(),
        };
        let file = object::File::parse(&*bytes).map_err(failed)?;
        let mut names: Vec<(u64, String)> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.address() != 0)
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_string())))
            .collect();
        // Of several names for one function the shortest.
        names.sort_by(|a, b| (a.0, a.1.len(), &a.1).cmp(&(b.0, b.1.len(), &b.1)));
        names.dedup_by_key(|(address, _)| *address);
        Ok(Symbols { names })
    }

    /// The name of the function that starts at an address, as people write it.
    pub fn name(&self, address: u32) -> Option<String> {
        let at = self.names.binary_search_by_key(&u64::from(address), |(address, _)| *address).ok()?;
        Some(readable(&self.names[at].1))
    }
}

/// A name of C++ without its arguments: `duckdb::Sort::Sink` of `_ZN6duckdb4Sort4SinkERNS_7ContextE`. Others stay as
/// they are, but for what compilers add to the names of parts of a function: `sort.cold`, `sort.part.0`.
fn readable(symbol: &str) -> String {
    let whole = symbol.split_once('.').map_or(symbol, |(whole, _)| whole);
    nested(whole).unwrap_or_else(|| whole.to_string())
}

fn nested(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_Z")?;
    let is_nested = rest.starts_with('N');
    let mut rest = rest.trim_start_matches(['N', 'K', 'L', 'V']);
    let mut names: Vec<String> = Vec::new();
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 {
            let length: usize = rest[..digits].parse().ok()?;
            let name = rest.get(digits..digits + length)?;
            names.push(if name.starts_with("_GLOBAL__N_") { "{anonymous}".into() } else { name.to_string() });
            rest = &rest[digits + length..];
        } else if let Some(behind) = rest.strip_prefix("St").filter(|_| names.is_empty()) {
            names.push("std".to_string());
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix('I').filter(|_| !names.is_empty()) {
            // Its arguments say which of many it is, and are long.
            names.last_mut()?.push_str("<>");
            rest = behind_arguments(behind)?;
        } else {
            break;
        }
        if !is_nested {
            break;
        }
    }
    if rest.starts_with(['C', 'D']) && is_nested {
        let class = names.last()?.trim_end_matches("<>").to_string();
        names.push(if rest.starts_with('D') { format!("~{class}") } else { class });
    } else if is_nested && !rest.starts_with(['E', 'B']) && !rest.is_empty() && names.len() < 2 {
        return None;
    } else if is_nested && rest.starts_with(|c: char| c.is_ascii_lowercase()) {
        names.push("operator".to_string());
    }
    (!names.is_empty()).then(|| names.join("::"))
}

/// What follows the arguments of a template; their end is found by counting what opens and closes.
fn behind_arguments(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 1);
    while at < bytes.len() {
        match bytes[at] {
            b'0'..=b'9' => {
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let length: usize = text[at..at + digits].parse().ok()?;
                // A reference to something earlier ends in an underscore and has no name behind it.
                at += digits + if bytes.get(at + digits) == Some(&b'_') { 0 } else { length };
            }
            b'S' | b'T' => {
                // A substitution: `S_`, `S1_`, `St`, `T_`.
                at += match bytes[at + 1..].first() {
                    Some(b'_') => 2,
                    Some(byte) if byte.is_ascii_digit() || byte.is_ascii_uppercase() => {
                        1 + bytes[at + 1..].iter().position(|byte| *byte == b'_')? + 1
                    }
                    _ => 2,
                };
            }
            // A literal: its type, which may be a letter or a name, its value, and its end.
            b'L' => {
                depth += 1;
                at += 1;
                if bytes.get(at).is_some_and(|byte| byte.is_ascii_lowercase()) {
                    at += 1 + bytes[at + 1..].iter().take_while(|byte| **byte != b'E').count();
                }
            }
            b'I' | b'N' | b'J' | b'F' | b'X' => {
                depth += 1;
                at += 1;
            }
            b'E' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(&text[at..]);
                }
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_are_readable() {
        for (symbol, name) in [
            ("sqlite3_open_v2", "sqlite3_open_v2"),
            ("sqlite3VdbeExec.cold", "sqlite3VdbeExec"),
            ("_ZN6duckdb4Sort4SinkERNS_7ContextE", "duckdb::Sort::Sink"),
            ("_ZN6duckdb4SortC2ERNS_7ContextE", "duckdb::Sort::Sort"),
            ("_ZNK6duckdb4SortD1Ev.cold", "duckdb::Sort::~Sort"),
            ("_Z11my_functionPKc", "my_function"),
            (
                "_ZN6duckdb13UnaryExecutor7ExecuteINS_9hugeint_tEiEEvRNS_6VectorE",
                "duckdb::UnaryExecutor::Execute<>",
            ),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<>::push_back"),
            ("_Zsomething", "_Zsomething"),
        ] {
            assert_eq!(readable(symbol), name, "{symbol}");
        }
    }
}
