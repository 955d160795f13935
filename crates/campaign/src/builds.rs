//! What a bisection checks a finding on: released versions, or the user's own builds.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use dissent_core::dialect::Version;
use dissent_engine::{Source, State, Step, Target, versions};

/// A version or build to check a finding on.
pub struct Build {
    /// Its name: a version, a revision, a file.
    pub name: String,
    /// It is on this machine; the others are obtained only where they decide.
    pub(crate) here: bool,
    way: Way,
}

enum Way {
    Target(String),
    /// A command that builds the revision of that name and says where.
    Command {
        command: String,
        engine: String,
    },
}

impl Build {
    /// Makes sure it can be opened. `None`: the command that builds it says that it cannot be tested.
    pub(crate) fn obtain(&self, progress: &mut dyn FnMut(Step)) -> anyhow::Result<Option<Source>> {
        let target = match &self.way {
            Way::Target(target) => target.clone(),
            Way::Command { command, engine } => {
                progress(Step::Preparing { engine: self.name.clone() });
                let Some(said) = said(command, Some(&self.name))? else { return Ok(None) };
                let place =
                    said.last().with_context(|| format!("'{command} {}' printed no path", self.name))?;
                target_of(engine, place)
            }
        };
        Ok(Some(Target::parse(&target)?.obtain(progress)?))
    }
}

/// The released versions of an engine, from one to another (`3.20.0..3.34.0`, either end open), the oldest first.
pub fn released_versions(engine: &str, range: Option<&str>, only_here: bool) -> anyhow::Result<Vec<Build>> {
    let (from, to) = match range {
        Some(range) => {
            let Some((from, to)) = range.split_once("..") else {
                bail!("invalid version range '{range}': use A..B, A.. or ..B, such as 3.20.0..3.34.0");
            };
            let bound = |text: &str| (!text.is_empty()).then(|| Version::parse(text));
            (bound(from), bound(to))
        }
        None => (None, None),
    };
    let mut builds = Vec::new();
    for available in versions()? {
        let version = Version::parse(available.version);
        let here = available.state != State::Obtainable;
        let wanted = available.engine == engine
            && from.as_ref().is_none_or(|from| version >= *from)
            && to.as_ref().is_none_or(|to| version <= *to)
            && (here || !only_here);
        if wanted {
            let target = format!("{engine}@{}", available.version);
            builds.push(Build { name: available.version.to_string(), here, way: Way::Target(target) });
        }
    }
    if builds.is_empty() {
        bail!("no released version of {engine} to check");
    }
    Ok(builds)
}

/// Builds of the user's own, the oldest first: the entries of a directory, by their names; or what a command says.
/// Alone it lists revisions, the oldest first; with one of them it builds that and says in its last line where.
pub fn own_builds(engine: &str, builds: &str) -> anyhow::Result<Vec<Build>> {
    let path = Path::new(builds);
    let found: Vec<Build> = if path.is_dir() {
        let mut names = Vec::new();
        for entry in path.read_dir().with_context(|| format!("cannot read {builds}"))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_by_cached_key(|name| (Version::parse(name), name.clone()));
        let build = |name: String| {
            let way = Way::Target(target_of(engine, &path.join(&name).display().to_string()));
            Build { name, here: false, way }
        };
        names.into_iter().map(build).collect()
    } else {
        let build = |name: String| {
            let way = Way::Command { command: builds.to_string(), engine: engine.to_string() };
            Build { name, here: false, way }
        };
        said(builds, None)?.into_iter().flatten().map(build).collect()
    };
    if found.is_empty() {
        bail!("no builds in '{builds}': give a directory of builds, or a command that lists revisions");
    }
    Ok(found)
}

/// A path is a build of the engine; a target says more than a path.
fn target_of(engine: &str, place: &str) -> String {
    match Target::parse(place) {
        Ok(target) if target.dialect() == engine => place.to_string(),
        _ => format!("{engine}:path={place}"),
    }
}

/// The exit code for a revision to skip, as for `git bisect run`.
const SKIP: i32 = 125;

/// The lines that a command prints; its standard error goes to the user. `None`: it skips.
fn said(command: &str, argument: Option<&str>) -> anyhow::Result<Option<Vec<String>>> {
    let mut shell = Command::new("sh");
    // The revision is an argument of its own, never a part of the text that the shell reads.
    shell.arg("-c").arg(format!("{command} \"$@\"")).arg("sh").args(argument);
    let output = shell
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run '{command}'"))?;
    if output.status.code() == Some(SKIP) {
        return Ok(None);
    }
    if !output.status.success() {
        let tried: Vec<&str> = std::iter::once(command).chain(argument).collect();
        bail!("'{}' failed: {}", tried.join(" "), output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Some(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect()))
}
