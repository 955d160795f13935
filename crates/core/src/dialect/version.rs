/// A version number, compared part by part; what is no number counts as 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u64>);

impl Version {
    /// Reads `3.30.1`, and `10.11.3-MariaDB` as far as it is one.
    pub fn parse(text: &str) -> Version {
        Version(text.split(['.', '-', '+', ' ']).map(|part| part.parse().unwrap_or(0)).collect())
    }

    /// Whether it is this version or a later one; absent: it is.
    pub(super) fn reaches(&self, since: &Option<String>) -> bool {
        since.as_deref().is_none_or(|since| *self >= Version::parse(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(Version::parse("3.9.2") < Version::parse("3.30.1"));
        assert!(Version::parse("3.8.11.1") > Version::parse("3.8.11"));
    }
}
