//! The C compiler of this machine.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::EngineError;

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

    fn missing(&self, what: &str) -> EngineError {
        EngineError::NoCompiler { compiler: self.name(), what: what.to_string() }
    }

    fn failed(&self, what: &str, reason: String) -> EngineError {
        EngineError::NotCompiled { compiler: self.name(), what: what.to_string(), reason }
    }

    /// Whether it is there at all.
    pub fn check(&self, what: &str) -> Result<(), EngineError> {
        match self.command().arg("--version").output() {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.missing(what)),
            _ => Ok(()),
        }
    }

    pub fn run(
        &self,
        arguments: &[String],
        source: &Path,
        library: &Path,
        what: &str,
    ) -> Result<(), EngineError> {
        // The mathematical library comes last: linkers look for symbols from left to right.
        let output = self.command().args(arguments).arg(source).arg("-o").arg(library).arg("-lm").output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let told = String::from_utf8_lossy(&output.stderr);
                let line = told.lines().find(|line| line.contains("error")).or(told.lines().next());
                Err(self.failed(what, line.unwrap_or("it said nothing").trim().to_string()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.missing(what)),
            Err(error) => Err(self.failed(what, error.to_string())),
        }
    }
}
