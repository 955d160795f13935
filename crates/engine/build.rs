//! Embeds the tables of `versions/` and the packages of `workers/`, whichever there are: that an engine can be obtained
//! takes a file or a folder there and nothing else.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    write("versions.rs", "versions", "const TABLES: &[(&str, &str)]", |name, path| {
        format!("({name:?}, {}),\n", embedded(path))
    })?;
    write("workers.rs", "workers", "static WORKERS: &[Source]", |name, path| match path.is_dir() {
        true => format!(
            "Source {{ engine: {name:?}, manifest: {}, main: {}, script: {} }},\n",
            embedded(&path.join("package.toml")),
            embedded(&path.join("main.rs")),
            embedded(&path.join("worker.py"))
        ),
        false => String::new(),
    })
}

/// Writes a file of code: a list with an entry for each file of a folder.
fn write(file: &str, folder: &str, list: &str, entry: impl Fn(&str, &Path) -> String) -> io::Result<()> {
    println!("cargo:rerun-if-changed={folder}");
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    let mut code = format!("{list} = &[\n");
    for path in paths {
        code += &entry(path.file_stem().and_then(|name| name.to_str()).unwrap_or_default(), &path);
    }
    code += "];\n";
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join(file), code)
}

/// The text of a file. Relative to the package: the code stays right when the build directory or the checkout is moved.
fn embedded(path: &Path) -> String {
    let file = format!("/{}", path.display());
    format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))")
}
