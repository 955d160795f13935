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
    /// Obtain engines now, so that hunts need no network: duckdb@1.5.6 postgres@16
    Install {
        #[arg(required = true, value_name = "TARGET")]
        targets: Vec<String>,
    },
    /// Look for versions that are newer than all known ones, and install them: what `postgres` means from then on
    Update {
        /// The engines to update: postgres, duckdb, …; without any, those that are installed
        #[arg(value_name = "ENGINE")]
        engines: Vec<String>,
    },
    /// Show the functions and operators of an engine, which is probed once
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
    /// Remove engines that were obtained: sqlite@3.30.1
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

    /// Drop also what was made on other machines, or before this one was restarted: make sure that no hunt of theirs
    /// is running
    #[arg(long)]
    pub elsewhere: bool,
}

#[derive(Debug, clap::Args)]
pub struct ShellArgs {
    /// The database: sqlite@3.30.1, duckdb, postgres@16, mariadb
    ///
    /// SQL is read from standard input and runs in a scratch database that is gone when the shell ends. A finding's
    /// repro.sql runs as it is: dissent shell sqlite@3.30.1 < repro.sql
    #[arg(value_name = "TARGET")]
    pub target: String,
}
