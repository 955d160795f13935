//! `dissent clean`: databases that Dissent made on a server and that nobody uses any more.

use std::io::{IsTerminal, Write};

use anyhow::{Context, bail};
use dissent_engine::{Owner, Target};

use crate::args::CleanArgs;
use crate::numbers::counted;

pub fn run(args: CleanArgs) -> anyhow::Result<u8> {
    let target = Target::parse(&args.server)?;
    if !target.is_server() {
        bail!("{target} is not a server; give the URL of one, such as postgres://USER@HOST/");
    }
    let source = target.obtain(&mut |_| {})?;
    let databases = source.databases().with_context(|| format!("cannot clean {target}"))?;
    let mut out = std::io::stdout().lock();
    for (name, owner) in &databases {
        writeln!(out, "{name}  {}", state(*owner))?;
    }
    let drops = |owner: Owner| owner == Owner::Ended || (owner == Owner::Elsewhere && args.elsewhere);
    let unused: Vec<&String> =
        databases.iter().filter(|(_, owner)| drops(*owner)).map(|(name, _)| name).collect();
    if unused.is_empty() {
        let others = if databases.is_empty() { "" } else { "else " };
        writeln!(out, "nothing {others}to drop on {target}")?;
        return Ok(crate::NOTHING_FOUND);
    }
    let what = counted(unused.len() as u64, "database");
    if !args.yes && !asked(&format!("drop {what} on {target}?"))? {
        bail!("nothing was dropped; --yes drops {what}");
    }
    for name in &unused {
        source.drop_database(name)?;
    }
    writeln!(out, "dropped {what} on {target}")?;
    Ok(crate::NOTHING_FOUND)
}

fn state(owner: Owner) -> String {
    match owner {
        Owner::This | Owner::Ended => "left behind".to_string(),
        Owner::Running(process) => format!("in use by process {process}"),
        Owner::Elsewhere => "created from another machine, or before this one was restarted".to_string(),
    }
}

/// Whether the user says yes; nobody does where there is no terminal.
fn asked(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(std::io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
