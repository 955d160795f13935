//! The manifests in `deploy/` are what Kubernetes' own schemas allow.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{BINARY, shell};

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

fn manifest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/kubernetes.yaml")
}

fn is_valid(validator: &Path, manifest: &Path) -> bool {
    let told = Command::new(validator).arg("--strict").arg(manifest).output().unwrap();
    println!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    told.status.success()
}

#[test]
fn manifests_are_what_the_schemas_allow() {
    let Some(validator) = validator() else { return };
    let manifest = manifest();
    assert!(is_valid(&validator, &manifest));
    // It would notice.
    let directory = tempfile::tempdir().unwrap();
    let wrong = directory.path().join("wrong.yaml");
    for (right, slip) in [("completionMode:", "completionsMode:"), ("parallelism: 16", "parallelism: many")] {
        shell(&format!("sed 's/{right}/{slip}/' {} > {}", manifest.display(), wrong.display()));
        assert!(!is_valid(&validator, &wrong), "{slip}");
    }
}

/// The commands of the pods, with another engine, for a moment.
#[test]
fn a_pod_that_is_tried_again_resumes_its_campaign() {
    let Some(validator) = validator() else { return };
    let read = "import sys, yaml; job = next(yaml.safe_load_all(open(sys.argv[1]))); \
                print(job['spec']['template']['spec']['containers'][0]['args'][0])";
    let python = validator.with_file_name("python");
    let told = Command::new(python).args(["-c", read]).arg(manifest()).output().unwrap();
    let mut script = String::from_utf8(told.stdout).unwrap();
    for (there, here) in [("/out/", "out/"), ("duckdb", "sqlite --oracles norec"), ("--time 1h", "--time 3s")]
    {
        assert_eq!(script.matches(there).count(), 1, "{there}: {script}");
        script = script.replace(there, here);
    }
    let directory = tempfile::tempdir().unwrap();
    let programs = Path::new(BINARY).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let databases = [1, 2].map(|_| {
        let mut pod = Command::new("sh");
        pod.args(["-c", &script]).env("PATH", &path).env("JOB_COMPLETION_INDEX", "2");
        let told = pod.current_dir(directory.path()).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let summary = std::fs::read(directory.path().join("out/2/summary.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&summary).unwrap()["databases"].as_u64().unwrap()
    });
    assert!(databases[0] < databases[1], "{databases:?}");
}
