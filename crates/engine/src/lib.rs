//! Real databases behind Dissent's `Engine` trait: installed, started, queried.
//!
//! A user names a [`Target`] (`sqlite@3.30.1`). Obtaining it gives a [`Source`], which can be passed to another
//! process. Opening that gives an engine.

#![warn(missing_docs)]

mod armed;
mod clickhouse;
mod confine;
mod driver;
mod duckdb;
mod error;
pub mod fake;
mod firebird;
mod interpreter;
mod launch;
mod library;
mod loader;
mod mysql;
mod own;
mod postgres;
mod process;
mod product;
mod server;
mod settings;
mod source;
mod spell;
pub mod sqlite;
mod store;
mod target;
mod tls;
mod url;
mod wall;
mod worker;

pub use confine::{Confinement, User};
pub use error::EngineError;
pub use own::{Owner, leave};
pub use process::process_start;
pub use product::{Product, password_variables, products};
pub use server::{Home, remove_homes};
pub use source::Source;
pub use store::{Available, State, Updated, cache_directory, installed_bytes, remove, update, versions};
pub use target::{Step, Target};
pub use url::{hide_password, hide_passwords};
pub use wall::{Wall, is_possible as wall_is_possible, make_room};
