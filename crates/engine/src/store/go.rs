//! Programs of Go modules, compiled on this machine.
//!
//! `go install MODULE@VERSION` refuses a module whose `go.mod` replaces others. So the program is built as a dependency
//! of an empty module that repeats the replacements. And it is built with the Go that its module names: programs that reach
//! into the runtime start with no other.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::download::{Download, reason};
use super::package::Package;
use crate::EngineError;
use crate::confine::Confinement;
use crate::target::Step;

/// Of what `go mod download -json` prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    go_mod: PathBuf,
}

/// Of what `go mod edit -json` prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModFile {
    /// `1.25.8`, or `1.21`.
    go: Option<String>,
    /// `go1.25.8`, where more is wanted than the above.
    toolchain: Option<String>,
    #[serde(default)]
    replace: Option<Vec<Replace>>,
}

#[derive(Deserialize)]
struct Replace {
    #[serde(rename = "Old")]
    old: Module,
    #[serde(rename = "New")]
    new: Module,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    path: String,
    #[serde(default)]
    version: Option<String>,
}

/// How many lines of a compiler that fails are kept.
const LAST_LINES: usize = 40;

/// Compiles the program at the package's path, and returns the directory it is in.
pub fn fetch(
    download: &Download,
    toolchain: &str,
    progress: &mut dyn FnMut(Step),
) -> Result<PathBuf, EngineError> {
    let work = download.directory("go")?;
    let mut build = GoBuild { download, toolchain: None, work: &work };
    let file = build.module()?;
    build.toolchain = match toolchain {
        "go" => wanted_toolchain(&build.own_toolchain()?, &file),
        chosen => Some(chosen.to_string()),
    };
    let description = build.description(&file);
    let programs = work.join("bin");
    let written =
        std::fs::create_dir_all(&programs).and_then(|()| std::fs::write(work.join("go.mod"), description));
    written.map_err(|error| download.failed("go", error.to_string()))?;
    build.compile(&programs, progress)?;
    Ok(programs)
}

struct GoBuild<'a> {
    download: &'a Download<'a>,
    /// `None`: the user's own.
    toolchain: Option<String>,
    work: &'a Path,
}

impl GoBuild<'_> {
    fn go(&self) -> Command {
        let mut go = Command::new("go");
        go.current_dir(self.work).env("GO111MODULE", "on").env("GOFLAGS", "-mod=mod").env("GOWORK", "off");
        // The user's own toolchain downloads the one that is wanted.
        if let Some(wanted) = &self.toolchain {
            go.env("GOTOOLCHAIN", wanted);
        }
        go
    }

    /// The version of the user's Go: `go1.26.8`.
    fn own_toolchain(&self) -> Result<String, EngineError> {
        let told = self.download.output(self.go().args(["env", "GOVERSION"]))?;
        Ok(told.trim().to_string())
    }

    /// The program's `go.mod`.
    fn module(&self) -> Result<ModFile, EngineError> {
        let Package { name, version, .. } = self.download.package;
        let failed = |error: serde_json::Error| self.download.failed("go", error.to_string());
        let mut get = self.go();
        get.args(["mod", "download", "-json"]).arg(format!("{name}@{version}"));
        let Downloaded { go_mod } = serde_json::from_str(&self.download.output(&mut get)?).map_err(failed)?;
        let told = self.download.output(self.go().args(["mod", "edit", "-json"]).arg(go_mod))?;
        serde_json::from_str(&told).map_err(failed)
    }

    /// Our module: it needs the program's module, with the replacements that this one would have for itself.
    fn description(&self, file: &ModFile) -> String {
        let package = self.download.package;
        let chosen: Vec<(&str, &str)> =
            package.option("with").filter_map(|module| module.split_once('@')).collect();
        describe(package.name, package.version, file, &chosen)
    }

    fn compile(&self, programs: &Path, progress: &mut dyn FnMut(Step)) -> Result<(), EngineError> {
        let package = self.download.package;
        let program = format!("{}/{}", package.name, package.path);
        let all = self.count(&program)?;
        let mut build = self.go();
        build.args(["build", "-v", "-trimpath", "-buildvcs=false"]);
        let tags: Vec<&str> = package.option("tag").collect();
        build.arg(format!("-tags={}", tags.join(",")));
        let stamps: String = package.option("stamp").map(|stamp| format!(" -X={stamp}")).collect();
        build.arg(format!("-ldflags=-s -w{stamps}")).arg("-o").arg(programs).arg(&program);
        build.env("CGO_ENABLED", if package.option("cgo").next().is_some() { "1" } else { "0" });
        self.watch(build, all, progress)
    }

    /// How many packages go into a program; also downloads all modules that are needed.
    fn count(&self, program: &str) -> Result<usize, EngineError> {
        let told = self.download.output(self.go().args(["list", "-deps"]).arg(program))?;
        Ok(told.lines().count())
    }

    /// Runs a compiler that names each package it has compiled.
    fn watch(
        &self,
        mut build: Command,
        all: usize,
        progress: &mut dyn FnMut(Step),
    ) -> Result<(), EngineError> {
        let failed = |reason: String| EngineError::NotCompiled {
            compiler: "go".to_string(),
            what: self.download.wanted.name.clone(),
            reason,
        };
        build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Whoever interrupts us wants no compiler to go on. What it has compiled is not compiled again.
        Confinement::default().apply(&mut build);
        let mut child = build.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => self.download.missing("go"),
            _ => failed(error.to_string()),
        })?;
        let engine = self.download.wanted.name.clone();
        let (mut done, mut last) = (0, VecDeque::new());
        let lines = child.stderr.take().map(BufReader::new).into_iter().flat_map(|told| told.lines());
        for line in lines.map_while(Result::ok) {
            done += 1;
            progress(Step::Building { engine: engine.clone(), part: line.clone(), done: done.min(all), all });
            last.push_back(line);
            if last.len() > LAST_LINES {
                last.pop_front();
            }
        }
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(failed(reason(&last.into_iter().collect::<Vec<_>>().join("\n")))),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// The toolchain to download, if the user's own is not of the series that a module names, or is too old. Those before
/// 1.21 cannot be downloaded.
fn wanted_toolchain(own: &str, file: &ModFile) -> Option<String> {
    let number = |go: &str| -> Option<[u32; 3]> {
        // `go1.26.8`, `1.21`, `go1.27rc1`, `go1.25.3 X:nocoverageredesign`.
        let go = go.split_whitespace().next()?.trim_start_matches("go");
        let mut parts = go.split(['.', 'r', 'b']).map(|part| part.parse().unwrap_or(0));
        Some([parts.next()?, parts.next()?, parts.next().unwrap_or(0)])
    };
    let named = number(file.toolchain.as_deref().or(file.go.as_deref())?)?;
    let [major, minor, patch] = named;
    let same_series = |own: [u32; 3]| own[..2] == named[..2] && own >= named;
    if named < [1, 21, 0] || number(own).is_some_and(same_series) {
        return None;
    }
    Some(format!("go{major}.{minor}.{patch}"))
}

/// The text of our `go.mod`. `chosen`: versions of modules that the program's repository has beside it, where they are
/// not to be those of the same commit.
fn describe(name: &str, version: &str, file: &ModFile, chosen: &[(&str, &str)]) -> String {
    let go = file.go.as_deref().unwrap_or("1.21");
    let mut text = format!("module dissent.invalid/engine\n\ngo {go}\n\nrequire {name} {version}\n\n");
    for Replace { old, new } in file.replace.iter().flatten() {
        let from = spaced(&old.path, old.version.as_deref());
        let to = match chosen.iter().find(|(path, _)| *path == old.path) {
            Some((path, version)) => format!("{path} {version}"),
            None if new.path.starts_with('.') => format!("{} {}", old.path, beside(version)),
            None => spaced(&new.path, new.version.as_deref()),
        };
        let _ = writeln!(text, "replace {from} => {to}");
    }
    text
}

fn spaced(path: &str, version: Option<&str>) -> String {
    version.map_or_else(|| path.to_string(), |version| format!("{path} {version}"))
}

/// The version of a module without releases at the commit of another one's: `v1.1.0-beta.0.20251126154744-e4e814fdc0af`
/// is at `v0.0.0-20251126154744-e4e814fdc0af`.
fn beside(version: &str) -> String {
    let mut parts = version.rsplitn(3, ['-', '.']);
    match (parts.next(), parts.next()) {
        (Some(commit), Some(time)) => format!("v0.0.0-{time}-{commit}"),
        _ => version.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_built_with_the_go_that_it_names() {
        for (own, go, toolchain, wanted) in [
            ("go1.26.8", "1.25.8", None, Some("go1.25.8")),
            ("go1.25.3 X:nocoverageredesign", "1.25.8", None, Some("go1.25.8")),
            ("go1.25.9", "1.25.8", None, None),
            ("go1.24.1", "1.25.8", None, Some("go1.25.8")),
            ("go1.26.8", "1.21", None, Some("go1.21.0")),
            ("go1.26.8", "1.21", Some("go1.22.4"), Some("go1.22.4")),
            ("go1.26rc1", "1.26.0", None, None),
            ("go1.26.8", "1.19", None, None),
        ] {
            let toolchain = toolchain.map(str::to_string);
            let file = ModFile { go: Some(go.to_string()), toolchain, replace: None };
            assert_eq!(wanted_toolchain(own, &file).as_deref(), wanted, "{own} for {go}");
        }
    }

    #[test]
    fn our_module_repeats_the_replacements() {
        let told = r#"{"Module": {"Path": "example.com/db"}, "Go": "1.23.6", "Replace": [
            {"Old": {"Path": "example.com/db/parser"}, "New": {"Path": "./parser"}},
            {"Old": {"Path": "example.com/gone", "Version": "v1.0.0"},
             "New": {"Path": "example.com/kept", "Version": "v1.2.0"}}]}"#;
        let file: ModFile = serde_json::from_str(told).unwrap();
        let version = "v1.1.0-beta.0.20251126154744-e4e814fdc0af";
        let head =
            format!("module dissent.invalid/engine\n\ngo 1.23.6\n\nrequire example.com/db {version}\n\n");
        let gone = "replace example.com/gone v1.0.0 => example.com/kept v1.2.0\n";
        assert_eq!(
            describe("example.com/db", version, &file, &[]),
            format!(
                "{head}replace example.com/db/parser => example.com/db/parser v0.0.0-20251126154744-e4e814fdc0af\n{gone}"
            )
        );
        let chosen = [("example.com/db/parser", "v0.0.0-2026")];
        assert_eq!(
            describe("example.com/db", version, &file, &chosen),
            format!("{head}replace example.com/db/parser => example.com/db/parser v0.0.0-2026\n{gone}")
        );
    }
}
