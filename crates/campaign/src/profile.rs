//! Profiles on disk: weights of the generator's choices by name, in TOML.
//!
//! ```toml
//! [query.join.kind]
//! full = 40            # an option of a choice
//!
//! [expr.case]
//! else = 0             # a percentage: never
//!
//! [size]
//! max-tables = 5
//!
//! [oracle]
//! edc = 3              # three times the share of another oracle in the engine's time
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use dissent_core::profile::{choices, shares, sizes};

/// Reads a profile. Names are those that `dissent stats drawn` lists; a table stands for the beginning of a name.
pub fn read_profile(path: &Path) -> anyhow::Result<BTreeMap<String, u32>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the profile {shown}"))?;
    let table: toml::Table =
        toml::from_str(&text).with_context(|| format!("{shown} is not a valid profile"))?;
    let mut profile = BTreeMap::new();
    flatten("", &table, &mut profile).with_context(|| format!("{shown} is not a valid profile"))?;
    Ok(profile)
}

fn flatten(before: &str, table: &toml::Table, profile: &mut BTreeMap<String, u32>) -> anyhow::Result<()> {
    for (key, value) in table {
        let name = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&name, inner, profile)?,
            toml::Value::Integer(weight) => {
                let weight = u32::try_from(*weight)
                    .with_context(|| format!("'{name}' is {weight}; use a number from 0"))?;
                profile.insert(full_name(name), weight);
            }
            other => bail!("'{name}' is a {}, not a number", other.type_str()),
        }
    }
    Ok(())
}

/// In a file an option may be a key of its choice: `query.join.kind.left` for `query.join.kind/left`.
fn full_name(name: String) -> String {
    let is_known = |name: &str| {
        choices().iter().any(|choice| choice.name == name)
            || sizes().chain(shares()).any(|(known, _)| known == name)
    };
    match name.rsplit_once('.') {
        Some((choice, option)) if !is_known(&name) && is_known(&format!("{choice}/{option}")) => {
            format!("{choice}/{option}")
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<BTreeMap<String, u32>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_profile(file.path())
    }

    #[test]
    fn tables_and_whole_names_mean_the_same() {
        let nested = read("[query.join.kind]\nfull = 40\n[size]\nmax-tables = 5\n").unwrap();
        let whole = read("\"query.join.kind/full\" = 40\n\"size.max-tables\" = 5\n").unwrap();
        assert_eq!(nested, whole);
        assert_eq!(nested["query.join.kind/full"], 40);
        assert!(dissent_core::generate::Policy::profile(&nested).is_ok());
    }

    #[test]
    fn what_is_no_weight_is_refused_with_its_name() {
        let told = |text: &str| format!("{:#}", read(text).unwrap_err());
        assert!(told("[query]\ncomma = \"often\"").ends_with("'query.comma' is a string, not a number"));
        assert!(told("[query]\ncomma = -1").contains("'query.comma' is -1; use a number from 0"));
        assert!(told("query =").contains("is not a valid profile"));
    }
}
