//! Text that fits where it is to go.

/// Cut with an ellipsis if it is longer than so many columns.
pub fn truncated(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.trim_end().to_string();
    }
    let start: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

/// Lines of at most so many columns, broken between words, but not before a percent sign; a longer word has a line of
/// its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in
        text.replace(" %", "\u{a0}%").split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty())
    {
        let line = lines.last_mut().expect("there is a line from the start");
        let used = line.chars().count();
        if used > 0 && used + 1 + word.chars().count() > width {
            lines.push(word.to_string());
        } else {
            line.push_str(if used > 0 { " " } else { "" });
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A path that can be pasted into a shell.
pub fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:=,".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Text of others as a terminal may show it: what would move its cursor, change its colours or turn the order of the
/// letters around is written as an escape, so that it hides nothing.
pub fn plain(text: &str) -> String {
    let acts =
        |c: char| (c.is_control() && !"\n\t".contains(c)) || TURNS.iter().any(|turns| turns.contains(&c));
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Characters that are not seen, and change the direction of those that are.
const TURNS: [std::ops::RangeInclusive<char>; 3] =
    ['\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_or_wrapped() {
        assert_eq!(truncated("a short one", 11), "a short one");
        assert_eq!(truncated("a short one", 8), "a short…");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incompatibilities are long", 5), ["incompatibilities", "are", "long"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("spent 12 % here", 8), ["spent", "12 %", "here"]);
    }

    #[test]
    fn text_of_others_does_nothing_to_a_terminal() {
        assert_eq!(plain("é\t'ok'\n"), "é\t'ok'\n");
        assert_eq!(plain("a\u{1b}[2K\rb\u{9b}1A\u{202e}c"), "a\\u{1b}[2K\\rb\\u{9b}1A\\u{202e}c");
    }

    #[test]
    fn paths_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word("dissent-out/sqlite-1/findings/x"), "dissent-out/sqlite-1/findings/x");
        assert_eq!(shell_word("my out/it's"), "'my out/it'\\''s'");
    }
}
