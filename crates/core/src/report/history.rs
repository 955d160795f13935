//! The versions of a finding in words.

use crate::finding::History;

/// `Fails from 3.25.2 (3.24.0 is good) to 3.31.1 (3.32.0 is good).`
pub fn history(history: &History) -> String {
    let since = match &history.last_good {
        Some(good) => format!("from {} ({good} is good)", history.first_bad),
        None => format!("since {} or before, the oldest version that could be checked", history.first_bad),
    };
    let until = match &history.first_good {
        Some(good) => format!("to {} ({good} is good)", history.last_bad),
        None => format!("to {} at least, the newest version that could be checked", history.last_bad),
    };
    let gaps = if history.intermittent { "; in between it vanished and came back" } else { "" };
    format!("Fails {since} {until}{gaps}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_sentences() {
        let mut range = History {
            last_good: Some("3.24.0".to_string()),
            first_bad: "3.25.2".to_string(),
            last_bad: "3.31.1".to_string(),
            first_good: Some("3.32.0".to_string()),
            intermittent: false,
            checked: 9,
        };
        assert_eq!(history(&range), "Fails from 3.25.2 (3.24.0 is good) to 3.31.1 (3.32.0 is good).");
        range.last_good = None;
        range.first_good = None;
        range.intermittent = true;
        let text = history(&range);
        assert!(text.starts_with("Fails since 3.25.2 or before"), "{text}");
        assert!(text.ends_with("in between it vanished and came back."), "{text}");
    }
}
