//! PostgreSQL out of Debian's packages. Those of another suite need other libraries than this machine has, so each program
//! is a script that starts the real one under the loader that came with it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::loader::Loader;

/// Where the packages of a major version are: the programs' directory is `usr/lib/postgresql/19`.
const HOME: &str = "usr/lib/postgresql";
const SHARE: &str = "usr/share/postgresql";
/// What a server is initialised and run with.
const NEEDED: [&str; 2] = ["initdb", "postgres"];
/// Among the programs: the real ones.
const REAL: &str = "real";

/// It takes its place among the programs, because they look for each other there.
const SCRIPT: &str = r#"#!/bin/sh
bin=$(cd "${0%/*}" && pwd -P)
name=${0##*/}
libraries=$bin/../../../../libraries
exec "$libraries/loader" --library-path "$libraries" --argv0 "$bin/$name" "$bin/../real/$name" "$@"
"#;

/// Whether unpacked packages are Debian's.
pub fn is_tree(directory: &Path) -> bool {
    directory.join(HOME).is_dir()
}

/// The file with the code of a program, of which the one among the programs may be a script that starts it.
pub fn real(program: &Path) -> PathBuf {
    let (Some(name), Some(directory)) = (program.file_name(), program.parent()) else {
        return program.to_path_buf();
    };
    // The directory is a link, out of which this leads.
    let real = directory.join("..").join(REAL).join(name);
    real.canonicalize().unwrap_or_else(|_| program.to_path_buf())
}

/// Takes out of unpacked packages what a server needs. The directories keep their names: the programs find one from the
/// other.
pub fn arrange(tree: &Path, programs: &Path) -> io::Result<()> {
    let missing = || io::Error::other("the packages contain no PostgreSQL");
    let major = fs::read_dir(tree.join(HOME))?.next().ok_or_else(missing)??.file_name();
    let home = tree.join(HOME).join(&major);
    let loader = Loader::of(tree).ok_or_else(|| io::Error::other("the packages contain no loader"))?;
    let libraries = programs.join("libraries");
    fs::create_dir_all(&libraries)?;
    fs::copy(&loader.program, libraries.join("loader"))?;
    for name in NEEDED {
        for library in loader.libraries_of(&home.join("bin").join(name))? {
            fs::copy(&library, libraries.join(library.file_name().unwrap_or_default()))?;
        }
    }
    let kept = take(&home, &programs.join("lib/postgresql"))?;
    take(&tree.join(SHARE).join(&major), &programs.join("share/postgresql"))?;
    fs::rename(kept.join("bin"), kept.join(REAL))?;
    fs::create_dir(kept.join("bin"))?;
    for name in NEEDED {
        fs::write(kept.join("bin").join(name), SCRIPT)?;
    }
    symlink(Path::new("lib/postgresql").join(&major).join("bin"), programs.join("bin"))
}

/// Moves a directory into another one.
fn take(from: &Path, into: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(into)?;
    let to = into.join(from.file_name().unwrap_or_default());
    fs::rename(from, &to).map(|()| to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_program_is_found_behind_its_script() {
        let directory = tempfile::tempdir().unwrap();
        let programs = directory.path().canonicalize().unwrap();
        let home = programs.join("lib/postgresql/19");
        for place in ["bin", REAL] {
            fs::create_dir_all(home.join(place)).unwrap();
            fs::write(home.join(place).join("postgres"), place).unwrap();
        }
        symlink("lib/postgresql/19/bin", programs.join("bin")).unwrap();
        assert_eq!(real(&programs.join("bin/postgres")), home.join(REAL).join("postgres"));
        let whole = programs.join("sbin/postgres");
        assert_eq!(real(&whole), whole);
    }
}
