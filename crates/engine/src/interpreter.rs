//! Programs of this machine that run engines, Python and Java: where they are, and what they read. They may be anywhere, and
//! what is found first (`pyenv` and the like) may only be a script that looks for them. So they are asked, before the
//! kernel's wall is raised: behind it, only what they named can be read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The names under which they are started.
pub const PYTHON: &str = "python3";
pub const JAVA: &str = "java";

struct Interpreter {
    /// The directory of the program itself.
    home: PathBuf,
    reads: Vec<PathBuf>,
}

static FOUND_PYTHON: LazyLock<Option<Interpreter>> = LazyLock::new(|| {
    let question = "import sys; print(sys.executable, sys.prefix, sys.base_prefix, *sys.path, sep='\\n')";
    let told = ask(PYTHON, &["-I", "-c", question])?;
    let mut places = told.lines().map(PathBuf::from);
    let home = places.next()?.parent()?.to_path_buf();
    Some(Interpreter { home, reads: places.collect() })
});

static FOUND_JAVA: LazyLock<Option<Interpreter>> = LazyLock::new(|| {
    let told = ask(JAVA, &["-XshowSettings:properties", "-version"])?;
    let home = told.lines().find_map(|line| line.trim().strip_prefix("java.home = "))?;
    let home = PathBuf::from(home);
    // Debian keeps its configuration elsewhere, and links each file of it.
    let parts = ["conf", "conf/management", "conf/security", "lib", "lib/security"];
    let files = parts.iter().filter_map(|part| std::fs::read_dir(home.join(part)).ok()).flatten().flatten();
    let elsewhere = files.filter_map(|file| file.path().canonicalize().ok());
    let reads = elsewhere.filter(|file| !file.starts_with(&home)).chain([home.clone()]).collect();
    Some(Interpreter { home: home.join("bin"), reads })
});

fn by_name(program: &str) -> Option<&'static Interpreter> {
    match program {
        PYTHON => FOUND_PYTHON.as_ref(),
        JAVA => FOUND_JAVA.as_ref(),
        _ => None,
    }
}

/// What a program prints, on whichever of its outputs.
fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let told = [output.stdout, output.stderr].concat();
    output.status.success().then(|| String::from_utf8_lossy(&told).into_owned())
}

/// What it reads beside the system's own files. All of the disk, if it does not say.
pub fn reads(program: &str) -> Vec<PathBuf> {
    let is_place = |path: &&PathBuf| path.is_absolute() && *path != Path::new("/");
    match by_name(program) {
        Some(found) => found.reads.iter().filter(is_place).cloned().collect(),
        None => vec![PathBuf::from("/")],
    }
}

/// Lets a command find the program itself first.
pub fn put_first(program: &str, command: &mut Command) {
    let Some(found) = by_name(program) else { return };
    let mut path = OsString::from(&found.home);
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    command.env("PATH", path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_says_where_it_is() {
        if by_name(PYTHON).is_none() {
            eprintln!("SKIPPED, not passed: there is no {PYTHON}");
            return;
        }
        let places = reads(PYTHON);
        assert!(!places.is_empty() && !places.contains(&PathBuf::from("/")), "{places:?}");
        let mut command = Command::new("sh");
        put_first(PYTHON, command.args(["-c", "command -v python3"]));
        let found = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(!found.contains("/shims/"), "the program, not a script that looks for it: {found}");
    }

    #[test]
    fn who_does_not_say_may_read_everything() {
        assert_eq!(reads("nosuch"), [PathBuf::from("/")]);
    }
}
