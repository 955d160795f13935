//! Certificates for servers that encrypt.

use std::path::Path;
use std::process::{Command, Stdio};

/// Makes an authority (`ca`), another one (`other`), and the certificate of a server called `localhost` that the first has
/// signed (`server`), each `.pem` with its `.key`. If that is not possible here, says so loudly.
pub fn make(place: &Path) -> bool {
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
        assert!(!required, "openssl is required");
        eprintln!("SKIPPED, not passed: openssl is not installed");
        return false;
    }
    let script = "
        for ca in ca other; do
          openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout $ca.key -out $ca.pem -subj /CN=$ca 2>&1
        done
        openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost 2>&1
        echo subjectAltName=DNS:localhost > names
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem 2>&1";
    let output = Command::new("sh").args(["-ec", script]).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    true
}
