//! `dissent`: asks a database the same question in two ways and reports where it disagrees with itself.

mod args;
mod commands;
#[cfg(test)]
mod documented;
mod ending;
mod help;
mod numbers;
mod progress;
mod screen;
mod secrets;
mod settings;
mod summary;
mod suspicions;
mod text;
mod verbosity;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};

/// Trees come and go for every statement. Kept apart from the engine's own memory, they cost less and
/// leave the engine's allocator as quick as it is without us (`dissent bench` shows the difference).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the process says to whoever started it; errors of every kind are [`TROUBLE`].
const NOTHING_FOUND: u8 = 0;
const FOUND: u8 = 1;
const TROUBLE: u8 = 2;

fn main() -> ExitCode {
    dissent_campaign::run_worker_if_asked();
    let args = match read_arguments() {
        Ok(Ok(args)) => args,
        Ok(Err(usage)) => return explain_usage(&usage),
        Err(error) => return explain(&error),
    };
    verbosity::set(args.quiet, args.verbose);
    if verbosity::is_verbose() && !dissent_engine::wall_is_possible() {
        let _ = writeln!(
            std::io::stderr(),
            "note: this kernel has no Landlock (Linux 5.19), so workers are not confined by it; see SECURITY.md"
        );
    }
    dissent_campaign::report_panics();
    // Other commands leave statements to workers.
    if matches!(args.command, Command::Shell(_)) {
        // SAFETY: the thread that hears signals, the first one, is not there yet.
        if let Err(error) = unsafe { dissent_engine::make_room() } {
            return explain(&error.into());
        }
    }
    if let Err(error) = ending::listen() {
        return explain(&error);
    }
    let ended = std::panic::catch_unwind(|| commands::run(args.command));
    ending::leave();
    match ended {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) if is_broken_pipe(&error) => ExitCode::from(TROUBLE),
        Ok(Err(error)) => explain(&error),
        Err(_) => ExitCode::from(TROUBLE),
    }
}

/// What was typed, and what `dissent.toml` says beside it.
fn read_arguments() -> anyhow::Result<Result<Args, clap::Error>> {
    let (command, typed) = (Args::command(), std::env::args_os().collect::<Vec<_>>());
    secrets::conceal(&typed);
    let matches = match command.clone().try_get_matches_from(&typed) {
        Ok(matches) => matches,
        Err(usage) => return Ok(Err(usage)),
    };
    let all = settings::apply(typed, &matches, &command)?;
    Ok(Args::try_parse_from(all))
}

fn explain(error: &anyhow::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "dissent: {}", text::plain(&secrets::hide(&format!("{error:#}"))));
    ExitCode::from(TROUBLE)
}

/// Clap's own words, in the shape of every other message.
fn explain_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::from(NOTHING_FOUND);
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(TROUBLE);
    }
    let text = secrets::hide(&error.render().to_string());
    let _ = write!(std::io::stderr(), "dissent: {}", text.strip_prefix("error: ").unwrap_or(&text));
    ExitCode::from(TROUBLE)
}

/// Whoever read our output went away (`dissent oracles | head -1`): nothing left to say, nobody to hear it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
