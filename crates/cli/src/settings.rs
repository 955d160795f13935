//! `dissent.toml`: options that are given every time, written down once.
//!
//! A table per command holds its options by their long names, as `--help` lists them:
//!
//! ```toml
//! [hunt]
//! target = "duckdb"
//! time = "10m"
//! oracles = ["norec", "tlp"]
//! no-reduce = true
//! ```
//!
//! They become arguments in front of those that were typed, and are read by the one definition of the arguments. What
//! is typed wins.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use dissent_engine::Target;
use toml::{Table, Value};

/// The file that is read if no other is named.
pub const FILE: &str = "dissent.toml";

/// The arguments as they were typed, with those of the file that they do not override. `matches` is what the typed
/// ones alone mean.
pub fn apply(typed: Vec<OsString>, matches: &ArgMatches, command: &Command) -> anyhow::Result<Vec<OsString>> {
    let named: Option<&PathBuf> = matches.get_one("config");
    let path = named.map_or(Path::new(FILE), PathBuf::as_path);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => return Ok(typed),
        Err(error) => bail!("cannot read the settings in {}: {error}", path.display()),
    };
    let settings: Table =
        toml::from_str(&text).with_context(|| format!("{} is not valid", path.display()))?;
    let trusted = named.is_some();
    let added =
        added(&settings, trusted, matches, command).with_context(|| format!("in {}", path.display()))?;
    Ok(typed.into_iter().chain(added).collect())
}

/// What the settings add to arguments. All of them are looked at, also those of other commands: a mistake is told when
/// it is made.
fn added(
    settings: &Table,
    trusted: bool,
    matches: &ArgMatches,
    command: &Command,
) -> anyhow::Result<Vec<OsString>> {
    let mut added = Vec::new();
    for (name, table) in settings {
        let Some(subcommand) = command.find_subcommand(name) else {
            let commands = command.get_subcommands().map(Command::get_name);
            bail!("there is no command '{name}'{}", closest(name, commands));
        };
        let Value::Table(table) = table else {
            bail!("'{name}' is a command: write its options below [{name}]")
        };
        let chosen = matches.subcommand().filter(|(chosen, _)| chosen == name).map(|(_, matches)| matches);
        for (key, value) in table {
            let option = option(subcommand, key).with_context(|| format!("[{name}]"))?;
            if !trusted && let Some(why) = refusal(option, value) {
                bail!("[{name}] {key}: type it, or name the file with --config: {why}");
            }
            let arguments = arguments(option, value).with_context(|| format!("[{name}] {key}"))?;
            if chosen.is_some_and(|chosen| applies(option, subcommand, chosen)) {
                added.extend(arguments);
            }
        }
    }
    Ok(added)
}

/// What `--help` calls values that can only change what a command does by itself.
const PLAIN: [&str; 11] =
    ["A..B", "DURATION", "ENGINE", "FORMAT", "GUIDE", "I/N", "MIB", "N", "NAME", "NAMES", "NUMBER"];
/// And those that are paths.
const PATHS: [&str; 6] = ["CAMPAIGN", "DIR", "FILE", "PATH", "PATH|built-in", "SCRIPT"];
const TARGET: &str = "TARGET";

/// Why a file that merely lies in the current directory may not give an option this value: it may have come with
/// somebody else's files, so it must not run a program, load a library, reach another machine, open a port or touch
/// files elsewhere. Whatever is not known to do none of that is refused.
fn refusal(option: &Arg, value: &Value) -> Option<&'static str> {
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return None;
    }
    let kind = match option.get_value_names() {
        Some([kind]) => kind.to_string(),
        _ => option.get_id().as_str().to_uppercase(),
    };
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let all = |fits: fn(&str) -> bool| values.iter().all(|value| value.as_str().is_some_and(fits));
    match kind.as_str() {
        kind if PLAIN.contains(&kind) => None,
        TARGET if all(is_no_place) => None,
        TARGET => Some("it loads a library or reaches a server"),
        kind if PATHS.contains(&kind) && all(|path| stays_in(Path::new("."), path)) => None,
        kind if PATHS.contains(&kind) => Some("it is outside of the current directory"),
        _ => Some("it runs or reaches something of its own"),
    }
}

/// A release, or nothing that any command takes for a target.
fn is_no_place(target: &str) -> bool {
    Target::parse(target).map_or(true, |target| target.is_release())
}

/// Whether a path cannot lead out of a directory: it could through a link, too.
fn stays_in(directory: &Path, path: &str) -> bool {
    let path = Path::new(path);
    let inside = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(inside) && !path.ancestors().any(|part| directory.join(part).is_symlink())
}

/// The option of that name.
fn option<'a>(command: &'a Command, key: &str) -> anyhow::Result<&'a Arg> {
    let name = |option: &'a Arg| option.get_long().unwrap_or(option.get_id().as_str());
    let settable =
        || command.get_arguments().filter(|option| !matches!(name(option), "help" | "version" | "config"));
    match settable().find(|option| name(option) == key) {
        Some(option) => Ok(option),
        None => bail!("there is no option '{key}'{}", closest(key, settable().map(name))),
    }
}

/// Whether it was neither typed nor stands against something that was: a campaign that is resumed has its options.
fn applies(option: &Arg, command: &Command, typed: &ArgMatches) -> bool {
    let is_typed =
        |other: &Arg| typed.value_source(other.get_id().as_str()) == Some(ValueSource::CommandLine);
    let against = |other: &&Arg| {
        command.get_arg_conflicts_with(other).iter().any(|conflict| conflict.get_id() == option.get_id())
            || command
                .get_arg_conflicts_with(option)
                .iter()
                .any(|conflict| conflict.get_id() == other.get_id())
    };
    !is_typed(option) && !command.get_arguments().filter(|other| is_typed(other)).any(|other| against(&other))
}

/// As they would be typed.
fn arguments(option: &Arg, value: &Value) -> anyhow::Result<Vec<OsString>> {
    let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
    let spelled = |value: &Value| match (option.get_long(), word(value)?) {
        (Some(long), value) => Ok(format!("--{long}={value}").into()),
        // Where it stands among the arguments it would be read as another option.
        (None, value) if value.starts_with('-') && value != "-" => bail!("'{value}' is no value for it"),
        (None, value) => Ok(value.into()),
    };
    match (value, is_flag) {
        (Value::Boolean(true), true) => {
            Ok(option.get_long().map(|long| format!("--{long}").into()).into_iter().collect())
        }
        (Value::Boolean(false), true) => Ok(Vec::new()),
        (_, true) => bail!("give true or false"),
        (Value::Array(values), false) => values.iter().map(spelled).collect(),
        (value, false) => Ok(vec![spelled(value)?]),
    }
}

fn word(value: &Value) -> anyhow::Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => bail!("give a string, a whole number, or a list of them"),
    }
}

/// `; did you mean 'oracles'?`, if anything is similar enough.
fn closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let similar = |known: &'a str| (strsim::jaro_winkler(word, known), known);
    let best = known.map(similar).filter(|(likeness, _)| *likeness > 0.7).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(String::new, |(_, known)| format!("; did you mean '{known}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    fn with(settings: &str, typed: &[&str]) -> Result<String, String> {
        read(settings, false, typed)
    }

    fn read(settings: &str, trusted: bool, typed: &[&str]) -> Result<String, String> {
        let command = Args::command();
        let typed: Vec<&str> = std::iter::once("dissent").chain(typed.iter().copied()).collect();
        let matches = command.clone().try_get_matches_from(&typed).unwrap();
        let added = added(&settings.parse().unwrap(), trusted, &matches, &command)
            .map_err(|error| format!("{error:#}"))?;
        Ok(added.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_are_added_as_they_would_be_typed() {
        let settings = "[hunt]\ntarget = 'duckdb'\njobs = 4\noracles = ['norec', 'tlp']\nno-reduce = true\n\
                        keep-duplicates = false\n[check]\ntarget = 'postgres'";
        let all = "--jobs=4 --no-reduce --oracles=norec --oracles=tlp duckdb";
        assert_eq!(with(settings, &["hunt"]).unwrap(), all);
        assert_eq!(with(settings, &["check", "a.sql"]).unwrap(), "--target=postgres");
        assert_eq!(with(settings, &["oracles"]).unwrap(), "");
    }

    #[test]
    fn what_is_typed_wins() {
        let settings = "[hunt]\ntarget = 'duckdb'\njobs = 4\ntime = '10m'";
        assert_eq!(with(settings, &["hunt", "sqlite", "--jobs", "2"]).unwrap(), "--time=10m");
        // A campaign that is resumed has its own; only what may be changed is.
        assert_eq!(with(settings, &["hunt", "--resume", "out"]).unwrap(), "duckdb --time=10m");
    }

    #[test]
    fn a_file_that_was_merely_found_reaches_nothing_outside() {
        for settings in [
            "[hunt]\ntarget = 'sqlite:path=/tmp/x.so'",
            "[hunt]\ntarget = ['sqlite:path=./x.so']",
            "[hunt]\nagainst = 'sqlite:path=./x.so'",
            "[hunt]\nbaseline = 'sqlite:path=./x.so'",
            "[hunt]\njoin = 'nats://host/campaign'",
            "[hunt]\njunit = '/home/me/.bashrc'",
            "[hunt]\nlog-statements = 'a/../../.bashrc'",
            "[check]\ntarget = 'postgres://host/'",
            "[report]\nout = '/home/me/.bashrc'",
            "[bench]\nagainst = './prog'",
            "[bisect]\nbuilds = './build.sh'",
            "[serve]\naddress = '0.0.0.0'",
        ] {
            assert!(read(settings, false, &["oracles"]).unwrap_err().contains("--config"), "{settings}");
            assert!(read(settings, true, &["oracles"]).is_ok(), "{settings}");
        }
        let harmless = "[hunt]\ntarget = 'duckdb@1.5.6'\nbaseline = 'duckdb@1.5.5'\njunit = 'out/junit.xml'\n\
                        seeds = ['built-in', './seeds']\njobs = 4\nsummary = 'json'";
        assert_eq!(read(harmless, false, &["oracles"]), Ok(String::new()));
    }

    #[test]
    fn a_link_does_not_lead_out_of_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", directory.path().join("link")).unwrap();
        let stays = |path: &str| stays_in(directory.path(), path);
        assert!(stays("a") && stays("./a/b") && !stays("link") && !stays("link/home/a") && !stays("a/../.."));
    }

    /// A new kind of value has to be looked at.
    #[test]
    fn all_kinds_of_values_are_known() {
        let command = Args::command();
        let mut refused = Vec::new();
        for subcommand in command.get_subcommands() {
            for option in subcommand.get_arguments().filter(|option| option.get_action().takes_values()) {
                let value = Value::String(String::new());
                if let Some(why) = refusal(option, &value) {
                    refused.push(format!("{} {}: {why}", subcommand.get_name(), option.get_id()));
                }
            }
        }
        let reaches = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("{name}: it runs or reaches something of its own"))
                .collect::<Vec<_>>()
        };
        let expected = [
            "hunt join",
            "bisect builds",
            "serve join",
            "serve address",
            "clean server",
            "bench against",
            "bench join",
            "completions shell",
            "man command",
        ];
        assert_eq!(refused, reaches(&expected));
    }

    #[test]
    fn a_value_is_not_read_as_an_option() {
        let told = with("[hunt]\ntarget = '--junit=/home/me/.bashrc'", &["hunt"]).unwrap_err();
        assert_eq!(told, "[hunt] target: '--junit=/home/me/.bashrc' is no value for it");
    }

    #[test]
    fn mistakes_come_with_a_suggestion() {
        let refusal = |settings: &str| with(settings, &["oracles"]).unwrap_err();
        assert_eq!(
            refusal("[hunt]\noracels = 'tlp'"),
            "[hunt]: there is no option 'oracels'; did you mean 'oracles'?"
        );
        assert_eq!(refusal("[hutn]\njobs = 1"), "there is no command 'hutn'; did you mean 'hunt'?");
        assert_eq!(refusal("jobs = 1"), "there is no command 'jobs'");
        assert_eq!(refusal("hunt = 1"), "'hunt' is a command: write its options below [hunt]");
        assert_eq!(refusal("[hunt]\nno-reduce = 1"), "[hunt] no-reduce: give true or false");
        let value = refusal("[hunt]\njobs = 1.5");
        assert_eq!(value, "[hunt] jobs: give a string, a whole number, or a list of them");
    }
}
