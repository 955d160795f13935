//! Programs of another Debian than this machine's: they run under the loader of their own tree, with its libraries.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The loader of a tree of unpacked packages.
pub struct Loader {
    pub program: PathBuf,
    /// The directories of the tree's libraries, as the loader reads them.
    path: OsString,
}

impl Loader {
    /// `None`: the tree has none.
    pub fn of(tree: &Path) -> Option<Loader> {
        let mut libraries = Vec::new();
        for parent in [tree.join("lib"), tree.join("usr/lib")] {
            let entries = fs::read_dir(parent).into_iter().flatten().flatten();
            let triples = entries.filter(|entry| entry.file_name().to_string_lossy().contains("-linux-"));
            libraries.extend(triples.map(|entry| entry.path()));
        }
        let mut files = libraries.iter().flat_map(fs::read_dir).flatten().flatten();
        let is_loader = |name: &str| name.starts_with("ld-linux") && name.contains(".so");
        let program = files.find(|entry| is_loader(&entry.file_name().to_string_lossy()))?.path();
        Some(Loader { program, path: std::env::join_paths(libraries).ok()? })
    }

    /// Runs a program of the tree.
    pub fn run(&self, program: &Path) -> Command {
        let mut command = self.command();
        command.arg(program);
        command
    }

    /// The libraries that a program of the tree is loaded with.
    pub fn libraries_of(&self, program: &Path) -> io::Result<Vec<PathBuf>> {
        let output = self.command().arg("--list").arg(program).stdin(Stdio::null()).output()?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(lines.lines().filter_map(library).collect()),
            false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string())),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--library-path").arg(&self.path);
        command
    }
}

/// `/tree/libz.so.1` of `libz.so.1 => /tree/libz.so.1 (0x7f00)`; some lines name no file.
fn library(line: &str) -> Option<PathBuf> {
    let (_, file) = line.split_once(" => ")?;
    let file = file.rsplit_once(" (").map_or(file, |(file, _)| file);
    file.starts_with('/').then(|| PathBuf::from(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_libraries_is_read() {
        assert_eq!(library("\tlibz.so.1 => /a tree/libz.so.1 (0x7f00)"), Some("/a tree/libz.so.1".into()));
        assert_eq!(library("\tlinux-vdso.so.1 (0x7ffd)"), None);
        assert_eq!(library("\t/tree/ld-linux-x86-64.so.2 (0x7f00)"), None);
    }
}
