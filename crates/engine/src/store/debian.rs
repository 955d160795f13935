//! Packages of any Debian suite, unpacked into a directory with all they depend on. A private configuration
//! of apt: the machine's own lists, sources and packages are neither changed nor used, and root is not needed.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{MutexGuard, PoisonError};

use crate::EngineError;
use crate::target::Step;

/// Held while something is obtained.
pub fn one_at_a_time() -> MutexGuard<'static, ()> {
    super::BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Downloads `package` of a suite and its dependencies, and unpacks them into `tree`.
pub fn unpack(
    package: &str,
    suite: &str,
    tree: &Path,
    what: &str,
    progress: &mut dyn FnMut(Step),
) -> Result<(), EngineError> {
    let label = format!("{package} ({suite})");
    let errand = Errand { package: &label, what };
    progress(Step::Downloading { package: label.clone() });
    let work = tempfile::tempdir_in(tree.parent().unwrap_or(tree))
        .map_err(|error| EngineError::NotWritable { path: tree.to_path_buf(), error })?;
    let work = work.path();
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.arg("-c").arg(work.join("apt.conf")).args(["-q", "-y"]);
        apt
    };
    let source = errand.source(suite)?;
    let written = std::fs::create_dir_all(work.join("state/lists/partial"))
        .and_then(|()| std::fs::create_dir_all(work.join("cache/archives/partial")))
        .and_then(|()| std::fs::create_dir_all(work.join("nothing")))
        .and_then(|()| std::fs::create_dir_all(tree))
        .and_then(|()| std::fs::write(work.join("status"), ""))
        .and_then(|()| std::fs::write(work.join("sources.list"), source))
        .and_then(|()| std::fs::write(work.join("apt.conf"), configuration(work)));
    written.map_err(|error| errand.failed("apt-get", error.to_string()))?;
    errand.run(apt().arg("update"))?;
    errand.run(apt().args(["--download-only", "install", package]))?;
    let archives = std::fs::read_dir(work.join("cache/archives")).into_iter().flatten().flatten();
    let packages =
        archives.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "deb"));
    for archive in packages {
        errand.run(Command::new("dpkg").arg("-x").arg(archive).arg(tree))?;
    }
    Ok(())
}

/// Everything apt would keep in the system's directories, in ours. What the machine says about proxies and
/// the like stays in force; what it does after an update does not: that is about its own directories.
fn configuration(work: &Path) -> String {
    let work = work.display();
    format!(
        "#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n\
         #clear APT::Update::Post-Invoke-Success;\n#clear DPkg::Pre-Invoke;\n#clear DPkg::Post-Invoke;\n\
         #clear DPkg::Pre-Install-Pkgs;\n\
         Dir::State \"{work}/state\";\nDir::State::status \"{work}/status\";\nDir::Cache \"{work}/cache\";\n\
         Dir::Etc::sourcelist \"{work}/sources.list\";\nDir::Etc::sourceparts \"{work}/nothing\";\n\
         Dir::Etc::preferences \"{work}/nothing/none\";\nDir::Etc::preferencesparts \"{work}/nothing\";\n\
         Dir::Log \"{work}/nothing\";\n\
         APT::Install-Recommends \"false\";\nAPT::Install-Suggests \"false\";\nAPT::Sandbox::User \"\";\n\
         Acquire::Languages \"none\";\nAcquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
         Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled \"false\";\n"
    )
}

/// Who is running a package client, and for what.
pub struct Errand<'a> {
    pub package: &'a str,
    /// What the user asked for, for messages: `mariadb 10.11`.
    pub what: &'a str,
}

impl Errand<'_> {
    /// A line for the suite, on the mirror that the machine itself is set up with.
    fn source(&self, suite: &str) -> Result<String, EngineError> {
        const FORMAT: &str = "$(COMPONENT) $(RELEASE) $(REPO_URI)";
        let mut apt = Command::new("apt-get");
        let targets = self.output(apt.args([
            "indextargets",
            "--no-release-info",
            "--format",
            FORMAT,
            "Created-By: Packages",
        ]))?;
        let keyring = Path::new("/usr/share/keyrings/debian-archive-keyring.gpg");
        // Where it is not there, the keys that apt trusts anyway have to do.
        line_for(suite, &targets, keyring.is_file().then_some(keyring)).ok_or_else(|| {
            self.failed("apt-get", "the machine's own sources name no Debian mirror".to_string())
        })
    }

    pub fn run(&self, command: &mut Command) -> Result<(), EngineError> {
        self.output(command).map(drop)
    }

    fn output(&self, command: &mut Command) -> Result<String, EngineError> {
        let client = command.get_program().to_string_lossy().into_owned();
        match command.env("LC_ALL", "C").stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => {
                Err(self.failed(&client, super::download::reason(&String::from_utf8_lossy(&output.stderr))))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(EngineError::NoClient { client, what: self.what.to_string() })
            }
            Err(error) => Err(self.failed(&client, error.to_string())),
        }
    }

    pub fn failed(&self, client: &str, reason: String) -> EngineError {
        EngineError::NotDownloaded { client: client.to_string(), package: self.package.to_string(), reason }
    }
}

/// The sources line for a suite, from what apt says of the machine's own: component, release, address. A
/// release with a word behind it (`bookworm-security`) is on another path of the mirror.
fn line_for(suite: &str, targets: &str, keyring: Option<&Path>) -> Option<String> {
    let address = targets.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["main", release, address] if !release.contains(['-', '/']) => Some(address),
            _ => None,
        }
    })?;
    let options = keyring.map(|path| format!("[signed-by={}] ", path.display())).unwrap_or_default();
    Some(format!("deb {options}{address} {suite} main\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_mirror_serves_other_suites() {
        let targets = "main bookworm-security http://mirror/debian-security/\n\
                       contrib bookworm http://mirror/debian/\n\
                       main bookworm http://mirror/debian/\n";
        let line = line_for("sid", targets, Some(Path::new("/keys.gpg"))).unwrap();
        assert_eq!(line, "deb [signed-by=/keys.gpg] http://mirror/debian/ sid main\n");
        assert_eq!(line_for("sid", "main bookworm http://m/\n", None).unwrap(), "deb http://m/ sid main\n");
        assert_eq!(line_for("sid", "", None), None);
    }

    #[test]
    fn a_missing_client_is_named() {
        let errand = Errand { package: "x", what: "mariadb 10.11" };
        let error = errand.run(&mut Command::new("no-such-client")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no-such-client is needed to obtain mariadb 10.11: install it, or give a server by URL"
        );
    }
}
