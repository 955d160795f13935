//! This machine's C compiler.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Wanted;
use crate::EngineError;
use crate::confine::Confinement;

/// The compiler that the user has.
pub struct Compiler {
    /// A program and perhaps arguments, as `CC` may hold: `ccache gcc`.
    words: Vec<String>,
}

impl Compiler {
    pub fn of_user() -> Compiler {
        let named = std::env::var("CC").ok().filter(|name| !name.trim().is_empty());
        Compiler::named(named.as_deref().unwrap_or("cc"))
    }

    pub fn named(words: &str) -> Compiler {
        Compiler { words: words.split_whitespace().map(String::from).collect() }
    }

    fn name(&self) -> String {
        self.words.join(" ")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::null());
        command
    }

    fn missing(&self, wanted: &Wanted) -> EngineError {
        let (what, instead) = (wanted.name.clone(), wanted.instead.clone());
        EngineError::NoCompiler { compiler: self.name(), what, instead }
    }

    fn failed(&self, wanted: &Wanted, reason: String) -> EngineError {
        EngineError::NotCompiled { compiler: self.name(), what: wanted.name.clone(), reason }
    }

    /// Whether it is there at all.
    pub fn check(&self, wanted: &Wanted) -> Result<(), EngineError> {
        match self.command().arg("--version").output() {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.missing(wanted)),
            _ => Ok(()),
        }
    }

    /// Makes a shared library of a source file.
    pub fn run(
        &self,
        arguments: &[String],
        source: &Path,
        library: &Path,
        wanted: &Wanted,
    ) -> Result<(), EngineError> {
        // The mathematical library comes last: linkers look for symbols from left to right.
        let mut command = self.command();
        command.args(arguments).arg(source).arg("-o").arg(library).arg("-lm");
        Confinement::default().apply(&mut command);
        match command.output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let told = String::from_utf8_lossy(&output.stderr);
                let line = told.lines().find(|line| line.contains("error")).or(told.lines().next());
                let reason = line.map_or_else(|| output.status.to_string(), |line| line.trim().to_string());
                Err(self.failed(wanted, reason))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.missing(wanted)),
            Err(error) => Err(self.failed(wanted, error.to_string())),
        }
    }
}
