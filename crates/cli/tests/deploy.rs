//! The manifests in `deploy/` are what Kubernetes' own schemas allow.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::shell;

/// Carries the schemas, so that no cluster and no download is needed to check by them.
const PACKAGE: &str = "kubernetes-validate==1.37.0";

/// The program; `None`, and a line that says so, where it cannot be obtained.
fn validator() -> Option<PathBuf> {
    let home = dissent_engine::cache_directory().ok()?.join("tools").join("kubernetes-validate-1.37.0");
    let program = home.join("bin/kubernetes-validate");
    if !program.exists() {
        let install = format!("python3 -m venv {0} && {0}/bin/pip install --quiet {PACKAGE}", home.display());
        if !Command::new("sh").args(["-c", &install]).status().is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("DISSENT_REQUIRE_ENGINES").is_none(), "no {PACKAGE}");
            println!("skipped: no {PACKAGE}");
            return None;
        }
    }
    Some(program)
}

fn is_valid(validator: &Path, manifest: &Path) -> bool {
    let told = Command::new(validator).arg("--strict").arg(manifest).output().unwrap();
    println!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    told.status.success()
}

#[test]
fn manifests_are_what_the_schemas_allow() {
    let Some(validator) = validator() else { return };
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/kubernetes.yaml");
    assert!(is_valid(&validator, &manifest));
    // It would notice.
    let directory = tempfile::tempdir().unwrap();
    let wrong = directory.path().join("wrong.yaml");
    for (right, slip) in [("completionMode:", "completionsMode:"), ("parallelism: 16", "parallelism: many")] {
        shell(&format!("sed 's/{right}/{slip}/' {} > {}", manifest.display(), wrong.display()));
        assert!(!is_valid(&validator, &wrong), "{slip}");
    }
}
