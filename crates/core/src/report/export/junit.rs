//! A test case per finding, each of them failed: what a build server shows.

use std::fmt::Write;

use super::{Exported, Exporter, is_harm};
use crate::report::{repro, title};

pub struct JUnit;

impl Exporter for JUnit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn about(&self) -> &'static str {
        "JUnit XML, one failed test case per finding"
    }

    fn export(&self, findings: &[Exported]) -> String {
        let errors = findings.iter().filter(|exported| is_harm(exported.finding.evidence.class)).count();
        let failures = findings.len() - errors;
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // A suite without a test is taken for a mistake by some build servers.
        let tests = findings.len().max(1);
        let _ = writeln!(
            out,
            "<testsuite name=\"dissent\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
        );
        if findings.is_empty() {
            out += "  <testcase classname=\"dissent\" name=\"no new bugs\"/>\n";
        }
        for Exported { id, finding, dialect, .. } in findings {
            let kind = if is_harm(finding.evidence.class) { "error" } else { "failure" };
            let class = format!("{}.{}", finding.dialect, finding.case.subject.oracle);
            let _ = writeln!(
                out,
                "  <testcase classname=\"{}\" name=\"{}\">\n    <{kind} type=\"{}\" message=\"{}\">{}</{kind}>\n  </testcase>",
                xml(&class),
                xml(id),
                finding.evidence.class,
                xml(&title(finding, dialect)),
                xml(&repro(finding, dialect)),
            );
        }
        out + "</testsuite>\n"
    }
}

/// Text for XML 1.0, which has no way to write most control characters.
fn xml(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && !"\n\t".contains(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
        out
    })
}
