use super::{Exported, Exporter, joined};
use crate::report::repro;

pub struct Sql;

impl Exporter for Sql {
    fn name(&self) -> &'static str {
        "sql"
    }

    fn about(&self) -> &'static str {
        "One script per finding, for the engine's own shell"
    }

    fn export(&self, findings: &[Exported]) -> String {
        joined(findings, |exported| repro(exported.finding, exported.dialect))
    }
}
