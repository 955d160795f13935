//! Two plans beside each other.

use super::markdown::fenced;

/// Columns of text that a reader has room for.
const WIDTH: usize = 118;
/// A plan that would push the rest of a page off the screen is folded away.
const MOST_LINES: usize = 30;

/// Plans with the names of their queries: beside each other where they are narrow enough.
pub fn section(plans: &[(String, &str)]) -> String {
    // Drawn plans have blanks up to their widest line.
    let trimmed = |plan: &str| plan.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let plans: Vec<(String, String)> =
        plans.iter().map(|(name, plan)| (name.clone(), trimmed(plan))).collect();
    let blocks = match plans.as_slice() {
        [left, right] => beside(left, right),
        _ => None,
    };
    let blocks = blocks.unwrap_or_else(|| {
        plans
            .iter()
            .map(|(name, plan)| format!("{name}:\n\n{}", fenced("", plan)))
            .collect::<Vec<_>>()
            .join("\n")
    });
    match blocks.lines().count() {
        0..=MOST_LINES => blocks,
        lines => format!("<details><summary>Plans ({lines} lines)</summary>\n\n{blocks}\n</details>\n"),
    }
}

fn beside(left: &(String, String), right: &(String, String)) -> Option<String> {
    let lines = |(name, plan): &(String, String)| -> Vec<String> {
        let rule = "-".repeat(name.chars().count());
        [name.clone(), rule]
            .into_iter()
            .chain(plan.trim_end().lines().map(|line| line.trim_end().to_string()))
            .collect()
    };
    let widest = |lines: &[String]| lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let (left, right) = (lines(left), lines(right));
    let width = widest(&left);
    if width + 3 + widest(&right) > WIDTH {
        return None;
    }
    let line = |at: usize| {
        let cell = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
        let (left, right) = (cell(&left), cell(&right));
        let pad = " ".repeat(width - left.chars().count());
        format!("{left}{pad}   {right}").trim_end().to_string()
    };
    let both: Vec<String> = (0..left.len().max(right.len())).map(line).collect();
    Some(fenced("", &both.join("\n")))
}
