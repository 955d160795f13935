//! What a dialect's engine is and how to reach it: the table `[engine]` of the dialect's file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Version, yes};
use crate::engine::ErrorClass;

/// All that is particular to one engine among those that share a driver. Relatives inherit it and say what differs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// The engine's name as its makers write it: `PostgreSQL`. Never inherited.
    pub title: String,
    /// Hunts learn from plans unless they are told otherwise; not where they find more bugs in the same time without.
    #[serde(default = "yes")]
    pub guided: bool,
    /// Threads and clocks of the engine make about so many places of its code new, whatever is asked.
    #[serde(default)]
    pub coverage_noise: usize,
    /// About how many megabytes an installed version takes.
    #[serde(default)]
    pub megabytes: u64,
    /// What speaks to it: the name of a wire or a library that the engine crate knows.
    pub driver: String,
    /// The grammar of sqlparser that reads its SQL, by sqlparser's name for it.
    pub grammar: String,
    /// Names that are not quoted are the same in small letters.
    #[serde(default)]
    pub folds_names: bool,
    /// Where its servers listen unless their address says otherwise.
    #[serde(default)]
    pub port: Option<u16>,
    /// Whom to log in as unless the address says otherwise.
    #[serde(default)]
    pub user: Option<String>,
    /// The database to log in to unless the address names one. Absent: none, and an address may not name one.
    #[serde(default)]
    pub database: Option<String>,
    /// The environment variable in which its own clients look for a password.
    #[serde(default)]
    pub password_variable: Option<String>,
    /// The password of a private server's user, where it asks for one.
    #[serde(default)]
    pub password: Option<String>,
    /// The parameter by which a server that imitates another one tells its own version when it greets.
    #[serde(default)]
    pub version_parameter: Option<String>,
    /// It says of every float that it has no digits after the point, where MySQL's protocol says how many.
    #[serde(default)]
    pub hides_digits: bool,
    /// The query for its own version, where it greets with the version it imitates.
    #[serde(default)]
    pub version_query: Option<String>,
    /// What comes before its own version in what it answers, which begins with the version it imitates.
    #[serde(default)]
    pub version_after: Option<String>,
    /// A word that is in what it answers when it is asked for its version, and in that of no relative.
    #[serde(default)]
    pub version_says: Option<String>,
    /// How a session limits the time of its statements. Absent: they are interrupted from outside.
    #[serde(default)]
    pub time_limit: Option<TimeLimit>,
    /// What every session begins with because answers depend on it. A script for the engine's own shell has it too.
    #[serde(default)]
    pub session: Vec<String>,
    /// What sets a session back to how the engine comes.
    #[serde(default)]
    pub defaults: Vec<String>,
    /// The query for all that the engine says of its own version and build, in one column.
    #[serde(default)]
    pub about: Option<String>,
    /// The engine's own shell: `sqlite3`.
    #[serde(default)]
    pub shell: Option<String>,
    /// How that shell is given a parameter, where there is no PREPARE in SQL: `{number}` from 1, the `{value}` as a
    /// literal, `{quoted}` the same in double quotes.
    #[serde(default)]
    pub bind: Option<String>,
    /// Codes of errors that the driver does not know, or knows as something else.
    #[serde(default)]
    pub errors: BTreeMap<ErrorClass, Vec<String>>,
    /// Parts of messages by which errors are known that share their code with others.
    #[serde(default)]
    pub messages: BTreeMap<ErrorClass, Vec<String>>,
    /// How databases of our own are made on a server, where drivers leave that to the engine.
    #[serde(default)]
    pub databases: Databases,
    /// How a private server is started from an installed package. Absent: the driver knows how, or there is none.
    #[serde(default)]
    pub server: Option<ServerProgram>,
}

/// A server program and its arguments. In all texts, `{package}` is the directory of the installed package, `{home}` a
/// directory of the server's own, `{data}` one in it for its data, and `{port}` a free port on loopback.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerProgram {
    /// Its path, or the name of a program that the user must have: `java`.
    pub program: String,
    /// What it is started with.
    pub arguments: Vec<String>,
    /// The Unix socket that it listens on. Absent: it listens on `{port}`.
    #[serde(default)]
    pub socket: Option<String>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that are in `{home}` when it is started, by their names or paths in it.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// How databases are made on a server. `{name}` is the name that we gave one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Databases {
    /// Makes one. Absent or empty: connecting to it does.
    #[serde(default)]
    pub create: Option<String>,
    /// Ways to drop one, tried one after the other.
    #[serde(default)]
    pub drop: Vec<String>,
    /// What a connection calls it, if that is not its name.
    #[serde(default)]
    pub address: Option<String>,
    /// Makes it as if it were new, with the session. None: it is dropped and made again.
    #[serde(default)]
    pub empty: Vec<String>,
}

/// A setting that limits the time of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeLimit {
    /// The assignment; `{seconds}`, `{millis}` or `{micros}` is where the limit goes. Empty: there is none.
    pub set: String,
    /// The first version that has it.
    #[serde(default)]
    pub since: Option<String>,
}

impl Descriptor {
    /// The assignment that limits every statement of a session; `None`: this version has none.
    pub fn time_limit(&self, millis: u64, version: &str) -> Option<String> {
        let limit = self.time_limit.as_ref().filter(|limit| !limit.set.is_empty())?;
        Version::parse(version).reaches(&limit.since).then(|| {
            let seconds = (millis as f64 / 1000.0).to_string();
            let set = limit.set.replace("{seconds}", &seconds).replace("{millis}", &millis.to_string());
            set.replace("{micros}", &(millis * 1000).to_string())
        })
    }

    /// The engine's own version in what it answers when it is asked for one.
    pub fn own_version<'a>(&self, told: &'a str) -> &'a str {
        self.version_after.as_deref().and_then(|mark| told.rsplit_once(mark)).map_or(told, |(_, own)| own)
    }

    /// What an error of this engine is, where that is not for the driver to say.
    pub fn error_class(&self, code: &str, message: &str) -> Option<ErrorClass> {
        let said = self.messages.iter().find(|(_, parts)| parts.iter().any(|part| message.contains(part)));
        let listed = || self.errors.iter().find(|(_, codes)| codes.iter().any(|listed| listed == code));
        said.or_else(listed).map(|(class, _)| *class)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::*;

    fn descriptor(name: &str) -> Descriptor {
        Files::built_in().descriptor(name).unwrap()
    }

    #[test]
    fn a_time_limit_is_told_as_the_engine_counts_time() {
        let limit = |name: &str, version: &str| descriptor(name).time_limit(2500, version);
        assert_eq!(limit("mysql", "9.7.4").as_deref(), Some("max_execution_time=2500"));
        assert_eq!(limit("percona", "5.6.24"), None);
        assert_eq!(limit("tidb", "5.4.0").as_deref(), Some("max_execution_time=2500"));
        assert_eq!(limit("mariadb", "10.11.3").as_deref(), Some("max_statement_time=2.5"));
        assert_eq!(limit("oceanbase", "1.4.0").as_deref(), Some("ob_query_timeout=2500000"));
        assert_eq!(descriptor("mariadb").time_limit(5000, "11").as_deref(), Some("max_statement_time=5"));
    }

    #[test]
    fn an_engine_that_imitates_another_has_a_version_of_its_own() {
        assert_eq!(descriptor("tidb").own_version("8.0.11-TiDB-v7.5.0"), "7.5.0");
        assert_eq!(descriptor("mariadb").own_version("11.8.6-MariaDB"), "11.8.6-MariaDB");
    }

    #[test]
    fn an_engine_may_have_error_codes_of_its_own() {
        assert_eq!(descriptor("oceanbase").error_class("4016", ""), Some(ErrorClass::Internal));
        assert_eq!(descriptor("mysql").error_class("4016", ""), None);
        let panicked = "runtime error: index out of range [1] with length 1";
        assert_eq!(descriptor("tidb").error_class("1105", panicked), Some(ErrorClass::Internal));
        assert_eq!(descriptor("tidb").error_class("1105", "unknown"), None);
    }
}
