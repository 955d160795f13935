//! Issues for `gh` or the API: an object a line, with a fingerprint by which a later run finds the issue again
//! instead of opening another one.

use serde_json::json;

use super::{Exported, Exporter, is_harm};
use crate::report::{body, fingerprint, title};

pub struct GithubIssue;

impl Exporter for GithubIssue {
    fn name(&self) -> &'static str {
        "github-issue"
    }

    fn about(&self) -> &'static str {
        "One issue per line (JSON: fingerprint, title, labels, body), to open or update"
    }

    fn export(&self, findings: &[Exported]) -> String {
        findings.iter().map(|exported| format!("{}\n", issue(exported))).collect()
    }
}

fn issue(exported: &Exported) -> serde_json::Value {
    let Exported { finding, dialect, .. } = exported;
    let fingerprint = format!("dissent-{}", fingerprint(finding));
    // The body holds it too: that is what a tracker can be searched for.
    let body = format!("{}\nFingerprint: `{fingerprint}`\n", body(finding, dialect));
    let kind = if is_harm(finding.evidence.class) { "crash" } else { "wrong-result" };
    let title = title(finding, dialect);
    json!({ "fingerprint": fingerprint, "title": title, "labels": ["dissent", kind], "body": body })
}
