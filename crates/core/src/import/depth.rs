//! How deep a statement's tree would be, before one is made: our code descends it, and a stack ends somewhere.

/// Levels that all of our code takes on the stack of a thread.
const MOST_LEVELS: usize = 250;
/// A text that is shorter cannot be deeper: each level takes two characters.
const SHORT: usize = 2 * MOST_LEVELS;

/// Words that make an expression one level deeper.
const OPERATORS: &[&str] = &[
    "AND", "OR", "XOR", "NOT", "IS", "ISNULL", "NOTNULL", "IN", "LIKE", "ILIKE", "GLOB", "REGEXP", "RLIKE",
    "SIMILAR", "BETWEEN", "COLLATE", "AT", "DIV", "MOD", "MATCH", "OPERATOR",
];
/// Words that an expression cannot go on behind.
const CLAUSES: &[&str] = &[
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "VALUES", "SET", "ON", "WHEN", "THEN",
    "ELSE",
];
/// Words that combine queries or tables.
const COMBINERS: &[&str] = &["UNION", "INTERSECT", "EXCEPT", "JOIN"];

/// What is between two parentheses.
#[derive(Clone, Copy, Default)]
struct Level {
    operators: usize,
    combined: usize,
}

/// Why a statement is not read, if it is too deep.
pub fn refusal(text: &str) -> Option<String> {
    let levels = if text.len() < SHORT { 0 } else { most_levels(text) };
    (levels > MOST_LEVELS).then(|| format!("it is nested too deeply (more than {MOST_LEVELS} levels)"))
}

/// No less than the depth of the tree.
fn most_levels(text: &str) -> usize {
    let (mut levels, mut sum, mut most) = (vec![Level::default()], 0, 0);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let nested = levels.len() > 1;
        let Some(level) = levels.last_mut() else { break };
        match c {
            '\'' | '"' | '`' => length = rest[1..].find(c).map_or(rest.len(), |at| at + 2),
            '(' | '[' => {
                // What is open stays below.
                sum += level.operators + level.combined + 1;
                levels.push(Level::default());
            }
            ')' | ']' if nested => {
                levels.pop();
                let above = levels.last().copied().unwrap_or_default();
                sum = sum.saturating_sub(above.operators + above.combined + 1);
                // `x[1][1]`, `f(x)(x)`.
                if let Some(above) = levels.last_mut() {
                    above.operators += usize::from(c == ']');
                }
            }
            ',' => level.operators = 0,
            c if c.is_alphanumeric() || c == '_' => {
                length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let word = rest[..length].to_ascii_uppercase();
                if OPERATORS.contains(&&*word) {
                    level.operators += 1;
                } else if CLAUSES.contains(&&*word) {
                    level.operators = 0;
                } else if COMBINERS.contains(&&*word) {
                    (level.operators, level.combined) = (0, level.combined + 1);
                } else if word == "CASE" {
                    sum += level.operators + level.combined + 1;
                    levels.push(Level::default());
                } else if word == "END" && nested {
                    levels.pop();
                    let above = levels.last().copied().unwrap_or_default();
                    sum = sum.saturating_sub(above.operators + above.combined + 1);
                }
            }
            c if "+-*/%<>=!|&^~:#@?".contains(c) => level.operators += 1,
            _ => {}
        }
        let here = levels.last().copied().unwrap_or_default();
        most = most.max(sum + here.operators + here.combined);
        rest = &rest[length..];
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_that_of_the_tree_not_of_the_text() {
        let chain = |sign: &str| vec!["a"; 8000].join(sign);
        for deep in [
            chain(" AND "),
            chain("+"),
            chain(" UNION SELECT "),
            "(".repeat(600),
            format!("x{}", "[1]".repeat(300)),
        ] {
            assert!(refusal(&format!("SELECT {deep}")).is_some(), "{}", &deep[..20]);
        }
        let rows = vec!["(-1, 'a' || 'b', CASE WHEN 1 THEN 2 END)"; 5000].join(", ");
        for shallow in [chain(", "), format!("x IN ({})", chain(", ")), rows, "'".repeat(9000)] {
            assert_eq!(refusal(&format!("SELECT {shallow}")), None, "{}", &shallow[..20]);
        }
    }
}
