//! Where the engine keeps its data: a directory that goes with the process, also if the process is killed.

use std::path::{Path, PathBuf};

const PREFIX: &str = "dissent-clickhouse-";

/// Removed when dropped, or by the next process that makes one.
pub struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    pub fn new() -> std::io::Result<Home> {
        sweep(&std::env::temp_dir(), |process| Path::new("/proc").join(process).exists());
        let prefix = format!("{PREFIX}{}-", std::process::id());
        Ok(Home { directory: tempfile::Builder::new().prefix(&prefix).tempdir()? })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what processes left that are no more.
fn sweep(directory: &Path, is_alive: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        if let Some((process, _)) = owner
            && process.bytes().all(|byte| byte.is_ascii_digit())
            && !is_alive(process)
        {
            let path: PathBuf = entry.path();
            // Whoever sweeps at the same time may have been quicker.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_left_is_swept_away() {
        let directory = tempfile::tempdir().unwrap();
        let names =
            ["dissent-clickhouse-1-a", "dissent-clickhouse-2-a", "dissent-clickhouse-x-a", "other-2-a"];
        names.iter().for_each(|name| std::fs::create_dir(directory.path().join(name)).unwrap());
        sweep(directory.path(), |process| process == "1");
        let left = names.map(|name| directory.path().join(name).is_dir());
        assert_eq!(left, [true, false, true, true]);
    }
}
