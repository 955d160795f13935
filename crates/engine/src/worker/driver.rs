//! The versions of engines that are libraries for Rust and Python: each comes with its worker.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dissent_core::engine::Engine;

use super::{WorkerEngine, package};
use crate::armed::Arms;
use crate::confine::Confinement;
use crate::driver::{Build, Driver, Opened};
use crate::product::Product;
use crate::store::{Arrival, not_writable};
use crate::target::Step;
use crate::{EngineError, interpreter};

/// A program of ours around a library.
pub(crate) struct Worker;

impl Driver for Worker {
    fn name(&self) -> &'static str {
        "worker"
    }

    fn how_built(&self) -> String {
        "from its published package for Python or Rust".to_string()
    }

    /// A worker that somebody else has built, perhaps with a library of their own.
    fn loads_libraries(&self) -> bool {
        true
    }

    fn interpreter(&self, path: &Path) -> Option<&'static str> {
        package::is_script(path).then_some(interpreter::PYTHON)
    }

    fn runs_programs(&self, _: &Path) -> bool {
        true
    }

    fn kept_in(&self, engine: &str, directory: PathBuf, build: Build) -> Option<PathBuf> {
        (build == Build::Plain).then(|| directory.join(package::fingerprint(engine)))
    }

    fn opened(&self, kept: &Path) -> PathBuf {
        kept.join("worker")
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        let program = self.opened(arrival.kept);
        if arrival.downloaded.join("Cargo.toml").is_file() {
            build(arrival)?;
            let built = arrival.downloaded.join("target/release/worker");
            std::fs::copy(built, &program).map_err(not_writable(&program))?;
        } else {
            // It holds an empty folder, which is replaced.
            std::fs::rename(arrival.downloaded, arrival.kept).map_err(not_writable(arrival.kept))?;
        }
        let version = start(&arrival.wanted.name, &program)?.version().to_string();
        let _ = std::fs::remove_dir_all(arrival.downloaded);
        Ok(version)
    }

    fn open_local(
        &self,
        product: &'static Product,
        path: &Path,
        _: Option<&str>,
        _: Option<&Arms>,
    ) -> Opened {
        Ok(Box::new(start(product.title(), path)?))
    }
}

fn start(what: &str, program: &Path) -> Result<WorkerEngine, EngineError> {
    let refused = |reason| EngineError::NotStarted { what: what.to_string(), reason };
    WorkerEngine::start(program).map_err(refused)
}

/// Builds the package, telling how far it is. The lock file has some crates that this machine does not need.
fn build(arrival: &mut Arrival) -> Result<(), EngineError> {
    let failed = |reason: String| EngineError::NotCompiled {
        compiler: "cargo".to_string(),
        what: arrival.wanted.name.clone(),
        reason,
    };
    let lock = std::fs::read_to_string(arrival.downloaded.join("Cargo.lock")).unwrap_or_default();
    let all = lock.matches("[[package]]").count();
    let mut cargo = Command::new("cargo");
    // What the caller is built with is not for others.
    cargo.stdin(Stdio::null()).env_remove("RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    cargo.args(["build", "--release", "--locked", "--color", "never"]).current_dir(arrival.downloaded);
    Confinement::default().apply(&mut cargo);
    let mut child = cargo.stderr(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
    let (mut done, mut trouble) = (0, None);
    for line in child.stderr.take().into_iter().flat_map(|told| BufReader::new(told).lines()).flatten() {
        if let Some(part) = line.trim_start().strip_prefix("Compiling ") {
            let (engine, part) = (arrival.wanted.name.clone(), part.to_string());
            (arrival.progress)(Step::Building { engine, part, done, all });
            done += 1;
        } else if line.starts_with("error") {
            trouble = trouble.or(Some(line));
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(trouble.unwrap_or_else(|| status.to_string()))),
        Err(error) => Err(failed(error.to_string())),
    }
}
