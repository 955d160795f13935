//! Which findings are the same bug, and since when it exists.

mod cause;
mod history;
pub mod known;
mod signature;

pub use cause::{causes, span};
pub use history::{Chronicle, Status};
pub use signature::{features, is_same_failure, signature};
