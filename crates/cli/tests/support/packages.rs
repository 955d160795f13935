//! What the program is built of, as cargo lists it.

use std::process::Command;

use serde_json::Value;

/// The packages that are compiled here; those of other platforms may not even be downloaded.
pub fn packages() -> Vec<Value> {
    let rustc = Command::new("rustc").arg("-vV").output().expect("tests run beside the compiler");
    let about = String::from_utf8(rustc.stdout).expect("it prints text");
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("it names its host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("tests run beside cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    metadata["packages"].as_array().expect("it lists packages").clone()
}
