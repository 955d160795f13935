//! The header of a script, in the comments at its start: `-- key: value`. A line that is indented goes on with the value
//! before it.

/// The words about a known bug that a script rebuilds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What is wrong, in one line.
    pub title: String,
    /// Where it was reported.
    pub link: String,
    /// A target that has the bug: `sqlite@3.28.0`.
    pub fails: String,
    /// The first release that no longer has it, of those that were tried.
    pub fixed: Option<String>,
    /// The oracles that catch it on the target that has it.
    pub caught: Vec<String>,
    /// Why none does.
    pub uncaught: Option<String>,
    /// The oracles that find something on the newest version as well.
    pub newest: Vec<String>,
}

/// The keys and values at the start of a script.
pub(super) fn fields(text: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().map_while(|line| line.strip_prefix("--")) {
        match (line.strip_prefix("   "), fields.last_mut(), line.split_once(':')) {
            (Some(more), Some((_, value)), _) => *value = format!("{value} {}", more.trim()),
            (None, _, Some((key, value))) => fields.push((key.trim().to_string(), value.trim().to_string())),
            _ => {}
        }
    }
    fields
}

/// The header of a script; none if it names no target that fails.
pub fn read(text: &str) -> Option<Header> {
    let mut header = Header::default();
    for (key, value) in fields(text) {
        match key.as_str() {
            "title" => header.title = value,
            "link" => header.link = value,
            "fails" => header.fails = value,
            "fixed" => header.fixed = Some(value),
            "caught" => header.caught = names(&value),
            "newest" => header.newest = names(&value),
            "uncaught" => header.uncaught = Some(value),
            _ => {}
        }
    }
    (!header.fails.is_empty()).then_some(header)
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_from_the_first_comments() {
        let text = "-- title: A row: is lost\n-- link: https://example.org/1\n-- fails: sqlite@3.28.0\n-- caught: norec, tlp-where\nSELECT 1;\n-- title: no\n";
        let header = read(text).unwrap();
        assert_eq!(
            (header.title.as_str(), header.link.as_str()),
            ("A row: is lost", "https://example.org/1")
        );
        assert_eq!((header.fails.as_str(), header.caught.len()), ("sqlite@3.28.0", 2));
        assert_eq!(read("-- a comment\nSELECT 1"), None);
    }
}
