//! Workflow commands of GitHub Actions: what is printed becomes annotations of the run.

use super::{Exported, Exporter};
use crate::report::title;

pub struct Annotations;

impl Exporter for Annotations {
    fn name(&self) -> &'static str {
        "github-annotations"
    }

    fn about(&self) -> &'static str {
        "GitHub Actions annotations, to be printed by a workflow step"
    }

    fn export(&self, findings: &[Exported]) -> String {
        let line = |exported: &Exported| {
            let title = title(exported.finding, exported.dialect);
            let (file, message) = (exported.script(), exported.message());
            format!(
                "::error file={},line=1,title={}::{}\n",
                property(&file),
                property(&title),
                data(&message)
            )
        };
        findings.iter().map(line).collect()
    }
}

/// What follows the two colons is one line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property also ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
