//! SQL as trees: the one AST, its values and types, how it is printed, how it is walked.

pub mod ast;
pub mod compare;
pub mod expr;
pub mod inspect;
pub mod name;
pub mod query;
pub mod recursion;
pub mod types;
pub mod value;
pub mod visit;

pub use ast::*;
pub use expr::*;
pub use name::Name;
pub use query::*;
pub use types::{DataType, Kind};
pub use value::Value;
