//! Settings that an engine lists itself: the `[discovery]` table of the dialect's file.
//!
//! Optimizers gain switches with every release. Dissent asks the engine for them, so that an unknown version or
//! build is tested with all its own switches.

use serde::Deserialize;

use super::{Dialect, Setting};
use crate::catalog::Denial;
use crate::engine::{Engine, Reply, Trouble};
use crate::sql::{Name, Value};

/// How an engine is asked for settings that no answer may depend on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discovery {
    /// Queries for the names of settings and values for them, as they are written. They come before the values in the
    /// file, and the first of a setting should be the one that switches off most. A query that fails is left out: an
    /// older version may lack the table.
    #[serde(default)]
    pub lists: Vec<String>,
    /// Settings that switch the whole optimizer off: that they help says little about a bug.
    #[serde(default)]
    pub masters: Vec<Name>,
    /// Settings that are not what they seem, and why: an answer may depend on them.
    #[serde(default)]
    pub deny: Vec<Denial>,
}

impl Dialect {
    /// Adds the settings that the engine lists to those in the dialect's file.
    pub fn discover(&mut self, engine: &mut dyn Engine) -> Result<(), Trouble> {
        if self.discovery.lists.is_empty() {
            return Ok(());
        }
        engine.reset()?;
        let mut found: Vec<Setting> = Vec::new();
        for list in &self.discovery.lists {
            let Reply::Rows(rows) = engine.execute(list)? else { continue };
            for row in rows.iter() {
                if let [name, value] = row
                    && let (Some(name), Some(value)) = (text(name), text(value))
                {
                    note(&mut found, &name, value.into());
                }
            }
        }
        found.into_iter().for_each(|setting| self.add_setting(setting));
        Ok(())
    }

    /// What the engine lists comes before what the file says.
    fn add_setting(&mut self, found: Setting) {
        if self.discovery.deny.iter().any(|denial| denial.covers(&found.name)) {
            return;
        }
        match self.settings.iter_mut().find(|setting| setting.name == found.name) {
            Some(setting) => {
                let more = setting.values.iter().filter(|value| !found.values.contains(value)).cloned();
                setting.values = found.values.iter().cloned().chain(more).collect();
            }
            None => self.settings.push(found),
        }
    }
}

/// Adds a value to those that were found for a setting.
fn note(found: &mut Vec<Setting>, name: &str, value: Name) {
    match found.iter_mut().find(|setting| setting.name == *name) {
        Some(setting) if setting.values.contains(&value) => {}
        Some(setting) => setting.values.push(value),
        None => found.push(Setting::new(name.into(), vec![value])),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Other { text, .. } => Some(text.clone()),
        Value::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_is_not_added_and_nothing_is_added_twice() {
        let mut dialect = Dialect::load("postgres", "18").unwrap();
        let deny = Denial { reason: "rewrites conditions".into(), names: vec!["transform_*".into()] };
        dialect.discovery.deny.push(deny);
        let before = dialect.settings.len();
        let mut found = Vec::new();
        for (name, value) in [
            ("transform_null_equals", "on"),
            ("enable_sort", "off"),
            ("enable_tidscan", "off"),
            ("enable_tidscan", "on"),
            ("enable_tidscan", "on"),
        ] {
            note(&mut found, name, value.into());
        }
        found.into_iter().for_each(|setting| dialect.add_setting(setting));
        assert_eq!(dialect.settings.len(), before + 1);
        assert_eq!(dialect.setting("enable_sort").unwrap().values, ["off", "on"]);
        assert_eq!(dialect.setting("enable_tidscan").unwrap().values, ["off", "on"]);
    }
}
