//! A hunt from your own program: two seconds on the bundled SQLite, in worker processes of this program.
//!
//! Run it with `cargo run -p dissent-campaign --example hunt DIR`; it saves its findings in that directory.

use std::time::Duration;

use dissent_campaign::{Bug, Campaign, Observer};
use dissent_core::finding::Finding;

/// Tells of each bug as it is found.
struct Console;

impl Observer for Console {
    fn note(&mut self, text: &str) {
        eprintln!("{text}");
    }

    fn found(&mut self, bug: &Bug, finding: &Finding) {
        println!("{} on {}: {}", bug.class, finding.target, bug.directory.display());
    }
}

fn main() -> anyhow::Result<()> {
    // In a worker process this does the work and never returns.
    dissent_campaign::run_worker_if_asked();
    let out = std::env::args().nth(1).unwrap_or_else(|| "hunt-example".to_string());
    let outcome = Campaign::builder()
        .target("sqlite@bundled")
        .oracles(["norec", "tlp"])
        .time(Duration::from_secs(2))
        .seed(1)
        .jobs(1)
        .out(out)
        .run_with(&mut Console)?;
    println!("{} statements, {} new bugs", outcome.summary.statements, outcome.new_bugs().count());
    Ok(())
}
