//! What the program is built of: every dependency comes from crates.io, under a licence that lets anyone use Dissent.

mod support;

use serde_json::Value;
use support::packages::packages;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Licences that ask for no more than a notice.
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    // Of the list of public certificate authorities, which is data.
    "CDLA-Permissive-2.0",
    "ISC",
    "0BSD",
    "Zlib",
    "Unicode-3.0",
];

/// The licence of a package that only brings the text of it.
fn in_its_file(package: &Value) -> Option<&'static str> {
    (package["name"] == "webpki" && package["version"] == "0.22.4").then_some("ISC")
}

/// Whether an SPDX expression leaves us a choice that is listed: `(MIT OR Apache-2.0) AND Unicode-3.0`.
fn is_allowed(licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|choice| LICENCES.contains(&choice.trim())))
}

#[test]
fn every_dependency_has_a_licence_and_a_source_that_are_allowed() {
    let packages = packages();
    let told = |package: &Value| format!("{} {}", package["name"], package["version"]);
    assert!(packages.len() > 50, "{} packages", packages.len());
    for package in &packages {
        let licence = package["license"].as_str().or_else(|| in_its_file(package)).unwrap_or("none");
        assert!(is_allowed(licence), "{} has the licence {licence}", told(package));
        let own = package["name"].as_str().is_some_and(|name| name.starts_with("dissent"));
        let source = package["source"].as_str();
        assert!(
            source == Some(CRATES_IO) || (own && source.is_none()),
            "{} is from {source:?}",
            told(package)
        );
    }
}

#[test]
fn our_own_packages_say_what_they_are() {
    let packages = packages();
    let own: Vec<&Value> = packages.iter().filter(|package| package["source"].is_null()).collect();
    assert_eq!(own.len(), 6);
    for package in own {
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{} has no {field}", package["name"]);
        }
        for field in ["keywords", "categories"] {
            let listed = package[field].as_array().is_some_and(|listed| !listed.is_empty());
            assert!(listed, "{} has no {field}", package["name"]);
        }
    }
}

#[test]
fn a_licence_that_takes_is_refused() {
    assert!(
        is_allowed("MIT") && is_allowed("GPL-3.0 OR MIT") && is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0")
    );
    assert!(!is_allowed("GPL-3.0-only") && !is_allowed("MIT AND GPL-3.0") && !is_allowed("none"));
}
