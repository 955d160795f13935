//! A finding's name: short, readable, and the same whenever the same subject fails in the same way.

use crate::finding::Finding;
use crate::hash::fnv1a;

/// What a bug has in common with the same bug found again, on any version: sixteen digits that a tracker can be
/// searched for. Of the signature where there is one, otherwise of the test case.
pub fn fingerprint(finding: &Finding) -> String {
    let cause = match &finding.triage.signature {
        Some(signature) => signature.to_string(),
        None => serde_json::to_string(&finding.case).unwrap_or_default(),
    };
    format!("{:016x}", fnv1a(format!("{} {cause}", finding.dialect).as_bytes()))
}

/// `norec-wrong-rows-3f9a2c`. More `digits` (up to 16) tell apart two findings that share the first ones.
pub fn id(finding: &Finding, digits: usize) -> String {
    let case = serde_json::to_string(&finding.case).unwrap_or_default();
    let hash = format!("{:016x}", fnv1a(case.as_bytes()));
    let short = &hash[..digits.clamp(1, 16)];
    let (oracle, class) = (&finding.case.subject.oracle, finding.evidence.class.name());
    // A crash is found by no oracle; `crash-crash-…` would say it twice.
    if oracle == class { format!("{class}-{short}") } else { format!("{oracle}-{class}-{short}") }
}
