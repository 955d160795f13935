//! A statement as the words and signs that matter to what it can reach.

use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use crate::dialect::Dialect;
use crate::import::reading::Reading;

/// A piece of a statement. Space and hints for the optimizer are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A keyword or a name, in lower case.
    Word {
        text: String,
        quoted: bool,
    },
    /// A literal text, without its quotes.
    Text(String),
    Dot,
    Comma,
    Open,
    Close,
    Semicolon,
    /// Whatever else there is, as it is written.
    Other(String),
    Comment,
}

impl Sign {
    /// The text of a word, quoted or not.
    pub fn word(&self) -> Option<&str> {
        match self {
            Sign::Word { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether it is this keyword, which is never in quotes.
    pub fn is(&self, keyword: &str) -> bool {
        matches!(self, Sign::Word { text, quoted: false } if text == keyword)
    }
}

/// `None`: it cannot be taken apart.
pub fn signs(text: &str, dialect: &Dialect) -> Option<Vec<Sign>> {
    let reading = Reading::of(dialect);
    let tokens = Tokenizer::new(reading.grammar(), text).tokenize().ok()?;
    Some(tokens.into_iter().filter_map(sign).collect())
}

fn sign(token: Token) -> Option<Sign> {
    Some(match token {
        Token::Word(word) => {
            Sign::Word { quoted: word.quote_style.is_some(), text: word.value.to_lowercase() }
        }
        Token::SingleQuotedString(text)
        | Token::DoubleQuotedString(text)
        | Token::EscapedStringLiteral(text)
        | Token::NationalStringLiteral(text)
        | Token::UnicodeStringLiteral(text)
        | Token::HexStringLiteral(text)
        | Token::SingleQuotedByteStringLiteral(text) => Sign::Text(text),
        Token::DollarQuotedString(text) => Sign::Text(text.value),
        Token::Period => Sign::Dot,
        Token::Comma => Sign::Comma,
        Token::LParen => Sign::Open,
        Token::RParen => Sign::Close,
        Token::SemiColon => Sign::Semicolon,
        // A hint changes how a query runs, and nothing else.
        Token::Whitespace(Whitespace::MultiLineComment(comment))
            if comment.starts_with('+') && !comment.contains("/*") =>
        {
            return None;
        }
        Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => {
            Sign::Comment
        }
        Token::Whitespace(_) | Token::EOF => return None,
        other => Sign::Other(other.to_string()),
    })
}
