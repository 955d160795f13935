//! Every command in the documentation is one that this program understands.

#[path = "../tests/support/documented.rs"]
mod commands;

use clap::Parser;
use clap::error::ErrorKind;

use crate::args::Args;
use commands::Documented;

/// Only parsed here; `tests/documented.rs` runs what takes seconds.
#[test]
fn every_command_in_the_documentation_parses() {
    let commands = commands::all();
    assert!(commands.len() > 40, "only {} commands found", commands.len());
    for Documented { place, words, in_text } in commands {
        let words = words.iter().map(|word| example(word)).collect::<Vec<_>>();
        let Err(error) = Args::try_parse_from(["dissent"].into_iter().chain(words)) else { continue };
        let incomplete = matches!(
            error.kind(),
            ErrorKind::MissingRequiredArgument | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        let asks_for_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        assert!(asks_for_help || in_text && incomplete, "{place}: {error}");
    }
}

/// What a reader writes in the place of `N` or `FORMAT`. Any word will do for a path or a name.
fn example(word: &str) -> &str {
    match word {
        "DURATION" => "10m",
        "N" | "NUMBER" => "7",
        "FORMAT" => "json",
        _ => word,
    }
}
