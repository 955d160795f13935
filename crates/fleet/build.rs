//! Hashes the sources that decide what a seed draws: machines of one fleet must have the same, and a version number tells
//! only those of releases.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Not there where this package was downloaded on its own: then the version of its dependencies says it all.
const SOURCES: [&str; 3] = ["../core/src", "../core/dialects", "../core/seeds"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for folder in SOURCES.map(Path::new).into_iter().filter(|folder| folder.is_dir()) {
        println!("cargo:rerun-if-changed={}", folder.display());
        for path in files(folder)? {
            add(&mut hash, path.to_string_lossy().as_bytes());
            add(&mut hash, &fs::read(path)?);
        }
    }
    println!("cargo:rustc-env=DISSENT_SOURCES={hash:016x}");
    Ok(())
}

/// FNV-1a: the same whatever compiled it.
fn add(hash: &mut u64, bytes: &[u8]) {
    for byte in bytes.iter().chain(&[0]) {
        *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => found.push(path),
        }
    }
    found.sort();
    Ok(found)
}
