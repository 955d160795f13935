//! SQL with its words coloured: a reader's help, not a parser. Whatever it takes a character for, the text stays the same.

use super::text::escaped;

/// The statements as HTML, each token of note in a `span`.
pub fn highlighted(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() * 2);
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = token(rest, first);
        let (text, after) = rest.split_at(length);
        match kind {
            Some(class) => {
                out.push_str("<span class=\"");
                out.push_str(class);
                out.push_str("\">");
                out.push_str(&escaped(text));
                out.push_str("</span>");
            }
            None => out.push_str(&escaped(text)),
        }
        rest = after;
    }
    out
}

/// The class of the token at the start of the text, and its length in bytes.
fn token(text: &str, first: char) -> (Option<&'static str>, usize) {
    let until =
        |end: &str, skip: usize| text[skip..].find(end).map_or(text.len(), |at| skip + at + end.len());
    match first {
        '-' if text.starts_with("--") => (Some("c"), text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => (Some("c"), until("*/", 2)),
        '\'' => (Some("s"), quoted(text, '\'')),
        '"' => (None, quoted(text, '"')),
        '`' => (None, quoted(text, '`')),
        c if c.is_ascii_digit() => (Some("n"), run(text, |c| c.is_ascii_alphanumeric() || c == '.')),
        c if is_word(c) => {
            let length = run(text, is_word);
            let is_keyword = KEYWORDS.contains(&text[..length].to_ascii_uppercase().as_str());
            (is_keyword.then_some("k"), length)
        }
        c => (None, c.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// A quote that is doubled does not end the text.
fn quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(found) = text[at..].find(quote) {
        at += found + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

const KEYWORDS: &[&str] = &[
    "ADD",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CHECK",
    "COLLATE",
    "COLUMN",
    "COMMIT",
    "CONSTRAINT",
    "CREATE",
    "CROSS",
    "CURRENT",
    "DEALLOCATE",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "ENGINE",
    "ESCAPE",
    "EXCEPT",
    "EXCLUDE",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FILTER",
    "FIRST",
    "FOLLOWING",
    "FOREIGN",
    "FROM",
    "FULL",
    "GLOB",
    "GROUP",
    "HAVING",
    "IF",
    "IN",
    "INDEX",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTO",
    "IS",
    "ISNULL",
    "JOIN",
    "KEY",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MATERIALIZED",
    "NATURAL",
    "NOT",
    "NOTNULL",
    "NULL",
    "NULLS",
    "OF",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRAGMA",
    "PRECEDING",
    "PREPARE",
    "PRIMARY",
    "RANGE",
    "RECURSIVE",
    "REFERENCES",
    "REINDEX",
    "RENAME",
    "REPLACE",
    "RETURNING",
    "RIGHT",
    "ROLLBACK",
    "ROW",
    "ROWID",
    "ROWS",
    "SELECT",
    "SET",
    "SETTINGS",
    "TABLE",
    "TEMP",
    "TEMPORARY",
    "THEN",
    "TO",
    "TRUE",
    "UNBOUNDED",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "USING",
    "VACUUM",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHOUT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_strings_numbers_and_comments_are_told_apart() {
        let shown = highlighted("SELECT 'it''s', x FROM t0 WHERE c0 < 1.5; -- returned <1> row\n");
        assert_eq!(
            shown,
            "<span class=\"k\">SELECT</span> <span class=\"s\">&#39;it&#39;&#39;s&#39;</span>, x \
             <span class=\"k\">FROM</span> t0 <span class=\"k\">WHERE</span> c0 &lt; <span class=\"n\">1.5</span>; \
             <span class=\"c\">-- returned &lt;1&gt; row</span>\n"
        );
    }

    #[test]
    fn no_text_is_lost_or_left_unescaped() {
        for text in [
            "'open",
            "/* open",
            "\"a\"\"b",
            "é''ü'ö",
            "",
            "--",
            "1e5x'",
            "`</script>`",
            "'</span><img onerror=a>'",
        ] {
            let shown = highlighted(text);
            let bare = shown
                .replace("</span>", "")
                .replace("<span class=\"k\">", "")
                .replace("<span class=\"s\">", "")
                .replace("<span class=\"n\">", "")
                .replace("<span class=\"c\">", "");
            assert_eq!(bare, escaped(text));
        }
    }
}
