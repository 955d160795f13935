//! Figures in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use dissent_campaign::Summary;
use dissent_core::finding::Class;

/// A campaign by the name of its directory.
pub struct Measured {
    pub name: String,
    pub summary: Summary,
}

/// Everything, each metric with its help and type.
pub fn text(campaigns: &[Measured]) -> String {
    let mut out = String::new();
    for metric in METRICS {
        let _ =
            writeln!(out, "# HELP {} {}\n# TYPE {} {}", metric.name, metric.help, metric.name, metric.kind);
        for campaign in campaigns {
            for (label, value) in (metric.values)(&campaign.summary) {
                let mut labels = vec![
                    format!("campaign=\"{}\"", escaped(&campaign.name)),
                    format!("target=\"{}\"", escaped(&campaign.summary.target)),
                ];
                labels.extend(label.map(|label| format!("{}=\"{}\"", metric.label, escaped(&label))));
                let _ = writeln!(out, "{}{{{}}} {value}", metric.name, labels.join(","));
            }
        }
    }
    out
}

struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    /// The label that tells its values apart, where there are several.
    label: &'static str,
    values: fn(&Summary) -> Values,
}

/// Numbers, each with the value of the label where there are several.
type Values = Vec<(Option<String>, f64)>;

const METRICS: &[Metric] = &[
    Metric {
        name: "dissent_running",
        kind: "gauge",
        help: "1 while the campaign runs.",
        label: "",
        values: |summary| one(u64::from(summary.is_running())),
    },
    Metric {
        name: "dissent_seconds_total",
        kind: "counter",
        help: "How long the campaign has run.",
        label: "",
        values: |summary| vec![(None, summary.wall_seconds)],
    },
    Metric {
        name: "dissent_databases_total",
        kind: "counter",
        help: "Databases built.",
        label: "",
        values: |summary| one(summary.databases),
    },
    Metric {
        name: "dissent_statements_total",
        kind: "counter",
        help: "Statements run.",
        label: "",
        values: |summary| one(summary.statements),
    },
    Metric {
        name: "dissent_statements_valid_total",
        kind: "counter",
        help: "Statements that succeeded.",
        label: "",
        values: |summary| one(summary.statements_ok),
    },
    Metric {
        name: "dissent_errors_total",
        kind: "counter",
        help: "Statements that failed, by class of error.",
        label: "class",
        values: |summary| named(summary.errors.iter().map(|(class, count)| (class.to_string(), *count))),
    },
    Metric {
        name: "dissent_checks_total",
        kind: "counter",
        help: "Checks that reached a verdict, by oracle.",
        label: "oracle",
        values: |summary| {
            let by_oracle = summary.checks.iter().filter(|(oracle, _)| *oracle != "total");
            named(by_oracle.map(|(oracle, count)| (oracle.to_string(), *count)))
        },
    },
    Metric {
        name: "dissent_skips_total",
        kind: "counter",
        help: "Checks that reached no verdict, by oracle.",
        label: "oracle",
        values: |summary| {
            named(summary.skips.iter().map(|(oracle, reasons)| (oracle.to_string(), reasons.values().sum())))
        },
    },
    Metric {
        name: "dissent_findings_total",
        kind: "counter",
        help: "Findings, by class; several may be one bug.",
        label: "class",
        values: |summary| by_class(summary, |_| true, |count| count),
    },
    Metric {
        name: "dissent_new_bugs",
        kind: "gauge",
        help: "Bugs that were not known, by class.",
        label: "class",
        values: |summary| by_class(summary, |known| !known, |_| 1),
    },
    Metric {
        name: "dissent_known_bugs",
        kind: "gauge",
        help: "Known bugs that were found again, by class.",
        label: "class",
        values: |summary| by_class(summary, |known| known, |_| 1),
    },
    Metric {
        name: "dissent_unstable_total",
        kind: "counter",
        help: "Differences that did not reproduce.",
        label: "",
        values: |summary| one(summary.unstable),
    },
    Metric {
        name: "dissent_guide_features",
        kind: "gauge",
        help: "What the guide has seen: steps of plans, or blocks of the engine's code.",
        label: "guide",
        values: |summary| {
            let guide = summary.guide.as_ref();
            named(guide.map(|guide| (guide.guide.features().to_string(), guide.features)).into_iter())
        },
    },
];

fn one(count: u64) -> Values {
    vec![(None, count as f64)]
}

fn named(counts: impl Iterator<Item = (String, u64)>) -> Values {
    counts.map(|(name, count)| (Some(name), count as f64)).collect()
}

fn by_class(summary: &Summary, wanted: fn(bool) -> bool, times: fn(u64) -> u64) -> Values {
    let mut counts: BTreeMap<Class, u64> = BTreeMap::new();
    for finding in summary.findings.iter().filter(|finding| wanted(finding.known.is_some())) {
        *counts.entry(finding.class).or_insert(0) += times(finding.count);
    }
    named(counts.into_iter().map(|(class, count)| (class.to_string(), count)))
}

/// A label's value in quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_explained_and_every_label_is_quoted() {
        let mut summary =
            Summary { target: "sqlite:path=/a\"b\\c\n".to_string(), statements: 7, ..Summary::default() };
        summary.checks.insert("norec".into(), 3);
        summary.checks.insert("total".into(), 3);
        let told = text(&[Measured { name: "one".to_string(), summary }]);
        assert!(told.contains("# TYPE dissent_statements_total counter\n"), "{told}");
        let labels = r#"campaign="one",target="sqlite:path=/a\"b\\c\n""#;
        assert!(told.contains(&format!("dissent_statements_total{{{labels}}} 7\n")), "{told}");
        assert!(told.contains(&format!("dissent_checks_total{{{labels},oracle=\"norec\"}} 3\n")), "{told}");
        assert!(told.contains(&format!("dissent_running{{{labels}}} 0\n")), "{told}");
        assert!(!told.contains("oracle=\"total\""), "{told}");
        assert!(told.lines().all(|line| line.starts_with("# ") || line.starts_with("dissent_")), "{told}");
    }
}
