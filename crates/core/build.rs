//! Embeds the package's data files, whichever there are: a new dialect, list of known bugs or seed script is
//! a file and nothing else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let dialects = entries(Path::new("dialects"), Path::file_stem)?;
    let known = entries(Path::new("known"), Path::file_stem)?;
    let mut seeds = String::new();
    for folder in sorted(Path::new("seeds"))?.iter().filter(|path| path.is_dir()) {
        let scripts = entries(folder, Path::file_name)?;
        seeds += &format!("({:?}, &[\n{scripts}]),\n", text(folder.file_name()));
    }
    let code = format!(
        "pub const DIALECTS: &[(&str, &str)] = &[\n{dialects}];\n\
         pub const KNOWN: &[(&str, &str)] = &[\n{known}];\n\
         pub const SEEDS: &[(&str, &[(&str, &str)])] = &[\n{seeds}];\n"
    );
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join("embedded.rs"), code)
}

/// The files of a folder, as the elements of an array of names and texts.
fn entries(folder: &Path, name: fn(&Path) -> Option<&OsStr>) -> io::Result<String> {
    let mut elements = String::new();
    for path in sorted(folder)?.iter().filter(|path| path.is_file()) {
        // Relative to the package: the code stays right when the build directory or the checkout is moved.
        elements += &format!(
            "({:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))),\n",
            text(name(path)),
            format!("/{}", path.display())
        );
    }
    Ok(elements)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn text(name: Option<&OsStr>) -> &str {
    name.and_then(OsStr::to_str).unwrap_or_default()
}
