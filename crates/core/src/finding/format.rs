//! `finding.json` as bytes: written in the newest format, read in every format that was ever written.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{Arm, ArmOutcome, Class, FINDING_FORMAT, Failure, Finding, Signature};
use crate::engine::SqlError;

/// Why a file is not read as a finding.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It is something else.
    #[error("is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// It has no format number.
    #[error("is not a finding of Dissent")]
    NotAFinding,
    /// A newer version of Dissent wrote it.
    #[error(
        "has format {0}, but this version of Dissent reads formats 1 to {FINDING_FORMAT}: use the version that wrote it"
    )]
    Unknown(u64),
    /// Something in it is missing or makes no sense.
    #[error("is damaged: {0}")]
    Damaged(serde_json::Error),
}

impl Finding {
    /// Reads a finding of this or an earlier format.
    pub fn from_json(bytes: &[u8]) -> Result<Finding, FormatError> {
        let mut json: Json = serde_json::from_slice(bytes).map_err(FormatError::NotJson)?;
        match json.get("format").and_then(Json::as_u64) {
            Some(1) => upgrade(&mut json).map_err(FormatError::Damaged)?,
            Some(format) if format == u64::from(FINDING_FORMAT) => {}
            Some(format) => return Err(FormatError::Unknown(format)),
            None => return Err(FormatError::NotAFinding),
        }
        serde_json::from_value(json).map_err(FormatError::Damaged)
    }
}

/// Format 1 had the setup inside the subject, what differs as a sentence, and the signature as text.
fn upgrade(json: &mut Json) -> Result<(), serde_json::Error> {
    let Some(finding) = json.as_object_mut() else { return Ok(()) };
    finding.insert("format".to_string(), json!(FINDING_FORMAT));
    if let Some(Json::Object(mut subject)) = finding.remove("subject") {
        let setup = subject.remove("setup").unwrap_or_else(|| json!([]));
        finding.insert("case".to_string(), json!({ "setup": setup, "subject": subject }));
    }
    let mut error = None;
    if let Some(Json::Object(evidence)) = finding.get_mut("evidence") {
        let failure = failure(evidence)?;
        if let Failure::OneSided { error: found } | Failure::Harm { error: found, .. } = &failure {
            error = Some(found.clone());
        }
        evidence.insert("failure".to_string(), serde_json::to_value(failure)?);
    }
    if let Some(Json::Object(triage)) = finding.get_mut("triage")
        && let Some(Json::String(text)) = triage.get("signature")
    {
        let signature = Signature::from_text(text, error.as_ref());
        triage.insert("signature".to_string(), serde_json::to_value(signature)?);
    }
    Ok(())
}

/// The sentence, unless the arms still hold the error that it was made of.
fn failure(evidence: &mut Map<String, Json>) -> Result<Failure, serde_json::Error> {
    let sentence = match evidence.remove("difference") {
        Some(Json::String(sentence)) => sentence,
        _ => String::new(),
    };
    let class = Class::deserialize(evidence.get("class").unwrap_or(&Json::Null))?;
    let arms = Vec::<Arm>::deserialize(evidence.get("arms").unwrap_or(&json!([])))?;
    let mut errors = arms.into_iter().filter_map(|arm| match arm.outcome {
        ArmOutcome::Error(error) => Some(error),
        _ => None,
    });
    let error = match class {
        Class::InternalError => errors.find(|error| error.class.is_harm()),
        Class::ErrorDivergence => errors.next(),
        _ => None,
    };
    Ok(match (class, error) {
        (Class::InternalError, Some(error)) => Failure::Harm { error, stack: Vec::new() },
        (_, Some(error)) => Failure::OneSided { error },
        (_, None) => Failure::Described(sentence),
    })
}

impl Signature {
    /// A signature as format 1 wrote it: `internal-error: words of the message left-join`. Where the words of the
    /// message end is known from the error.
    fn from_text(text: &str, error: Option<&SqlError>) -> Signature {
        let (fails, words) = text.split_once(": ").unwrap_or((text, ""));
        let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
        let message = error.map(SqlError::words).filter(|message| words.starts_with(message));
        let message = message.unwrap_or_default();
        let features: BTreeSet<String> = words[message.len()..].iter().cloned().collect();
        Signature { fails: fails.to_string(), message, features }
    }
}

/// Lists of bugs written before signatures were structures hold their text.
impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Signature, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Structure {
                fails: String,
                #[serde(default)]
                message: Vec<String>,
                #[serde(default)]
                features: BTreeSet<String>,
            },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => Signature::from_text(&text, None),
            Written::Structure { fails, message, features } => Signature { fails, message, features },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings as format 1 wrote them: rows that differ, an internal error, an error of one arm, a crash.
    const WRITTEN: [(&str, &str); 4] = [
        ("wrong rows", include_str!("../../tests/format1/wrong-rows.json")),
        ("internal error", include_str!("../../tests/format1/internal-error.json")),
        ("error divergence", include_str!("../../tests/format1/error-divergence.json")),
        ("crash", include_str!("../../tests/format1/crash.json")),
    ];

    #[test]
    fn findings_of_format_1_are_read() {
        for (what, text) in WRITTEN {
            let finding =
                Finding::from_json(text.as_bytes()).unwrap_or_else(|error| panic!("{what} {error}"));
            let old: Json = serde_json::from_str(text).unwrap();
            let setup = old["subject"]["setup"].as_array().map_or(0, Vec::len);
            assert_eq!((finding.format, finding.case.setup.len()), (FINDING_FORMAT, setup), "{what}");
            assert_eq!(old["subject"]["oracle"], finding.case.subject.oracle, "{what}");
            let kept_error =
                matches!(finding.evidence.failure, Failure::OneSided { .. } | Failure::Harm { .. });
            assert_eq!(kept_error, what.contains("error"), "{what}: {:?}", finding.evidence.failure);
            if let Some(signature) = finding.triage.signature {
                assert_eq!(old["triage"]["signature"], signature.to_string(), "{what}");
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let finding = Finding::from_json(WRITTEN[0].1.as_bytes()).unwrap();
        let text = serde_json::to_vec(&finding).unwrap();
        assert_eq!(Finding::from_json(&text).unwrap(), finding);
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let told = |text: &str| Finding::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(told("nonsense").starts_with("is not JSON"));
        assert_eq!(told("{}"), "is not a finding of Dissent");
        assert!(told(r#"{"format": 9}"#).starts_with("has format 9"));
        assert!(told(r#"{"format": 2}"#).starts_with("is damaged: missing field"));
    }
}
