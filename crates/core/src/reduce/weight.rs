//! The size of a test case. Only an edit that makes it smaller is worth a check, so reduction ends.

use crate::dialect::Dialect;
use crate::render::{expr_to_sql, to_sql};
use crate::sql::Expr;
use crate::sql::visit::{Visitor, walk_expr};
use crate::subject::TestCase;

/// Fewer tokens first, then shorter ones, then plainer ones: `t0` before `t7`, `0` before `9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    /// Tokens of all statements.
    pub tokens: usize,
    characters: usize,
    plainness: u64,
}

/// The test case as one text: what is weighed, and what two equal test cases have in common.
pub(super) fn text(case: &TestCase, dialect: &Dialect) -> String {
    let statements = case.setup.iter().chain(&case.subject.tests).map(|statement| to_sql(statement, dialect));
    let exprs = case.subject.exprs.iter().map(|expr| expr_to_sql(expr, dialect));
    let choices = case.subject.choices.iter().map(|(name, choice)| format!("{name} {choice}"));
    let mut text = String::new();
    for part in statements.chain(exprs).chain(choices) {
        text.push_str(&part);
        text.push_str(";\n");
    }
    // What is under test is read more than once, and so is a parameter.
    text.push_str(&"? ".repeat(case.subject.tests.len().saturating_sub(1) + parameters(case)));
    text
}

fn parameters(case: &TestCase) -> usize {
    struct Count(usize);
    impl Visitor for Count {
        fn expr(&mut self, expr: &Expr) {
            self.0 += usize::from(matches!(expr, Expr::Bound(_)));
            walk_expr(self, expr);
        }
    }
    let mut count = Count(0);
    case.subject.tests.iter().for_each(|test| count.statement(test));
    count.0
}

impl Weight {
    /// The weight of a test case as this dialect writes it.
    pub fn of(case: &TestCase, dialect: &Dialect) -> Weight {
        Weight::of_text(&text(case, dialect))
    }

    pub(super) fn of_text(text: &str) -> Weight {
        Weight {
            tokens: tokens(text),
            characters: text.chars().count(),
            plainness: text.bytes().map(u64::from).sum(),
        }
    }
}

/// The tokens of an SQL text: words, numbers, quoted things and single signs.
pub fn tokens(sql: &str) -> usize {
    each_token(sql).count()
}

/// The tokens of a query that somebody chose: names, values, functions, operators, but no keywords and no brackets
/// and commas. (We print keywords in capitals, names in small letters and a function's bracket right behind it.)
pub fn tokens_beyond_keywords(sql: &str) -> usize {
    let is_form = |(at, token): &(usize, &str)| {
        let is_call = sql[at + token.len()..].starts_with('(');
        let is_value = matches!(*token, "NULL" | "TRUE" | "FALSE");
        let is_keyword = token.chars().all(|c| c.is_ascii_uppercase()) && !is_call && !is_value;
        is_keyword || matches!(*token, "(" | ")" | "," | "." | ";")
    };
    each_token(sql).filter(|token| !is_form(token)).count()
}

/// Each token, and where it begins.
fn each_token(sql: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = sql.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, c) = rest.find(|(_, c)| !c.is_whitespace())?;
        if matches!(c, '\'' | '"' | '`') {
            // A doubled quote ends one part and begins the next: still one token.
            while let Some((_, inner)) = rest.next() {
                if inner == c && rest.next_if(|(_, next)| *next == c).is_none() {
                    break;
                }
            }
        } else if is_word(c) {
            while rest.next_if(|(_, next)| is_word(*next)).is_some() {}
        } else if matches!(c, '<' | '>' | '=' | '!' | '|') {
            while rest.next_if(|(_, next)| matches!(next, '<' | '>' | '=' | '|')).is_some() {}
        }
        let end = rest.peek().map_or(sql.len(), |(at, _)| *at);
        Some((start, &sql[start..end]))
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_quoted_things_and_signs() {
        assert_eq!(tokens("SELECT t0.c0 FROM t0 WHERE c0 >= 'it''s'"), 10);
        assert_eq!(tokens("a||b <> x'00'"), 6);
        assert_eq!(tokens(""), 0);
    }

    #[test]
    fn keywords_are_not_counted_but_functions_and_values_are() {
        let beyond = tokens_beyond_keywords;
        assert_eq!(beyond("SELECT COUNT(*) FROM t0 WHERE c0 IS NOT NULL"), 5);
        assert_eq!(beyond("SELECT t0.c0 FROM t0 WHERE c0 IN (1, 'SELECT')"), 6);
        assert_eq!(beyond("SELECT DISTINCT"), 0);
    }

    #[test]
    fn plainer_names_and_numbers_weigh_less() {
        let weight = Weight::of_text;
        assert!(weight("SELECT 1") < weight("SELECT 7"));
        assert!(weight("SELECT t0.c0") < weight("SELECT t1.c0"));
        assert!(weight("SELECT 12345") < weight("SELECT (1)"));
    }
}
