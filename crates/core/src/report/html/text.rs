//! Text for HTML: everything that is not ours passes here.

/// Text that can neither end the element or attribute it stands in nor become markup. Control characters, which HTML
/// cannot hold, are shown as the replacement character.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            // They reorder the text around them: what is read must be what is copied.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// `1 bug`, `2 bugs`.
pub fn many(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", super::super::numbers::grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_foreign_is_markup() {
        assert_eq!(
            escaped("</script><img src=x onerror='a()' alt=\"&\">"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39; alt=&quot;&amp;&quot;&gt;"
        );
        assert_eq!(escaped("a\0b\u{202e}c\n"), "a\u{fffd}b\u{fffd}c\n");
    }
}
