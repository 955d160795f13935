//! The command lines in README.md, CONTRIBUTING.md and docs/.

use std::fs;
use std::path::{Path, PathBuf};

/// A command that the documentation shows.
pub struct Documented {
    /// `docs/check.md:6`.
    pub place: String,
    /// Its words behind `dissent`.
    pub words: Vec<String>,
    /// In running text, `dissent bisect` may stand for the command with its arguments.
    pub in_text: bool,
}

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every command in code blocks and code spans.
pub fn all() -> Vec<Documented> {
    let docs = fs::read_dir(root().join("docs")).expect("docs/ is there");
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.expect("docs/ is readable").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.extend(
        ["README.md", "CONTRIBUTING.md", "crates/core/seeds/README.md"].map(|name| root().join(name)),
    );
    pages.sort();
    pages.iter().flat_map(|path| of_page(path)).collect()
}

fn of_page(path: &Path) -> Vec<Documented> {
    let name = path.strip_prefix(root()).expect("a page of the repository").display().to_string();
    let text = fs::read_to_string(path).expect("a page is readable");
    let (mut commands, mut fenced, mut prose) = (Vec::new(), false, String::new());
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        if !is_fence && (fenced || line.starts_with("    ")) {
            let place = format!("{name}:{}", number + 1);
            commands.extend(words(line).map(|words| Documented { place, words, in_text: false }));
        } else {
            prose += line;
            prose.push('\n');
        }
    }
    let spans = prose.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    let spans = spans.filter_map(|span| words(&span.replace('\n', " ")));
    commands.extend(spans.map(|words| Documented { place: name.clone(), words, in_text: true }));
    commands
}

/// The words of a line behind the program's name, without what a shell or a CI file puts around them.
fn words(line: &str) -> Option<Vec<String>> {
    let mut line = line.trim();
    for prefix in ["$ ", "- run: ", "run: ", "- "] {
        line = line.strip_prefix(prefix).unwrap_or(line);
    }
    let behind = ["dissent ", "cargo run --release -- "].iter().find_map(|name| line.strip_prefix(name))?;
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in behind.chars().chain([' ']) {
        match (c, quote) {
            ('"' | '\'', None) => (quote, word) = (Some(c), Some(word.unwrap_or_default())),
            (c, Some(open)) if c == open => quote = None,
            ('#' | '<' | '>' | '|' | '&' | ';', None) if word.is_none() => break,
            (' ', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    Some(words.into_iter().filter(|word| word != "\\").collect())
}
