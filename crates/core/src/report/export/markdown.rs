use super::{Exported, Exporter, joined};
use crate::report::report;

pub struct Markdown;

impl Exporter for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "One issue per finding, ready to paste into a tracker"
    }

    fn export(&self, findings: &[Exported]) -> String {
        joined(findings, |exported| report(exported.finding, exported.dialect))
    }
}
