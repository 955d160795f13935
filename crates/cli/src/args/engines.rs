//! What the commands about engines take: engines, clean, shell.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
pub struct EnginesArgs {
    #[command(subcommand)]
    pub action: Option<EnginesAction>,
}

#[derive(Debug, Subcommand)]
pub enum EnginesAction {
    /// List every version of an engine, and which of them are installed
    List {
        /// The engine: sqlite, duckdb, postgres, …
        engine: String,
    },
    /// Download and install engines now, so that hunts need no network: duckdb@1.5.6 postgres@16
    Install {
        #[arg(required = true, value_name = "TARGET")]
        targets: Vec<String>,
    },
    /// Look for versions newer than all known ones and install them; from then on, `postgres` means the newest one
    Update {
        /// The engines to update: postgres, duckdb, … [default: all that are installed]
        #[arg(value_name = "ENGINE")]
        engines: Vec<String>,
    },
    /// Show the functions and operators of an engine, probing it if that has not been done
    Probe {
        /// The database to probe: sqlite, duckdb@1.5.6, postgres@16
        target: String,

        /// Probe again
        #[arg(long)]
        refresh: bool,

        /// List every operation with its signatures, or why it is not used
        #[arg(long)]
        list: bool,
    },
    /// Remove installed engines: sqlite@3.30.1
    Remove {
        #[arg(required = true, value_name = "ENGINE@VERSION")]
        targets: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct CleanArgs {
    /// The URL of the server
    #[arg(value_name = "URL")]
    pub server: String,

    /// Drop them without asking
    #[arg(long)]
    pub yes: bool,

    /// Also drop databases created from other machines, or before this one was restarted; make sure that no such hunt
    /// is still running
    #[arg(long)]
    pub elsewhere: bool,
}

#[derive(Debug, clap::Args)]
pub struct ShellArgs {
    /// The database: sqlite@3.30.1, duckdb, postgres@16, mariadb
    ///
    /// SQL is read from standard input and runs in a scratch database that is gone when the shell ends. A finding's
    /// repro.sql runs unchanged: dissent shell sqlite@3.30.1 < repro.sql
    #[arg(value_name = "TARGET")]
    pub target: String,
}
