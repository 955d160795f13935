//! Packages of any Debian suite, unpacked into a directory with all dependencies. Uses a private configuration of
//! apt: the machine's own lists, sources and packages are neither changed nor used, and root is not needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::download::Download;
use super::lasting_directory;
use super::package::Package;
use crate::EngineError;

/// Downloads the package and its dependencies, and unpacks them into one directory.
pub fn fetch(download: &Download) -> Result<PathBuf, EngineError> {
    // What apt downloads outlives an interruption.
    let work = lasting_directory(&format!("{}-{}", download.package.name, download.package.version))?;
    suite(download, &work)?;
    let tree = download.directory("tree")?;
    download.run(apt("apt-get", &work).args(["-y", "--download-only", "install", download.package.name]))?;
    let archives = std::fs::read_dir(work.join("cache/archives")).into_iter().flatten().flatten();
    let packages =
        archives.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "deb"));
    for archive in packages {
        download.run(Command::new("dpkg").env("LC_ALL", "C").arg("-x").arg(archive).arg(&tree))?;
    }
    // They are needed no more, and large.
    let _ = std::fs::remove_dir_all(&work);
    Ok(tree)
}

/// The version of the package that its suite has now: `1:11.8.9+ds-2`. Works in a directory that nobody else uses: no lock is
/// held here.
pub fn candidate(download: &Download, work: &Path) -> Result<String, EngineError> {
    suite(download, work)?;
    let told = download.output(apt("apt-cache", work).args(["show", download.package.name]))?;
    let version = told.lines().find_map(|line| line.strip_prefix("Version:"));
    let missing = || download.failed("apt-cache", "it tells no version".to_string());
    version.map(|version| version.trim().to_string()).ok_or_else(missing)
}

/// Fills a directory with the lists of the package's suite.
fn suite(download: &Download, work: &Path) -> Result<(), EngineError> {
    let source = source(download)?;
    let written = std::fs::create_dir_all(work.join("state/lists/partial"))
        .and_then(|()| std::fs::create_dir_all(work.join("cache/archives/partial")))
        .and_then(|()| std::fs::create_dir_all(work.join("nothing")))
        .and_then(|()| std::fs::write(work.join("status"), ""))
        .and_then(|()| std::fs::write(work.join("sources.list"), source))
        .and_then(|()| std::fs::write(work.join("preferences"), preferences(download.package)))
        .and_then(|()| std::fs::write(work.join("apt.conf"), configuration(work)));
    written.map_err(|error| download.failed("apt-get", error.to_string()))?;
    download.run(apt("apt-get", work).arg("update"))
}

fn apt(program: &str, work: &Path) -> Command {
    let mut apt = Command::new(program);
    apt.arg("-c").arg(work.join("apt.conf")).arg("-q").env("LC_ALL", "C");
    apt
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
         Dir::Etc::preferences \"{work}/preferences\";\nDir::Etc::preferencesparts \"{work}/nothing\";\n\
         Dir::Log \"{work}/nothing\";\n\
         APT::Install-Recommends \"false\";\nAPT::Install-Suggests \"false\";\nAPT::Sandbox::User \"\";\n\
         Acquire::Languages \"none\";\nAcquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n\
         Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled \"false\";\n"
    )
}

/// A line for the suite, on the mirror that the machine itself is set up with.
fn source(download: &Download) -> Result<String, EngineError> {
    const FORMAT: &str = "$(COMPONENT) $(RELEASE) $(REPO_URI)";
    let mut apt = Command::new("apt-get");
    apt.args(["indextargets", "--no-release-info", "--format", FORMAT, "Created-By: Packages"]);
    let targets = download.output(apt.env("LC_ALL", "C"))?;
    let keyring = Path::new("/usr/share/keyrings/debian-archive-keyring.gpg");
    // Where it is not there, the keys that apt trusts anyway have to do.
    let keyring = keyring.is_file().then_some(keyring);
    let suites = [download.package.version].into_iter().chain(download.package.option("base"));
    let lines: Option<String> = suites.map(|suite| line_for(suite, &targets, keyring)).collect();
    lines.ok_or_else(|| {
        download.failed("apt-get", "this machine's package sources name no Debian mirror".to_string())
    })
}

/// A suite that is not complete lies over another one, the `base`: only the package and those that it has to come `with`
/// are taken from it, though apt would not choose it by itself.
fn preferences(package: &Package) -> String {
    let names: Vec<&str> = [package.name].into_iter().chain(package.option("with")).collect();
    match package.option("base").next() {
        Some(_) => {
            format!("Package: {}\nPin: release a={}\nPin-Priority: 990\n", names.join(" "), package.version)
        }
        None => String::new(),
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
    fn of_a_suite_that_is_not_complete_only_what_is_named_is_taken() {
        use super::super::package::Registry;
        let package = |options| Package {
            registry: Registry::Debian,
            name: "postgresql-19",
            version: "experimental",
            path: ".",
            options,
        };
        let pinned = preferences(&package("base=sid with=libpq5"));
        assert_eq!(pinned, "Package: postgresql-19 libpq5\nPin: release a=experimental\nPin-Priority: 990\n");
        assert_eq!(preferences(&package("")), "");
    }

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
}
