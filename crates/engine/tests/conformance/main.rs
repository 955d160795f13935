//! What every engine must do, whichever it is. A test per target says in that target's words how to bring
//! each thing about; an engine that cannot be obtained is skipped with a loud line, unless
//! `DISSENT_REQUIRE_ENGINES=1`.

#[path = "../common/mod.rs"]
mod common;

mod clickhouse;
mod datafusion;
mod duckdb;
mod firebird;
mod mysql;
mod postgres;
mod sqlite;
mod suite;
