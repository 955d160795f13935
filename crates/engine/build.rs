//! Embeds the tables of `versions/`, whichever there are: that an engine can be obtained takes a file there and
//! nothing else.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=versions");
    let mut paths =
        fs::read_dir("versions")?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    let mut code = String::from("const TABLES: &[(&str, &str)] = &[\n");
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        // Relative to the package: the code stays right when the build directory or the checkout is moved.
        let file = format!("/{}", path.display());
        code += &format!("({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n");
    }
    code += "];\n";
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join("versions.rs"), code)
}
