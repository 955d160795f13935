//! What workers are made of: one folder of `workers/` per engine, and what all of them share. A worker is written twice:
//! in Python around the engine's package for Python, which is there at once, and in Rust around its crate, which takes
//! minutes to build.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use dissent_core::hash::fnv1a;

include!(concat!(env!("OUT_DIR"), "/workers.rs"));

const SERVE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/workers/serve.rs"));
const SERVE_IN_PYTHON: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/workers/serve.py"));

/// What the launcher starts.
const SCRIPT: &str = "worker.py";

/// Starts the script with the packages next to it, and with nothing of the user's own.
const LAUNCHER: &str = r#"#!/bin/sh
here=$(dirname "$0")
PYTHONPATH="$here/site:$here" exec python3 -sB "$here/worker.py"
"#;

/// The source of a worker, less the version of the engine.
pub struct Source {
    engine: &'static str,
    manifest: &'static str,
    main: &'static str,
    script: &'static str,
}

/// Whether the program of a worker is written in Python.
pub fn is_script(program: &Path) -> bool {
    program.with_file_name(SCRIPT).is_file()
}

impl Source {
    pub fn of(engine: &str) -> Option<&'static Source> {
        WORKERS.iter().find(|worker| worker.engine == engine)
    }

    /// Writes the package that cargo builds for a version of the engine, which it names `{version}`.
    pub fn write_package(&self, version: &str, directory: &Path) -> std::io::Result<()> {
        let of_version = |text: &str| text.replace("{version}", version);
        std::fs::create_dir_all(directory.join("src"))?;
        std::fs::write(directory.join("Cargo.toml"), of_version(self.manifest))?;
        std::fs::write(directory.join("src/serve.rs"), SERVE)?;
        std::fs::write(directory.join("src/main.rs"), of_version(self.main))
    }

    /// Writes the program that runs with the packages for Python in the folder `site`.
    pub fn write_script(&self, directory: &Path) -> std::io::Result<()> {
        let program = directory.join("worker");
        std::fs::write(directory.join("serve.py"), SERVE_IN_PYTHON)?;
        std::fs::write(directory.join(SCRIPT), self.script)?;
        std::fs::write(&program, LAUNCHER)?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
    }
}

/// Names a build, so that a program never stays which another source has made.
pub fn fingerprint(engine: &str) -> String {
    let all = |source: &Source| {
        [source.manifest, source.main, source.script, SERVE, SERVE_IN_PYTHON, LAUNCHER].concat()
    };
    format!("{:016x}", fnv1a(Source::of(engine).map(all).unwrap_or_default().as_bytes()))
}
