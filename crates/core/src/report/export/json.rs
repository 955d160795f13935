use super::{Exported, Exporter};

pub struct Json;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "Everything known about the findings, as a list"
    }

    fn export(&self, findings: &[Exported]) -> String {
        let list: Vec<serde_json::Value> = findings
            .iter()
            .map(|exported| serde_json::json!({ "id": exported.id, "finding": exported.finding }))
            .collect();
        format!("{:#}\n", serde_json::Value::from(list))
    }
}
