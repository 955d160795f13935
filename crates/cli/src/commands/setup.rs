//! `dissent completions` and `dissent man`: from the one definition of the arguments.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Args;

pub fn completions(shell: Shell) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "dissent", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(crate::NOTHING_FOUND)
}

/// One page to standard output, or all of them into a directory.
pub fn man(command: Option<&str>, out: Option<&Path>) -> anyhow::Result<u8> {
    let mut dissent = Args::command();
    dissent.build();
    if let Some(directory) = out {
        write_all(&dissent, directory)?;
        return Ok(crate::NOTHING_FOUND);
    }
    let page = match command {
        None => &dissent,
        Some(name) => match dissent.find_subcommand(name) {
            Some(command) => command,
            None => bail!("there is no command '{name}'; `dissent --help` lists them"),
        },
    };
    std::io::stdout().write_all(&roff(page)?)?;
    Ok(crate::NOTHING_FOUND)
}

fn write_all(dissent: &Command, directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    for command in std::iter::once(dissent).chain(dissent.get_subcommands()) {
        let path = directory.join(format!("{}.1", name(command)));
        std::fs::write(&path, roff(command)?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// `dissent-hunt`.
fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn roff(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).title(name(command)).render(&mut page)?;
    Ok(page)
}
