//! What `--help` and `--version` say beside the options.

use std::sync::LazyLock;

pub const EXIT_CODES: &str = "Exit codes: 0 nothing found, 1 findings, 2 error.";

pub const MORE: &str = "\
Exit codes: 0 nothing found, 1 findings, 2 error.

Environment:
  DISSENT_CACHE        where engines and their catalogs are kept
                       [default: ~/.cache/dissent]
  CC                   the C compiler that builds SQLite [default: cc]
  PGPASSWORD           the password for postgres:// and cockroachdb://
  MYSQL_PWD            the password for mysql://, mariadb:// and their relatives
  CLICKHOUSE_PASSWORD  the password for clickhouse+http:// and +https://
  NO_COLOR             draw without colours
  TERM=dumb            print lines instead of the live view";

/// `0.1.0 (bad5abb0c 2026-11-18), SQLite 3.54.1 built in`.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("DISSENT_COMMIT").map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{}{commit}, SQLite {} built in", env!("CARGO_PKG_VERSION"), dissent_engine::sqlite::bundled())
});

/// A target of every kind.
pub const TARGETS: &str = "\
Examples:
  dissent hunt                               the bundled SQLite, until Ctrl-C
  dissent hunt sqlite@3.30.1 --time 2m       a version: downloaded once and kept
  dissent hunt sqlite:path=./libsqlite3.so   your own library
  dissent hunt duckdb --oracles norec,tlp    the newest DuckDB, some oracles
  dissent hunt postgres@16                   a private server that ends with it
  dissent hunt clickhouse --jobs 4           ClickHouse as a library (chdb)
  dissent hunt mysql://user@host:3306/       your server, in databases that
                                             Dissent creates and drops
  dissent hunt clickhouse+http://host:8123/  a ClickHouse server (also +https)
  dissent hunt --resume dissent-out/sqlite-20261118-012345

`dissent engines` lists engines and versions. Passwords can come from PGPASSWORD
and MYSQL_PWD; engines are kept in DISSENT_CACHE. `dissent --help` says more, and
how to keep options in dissent.toml.";
