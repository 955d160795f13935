//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/>: what code scanning services show. Results with one fingerprint
//! are one bug, however often they are uploaded.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Exported, Exporter};
use crate::oracle;
use crate::report::{fingerprint, title};

pub struct Sarif;

impl Exporter for Sarif {
    fn name(&self) -> &'static str {
        "sarif"
    }

    fn about(&self) -> &'static str {
        "SARIF 2.1.0 for code scanning services"
    }

    fn export(&self, findings: &[Exported]) -> String {
        let rules: BTreeMap<&str, Value> = findings.iter().map(rule).collect();
        let results: Vec<Value> = findings.iter().map(result).collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "Dissent", "rules": rules.into_values().collect::<Vec<_>>() } },
                "results": results,
            }],
        });
        format!("{log:#}\n")
    }
}

/// An oracle, as the rule that a finding breaks.
fn rule<'a>(exported: &Exported<'a>) -> (&'a str, Value) {
    let name = exported.finding.case.subject.oracle.as_str();
    let about = oracle::by_name(name).map_or(name, |oracle| oracle.about());
    (name, json!({ "id": name, "shortDescription": { "text": about } }))
}

fn result(exported: &Exported) -> Value {
    let Exported { finding, dialect, .. } = exported;
    let text = format!("{}. {}", title(finding, dialect), exported.message());
    json!({
        "ruleId": finding.case.subject.oracle,
        "level": "error",
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": exported.script() },
                "region": { "startLine": 1 },
            },
        }],
        "partialFingerprints": { "dissentSignature/v1": fingerprint(finding) },
    })
}
