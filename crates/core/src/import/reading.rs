//! Which sqlparser grammar reads a dialect: the one that the dialect's file names.

use std::any::TypeId;

use sqlparser::ast;
use sqlparser::dialect::{Dialect as Grammar, GenericDialect, Precedence, SQLiteDialect, dialect_from_str};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::depth;
use crate::dialect::Dialect;

pub struct Reading {
    grammar: Box<dyn Grammar>,
    /// Names that are not quoted are the same in small letters.
    pub folds_names: bool,
}

impl Reading {
    pub fn of(dialect: &Dialect) -> Reading {
        let engine = &dialect.engine;
        let grammar: Box<dyn Grammar> = match &*engine.grammar {
            "sqlite" => Box::new(Sqlite(SQLiteDialect {})),
            // That of no dialect in particular where the name is unknown.
            name => dialect_from_str(name).unwrap_or_else(|| Box::new(GenericDialect {})),
        };
        Reading { grammar, folds_names: engine.folds_names }
    }

    /// How sqlparser reads it.
    pub fn grammar(&self) -> &dyn Grammar {
        &*self.grammar
    }

    /// The one statement that a text holds.
    pub fn parse(&self, text: &str) -> Result<ast::Statement, String> {
        if let Some(why) = depth::refusal(text) {
            return Err(why);
        }
        let parsed = Parser::parse_sql(&*self.grammar, text);
        let mut statements = parsed.map_err(|error| format!("it does not parse: {error}"))?;
        match (statements.pop(), statements.is_empty()) {
            (Some(statement), true) => Ok(statement),
            (None, _) => Err("it is empty".to_string()),
            (Some(_), false) => Err("it contains several statements".to_string()),
        }
    }
}

/// SQLite's grammar with the operators that sqlparser's lacks: `x IS y`, `x ISNULL`, `x NOT GLOB y`,
/// `x << y`.
#[derive(Debug)]
struct Sqlite(SQLiteDialect);

impl Sqlite {
    fn is_operand_next(parser: &Parser) -> bool {
        let after = match parser.peek_nth_token(1).token {
            Token::Word(word) if word.keyword == Keyword::NOT => parser.peek_nth_token(2).token,
            other => other,
        };
        !matches!(after, Token::Word(word) if matches!(
            word.keyword,
            Keyword::NULL | Keyword::TRUE | Keyword::FALSE | Keyword::DISTINCT
        ))
    }

    fn word(token: &Token, text: &str) -> bool {
        matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
    }

    fn infix(
        &self,
        parser: &mut Parser,
        left: &ast::Expr,
        precedence: u8,
    ) -> Result<Option<ast::Expr>, ParserError> {
        let left = || Box::new(left.clone());
        let next = parser.peek_token().token;
        let shift = match next {
            Token::ShiftLeft => Some(ast::BinaryOperator::PGBitwiseShiftLeft),
            Token::ShiftRight => Some(ast::BinaryOperator::PGBitwiseShiftRight),
            _ => None,
        };
        if let Some(op) = shift {
            parser.next_token();
            let right = Box::new(parser.parse_subexpr(precedence)?);
            return Ok(Some(ast::Expr::BinaryOp { left: left(), op, right }));
        }
        if Self::word(&next, "ISNULL") {
            parser.next_token();
            return Ok(Some(ast::Expr::IsNull(left())));
        }
        if Self::word(&next, "IS") && Self::is_operand_next(parser) {
            parser.next_token();
            let negated = parser.parse_keyword(Keyword::NOT);
            let right = Box::new(parser.parse_subexpr(precedence)?);
            return Ok(Some(match negated {
                true => ast::Expr::IsDistinctFrom(left(), right),
                false => ast::Expr::IsNotDistinctFrom(left(), right),
            }));
        }
        if Self::word(&next, "NOT") && Self::word(&parser.peek_nth_token(1).token, "GLOB") {
            parser.next_token();
            parser.next_token();
            let right = Box::new(parser.parse_subexpr(precedence)?);
            let glob = ast::Expr::BinaryOp { left: left(), op: ast::BinaryOperator::Glob, right };
            // Nobody writes two pairs of parentheses: so it is told from `NOT (x GLOB y)`.
            let expr = Box::new(ast::Expr::Nested(Box::new(ast::Expr::Nested(Box::new(glob)))));
            return Ok(Some(ast::Expr::UnaryOp { op: ast::UnaryOperator::Not, expr }));
        }
        Ok(None)
    }
}

impl Grammar for Sqlite {
    fn dialect(&self) -> TypeId {
        self.0.dialect()
    }

    fn parse_infix(
        &self,
        parser: &mut Parser,
        expr: &ast::Expr,
        precedence: u8,
    ) -> Option<Result<ast::Expr, ParserError>> {
        match self.infix(parser, expr, precedence) {
            Ok(None) => self.0.parse_infix(parser, expr, precedence),
            Ok(Some(expr)) => Some(Ok(expr)),
            Err(error) => Some(Err(error)),
        }
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        let binds = Self::word(&parser.peek_token().token, "ISNULL");
        binds.then(|| Ok(self.0.prec_value(Precedence::Is)))
    }

    // Everything else is SQLite's as sqlparser knows it.
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        self.0.is_delimited_identifier_start(ch)
    }
    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.0.identifier_quote_style(identifier)
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        self.0.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        self.0.is_identifier_part(ch)
    }
    fn parse_statement(&self, parser: &mut Parser) -> Option<Result<ast::Statement, ParserError>> {
        self.0.parse_statement(parser)
    }
    fn supports_filter_during_aggregation(&self) -> bool {
        self.0.supports_filter_during_aggregation()
    }
    fn supports_start_transaction_modifier(&self) -> bool {
        self.0.supports_start_transaction_modifier()
    }
    fn supports_in_empty_list(&self) -> bool {
        self.0.supports_in_empty_list()
    }
    fn supports_limit_comma(&self) -> bool {
        self.0.supports_limit_comma()
    }
    fn supports_asc_desc_in_column_definition(&self) -> bool {
        self.0.supports_asc_desc_in_column_definition()
    }
    fn supports_dollar_placeholder(&self) -> bool {
        self.0.supports_dollar_placeholder()
    }
    fn supports_notnull_operator(&self) -> bool {
        self.0.supports_notnull_operator()
    }
    fn supports_comma_separated_trim(&self) -> bool {
        self.0.supports_comma_separated_trim()
    }
    fn supports_numeric_literal_underscores(&self) -> bool {
        self.0.supports_numeric_literal_underscores()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Files;

    #[test]
    fn every_dialect_names_a_grammar_that_there_is() {
        let files = Files::built_in();
        for name in files.names() {
            let grammar = files.descriptor(name).unwrap().grammar;
            assert!(dialect_from_str(&grammar).is_some(), "{name}: {grammar}");
        }
    }
}
