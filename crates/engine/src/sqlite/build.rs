//! How Dissent compiles SQLite, the same for every version: default behaviour, no threads, every optional feature.
//! A version ignores options that it does not know.
//!
//! The bundled copy is compiled by its own package. `.cargo/config.toml` gives it the same options, and a test here
//! checks that the two agree.

use std::path::{Path, PathBuf};

use dissent_core::hash::fnv1a;

use crate::driver::Build;

/// Options of SQLite, without their `SQLITE_`.
pub const OPTIONS: &[&str] = &[
    "THREADSAFE=0",
    "OMIT_LOAD_EXTENSION",
    "ENABLE_COLUMN_METADATA",
    "ENABLE_DBSTAT_VTAB",
    "ENABLE_DESERIALIZE",
    "ENABLE_FTS3",
    "ENABLE_FTS3_PARENTHESIS",
    "ENABLE_FTS5",
    "ENABLE_GEOPOLY",
    "ENABLE_JSON1",
    "ENABLE_MATH_FUNCTIONS",
    "ENABLE_OFFSET_SQL_FUNC",
    "ENABLE_PERCENTILE",
    "ENABLE_RTREE",
    "ENABLE_STAT4",
    "SOUNDEX",
];

/// `-Bsymbolic` binds the library's calls to itself, whatever else is loaded next to it.
const COMPILER: &[&str] = &["-shared", "-fPIC", "-O2", "-w", "-Wl,-Bsymbolic"];

/// Counts every edge of the code that is passed. Counters need not be exact: no threads, so they are.
const COUNTING: &[&str] = &["-fprofile-arcs", "-fprofile-update=single"];
const COVERAGE_UNIT: &str = include_str!("coverage.c");

/// Everything between the compiler's name and the file names.
pub fn arguments(build: Build) -> Vec<String> {
    let options = OPTIONS.iter().map(|option| format!("-DSQLITE_{option}"));
    let found = ["-DHAVE_ISNAN", "-DHAVE_LOCALTIME_R", "-DHAVE_USLEEP=1"];
    let counting = if build == Build::Counting { COUNTING } else { &[] };
    let words = COMPILER.iter().chain(&found).chain(counting);
    words.map(|argument| argument.to_string()).chain(options).collect()
}

/// Names the directory of a build, so that other arguments never find an old build.
pub fn fingerprint(build: Build) -> String {
    let mut text = arguments(build).join(" ");
    if build == Build::Counting {
        text.push_str(COVERAGE_UNIT);
    }
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// The file to compile, given SQLite's source.
pub fn unit(build: Build, source: &Path) -> std::io::Result<PathBuf> {
    match build {
        Build::Plain => Ok(source.to_path_buf()),
        Build::Counting => {
            let unit = source.with_file_name("coverage.c");
            let source = source.file_name().unwrap_or_default().to_string_lossy();
            std::fs::write(&unit, format!("{COVERAGE_UNIT}\n#include \"{source}\"\n"))?;
            Ok(unit)
        }
    }
}

#[cfg(test)]
mod tests {
    use dissent_core::engine::{Engine, Reply};
    use dissent_core::sql::Value;

    use super::*;
    use crate::sqlite::SqliteEngine;

    #[test]
    fn the_bundled_copy_is_compiled_with_the_same_options() {
        let mut engine = SqliteEngine::bundled().unwrap();
        let Reply::Rows(rows) = engine.execute("PRAGMA compile_options").unwrap() else { panic!() };
        let has = |option: &str| rows.values.contains(&Value::Text(option.to_string()));
        for option in OPTIONS {
            // Always on in current versions, and no longer listed.
            if !["ENABLE_DESERIALIZE", "ENABLE_JSON1"].contains(option) {
                assert!(has(option), "{option} is not in {:?}; see .cargo/config.toml", rows.values);
            }
        }
        for option in ["DEFAULT_FOREIGN_KEYS", "ENABLE_API_ARMOR", "USE_URI", "ENABLE_LOAD_EXTENSION"] {
            assert!(!has(option), "{option} is in the bundled copy; see .cargo/config.toml");
        }
    }
}
