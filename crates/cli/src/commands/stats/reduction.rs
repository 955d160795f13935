//! `dissent stats reduction`: how small findings became, and how well signatures tell bugs apart.

use std::io::Write;
use std::path::PathBuf;

use dissent_campaign::{record, store};
use dissent_core::dialect::Dialect;
use dissent_core::report::export::Exported;
use dissent_core::report::measure;

use crate::commands::findings::campaigns;

/// Over every example there is, duplicates too.
pub fn run(named: Vec<PathBuf>) -> anyhow::Result<()> {
    let mut findings = Vec::new();
    for campaign in campaigns(named)? {
        for directory in store::example_directories(&campaign)? {
            let finding = record::read(&directory)?;
            let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
            let id = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
            findings.push((id, finding, dialect));
        }
    }
    let measured: Vec<Exported> = findings
        .iter()
        .map(|(id, finding, dialect)| Exported { id, directory: "", finding, dialect })
        .collect();
    let (small, apart) = (measure::reductions(&measured), measure::signatures(&measured));
    write!(std::io::stdout(), "{small}\n{apart}")?;
    Ok(())
}
