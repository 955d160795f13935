//! Engines whose code is watched: breakpoints in a library, or in a server that we start.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use dissent_core::hash::fnv1a;
use dissent_coverage::{Code, CoverageError, Depth, Map, preload};

use crate::EngineError;
use crate::server::Home;
use crate::store::{Store, Wanted, not_writable};

/// Where the code of an engine is.
pub(crate) struct Binary {
    /// A library, or the program of a server.
    pub path: PathBuf,
    pub depth: Depth,
    /// It runs in a process of its own.
    pub is_server: bool,
}

impl Binary {
    pub fn library(path: &Path) -> Binary {
        Binary { path: path.to_path_buf(), depth: Depth::Blocks, is_server: false }
    }

    pub fn server(path: PathBuf) -> Binary {
        Binary { path, depth: Depth::Blocks, is_server: true }
    }

    /// Its places, found once for every build.
    pub fn code(&self) -> Result<Code, EngineError> {
        Ok(Code::of(&self.path, self.depth, &directory()?)?)
    }

    /// Makes sure that workers can set breakpoints.
    pub fn prepare(&self) -> Result<(), EngineError> {
        self.code()?;
        if self.is_server {
            make_preload()?;
        }
        Ok(())
    }
}

fn directory() -> Result<PathBuf, EngineError> {
    Ok(Store::of_user()?.root().join("coverage"))
}

/// Where the library is that servers load. Another source gets another name.
fn preload_path() -> Result<PathBuf, EngineError> {
    let text = format!("{}{}", preload::SOURCE, preload::ARGUMENTS.join(" "));
    Ok(directory()?.join(format!("preload-{:016x}.so", fnv1a(text.as_bytes()))))
}

fn make_preload() -> Result<(), EngineError> {
    let library = preload_path()?;
    if library.exists() {
        return Ok(());
    }
    let directory = directory()?;
    fs::create_dir_all(&directory).map_err(not_writable(&directory))?;
    let place = tempfile::tempdir_in(&directory).map_err(not_writable(&directory))?;
    let (source, made) = (place.path().join("preload.c"), place.path().join("preload.so"));
    fs::write(&source, preload::SOURCE).map_err(not_writable(&source))?;
    let wanted = Wanted {
        name: "what counts the coverage of servers".to_string(),
        instead: "--guide plan".to_string(),
    };
    let arguments = preload::ARGUMENTS.map(String::from);
    Store::of_user()?.compiler().run(&arguments, &source, &made, &wanted)?;
    fs::rename(&made, &library).map_err(not_writable(&library))
}

/// What an engine is opened with so that its code is watched.
#[derive(Clone, Debug)]
pub(crate) struct Arms {
    /// The map of the campaign.
    pub map: PathBuf,
    pub worker: u32,
    /// The program or library that is watched. A server may be started by its path in another directory, or by another
    /// program.
    pub binary: PathBuf,
}

impl Arms {
    /// Sets breakpoints in a library that was just loaded.
    pub fn arm(&self, library: &Path) -> Result<(), EngineError> {
        // SAFETY: it was loaded a moment ago and nothing of it was called that has a thread; the map was made for what
        // is at this path, and a place that is not in its code is refused.
        Ok(unsafe { dissent_coverage::arm(library, Map::open(&self.map)?, self.worker) }?)
    }

    /// Has a server load the library that sets breakpoints in it.
    pub fn equip(&self, command: &mut Command, home: &Home) -> Result<Equipped, EngineError> {
        // Whoever the server runs as can read what is in its home.
        let library = home.path().join("coverage.so");
        let copied = fs::copy(preload_path()?, &library)
            .and_then(|_| fs::set_permissions(&library, fs::Permissions::from_mode(0o755)));
        copied.map_err(not_writable(&library))?;
        let unreadable = |error| CoverageError::File { path: self.map.clone(), error };
        let file = OpenOptions::new().read(true).write(true).open(&self.map).map_err(unreadable)?;
        command.envs(preload::environment(&library, &file, self.worker).map_err(unreadable)?);
        let map = Map::open(&self.map)?;
        Ok(Equipped { file, armed_before: map.armed(self.worker), map, arms: self.clone() })
    }
}

/// A server that is about to be watched.
pub(crate) struct Equipped {
    file: File,
    map: Map,
    arms: Arms,
    armed_before: u64,
}

impl Equipped {
    /// The map, which the server must inherit.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// To be asked once the server answers. The loader only warns of a library that it cannot load, and the library has
    /// nobody to tell what it cannot do: the hunt would learn nothing for hours.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.map.armed(self.arms.worker) > self.armed_before {
            return Ok(());
        }
        let reason = "the server runs without them; does its directory allow programs (noexec), and may it change its own code?";
        Err(CoverageError::NotArmed { path: self.arms.binary.clone(), reason: reason.to_string() }.into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_that_set_no_breakpoints_is_not_hunted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("coverage.map");
        let code = Code { id: "a".to_string(), functions: vec![16], places: vec![16, 20] };
        Map::create(&path, &code).unwrap();
        let (file, map) = (File::open(&path).unwrap(), Map::open(&path).unwrap());
        let arms = Arms { map: path, worker: 3, binary: "server".into() };
        let equipped = Equipped { file, armed_before: map.armed(3), map, arms };
        // The servers of other workers do.
        equipped.map.count_armed(4, Duration::ZERO);
        let told = equipped.check().unwrap_err().to_string();
        assert!(told.starts_with("cannot set breakpoints in server: the server runs without them"), "{told}");
        equipped.map.count_armed(3, Duration::ZERO);
        assert!(equipped.check().is_ok());
    }
}
