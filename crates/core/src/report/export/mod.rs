//! Findings in the forms that other tools read: one file each, one line each in [`exporters`].

mod annotations;
mod github_issue;
mod json;
mod junit;
mod markdown;
mod sarif;
mod slt;
mod sql;

use super::{failure, sentence};
use crate::dialect::Dialect;
use crate::finding::{Class, Finding};

/// A finding with its name, and the dialect of the engine that showed it.
#[derive(Clone, Copy)]
pub struct Exported<'a> {
    /// Its name.
    pub id: &'a str,
    /// Its directory, as far as whoever reads the export can follow: `dissent-out/1/findings/ID`.
    pub directory: &'a str,
    /// The finding itself.
    pub finding: &'a Finding,
    /// The dialect of the version that it was found on.
    pub dialect: &'a Dialect,
}

impl Exported<'_> {
    /// What happened, in a sentence or two.
    fn message(&self) -> String {
        sentence(&failure(&self.finding.evidence))
    }

    /// The script, as a path.
    fn script(&self) -> String {
        format!("{}/repro.sql", self.directory.trim_end_matches('/'))
    }
}

/// A form for many findings at once.
pub trait Exporter: Sync + std::panic::RefUnwindSafe {
    /// The name a user types.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn about(&self) -> &'static str;

    /// All of them as one text.
    fn export(&self, findings: &[Exported]) -> String;
}

/// Every form there is. A new one joins by one line here.
pub fn exporters() -> &'static [&'static dyn Exporter] {
    &[
        &markdown::Markdown,
        &sql::Sql,
        &slt::SqlLogicTest,
        &json::Json,
        &junit::JUnit,
        &sarif::Sarif,
        &annotations::Annotations,
        &github_issue::GithubIssue,
    ]
}

/// A form by its name.
pub fn by_name(name: &str) -> Option<&'static dyn Exporter> {
    exporters().iter().copied().find(|exporter| exporter.name() == name)
}

/// The engine broke, rather than a wrong answer.
fn is_harm(class: Class) -> bool {
    matches!(class, Class::Crash | Class::Hang | Class::InternalError)
}

fn joined(findings: &[Exported], text: impl Fn(&Exported) -> String) -> String {
    findings.iter().map(text).collect::<Vec<_>>().join("\n")
}
