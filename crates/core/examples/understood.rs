//! Counts what Dissent understands of a test suite, without running any of it:
//!
//!     cargo run -p dissent-core --example understood -- duckdb DIR…

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dissent_core::dialect::Dialect;
use dissent_core::import;

/// So many reasons are listed.
const MOST_REASONS: usize = 25;

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().expect("a dialect and directories");
    let dialect = Dialect::load(&name, "999999").expect("a dialect");
    let mut files = Vec::new();
    args.for_each(|path| find(Path::new(&path), &mut files));
    let (mut statements, mut left_out, mut queries, mut understood) = (0, 0, 0, 0);
    let mut reasons: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for path in &files {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let read = import::read(&file, &text, &dialect);
        left_out += read.left_out.len();
        for imported in read.statements {
            statements += 1;
            if !import::reads_as_query(&imported.text) {
                continue;
            }
            queries += 1;
            match imported.refused {
                None => understood += 1,
                Some(why) => {
                    let why = why.split(" at Line: ").next().unwrap_or_default().chars().take(70).collect();
                    let example =
                        format!("{}:{}: {}", path.display(), imported.line, imported.text.replace('\n', " "));
                    reasons.entry(why).or_insert((0, example)).0 += 1;
                }
            }
        }
    }
    let share = (understood * 1000 / queries.max(1)) as f64 / 10.0;
    println!(
        "{} files, {statements} statements ({left_out} left out), {queries} queries, {understood} understood ({share} %)",
        files.len()
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (why, (count, example)) in reasons.iter().take(MOST_REASONS) {
        println!("{count:>7}  {why}\n         {}", example.chars().take(220).collect::<String>());
    }
}

/// The files below a directory, in order.
fn find(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        return files.push(path.to_path_buf());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries.iter().for_each(|entry| find(entry, files));
}
