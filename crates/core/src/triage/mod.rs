//! Which findings are the same bug, and since when it exists.

mod cause;
mod history;
mod identity;
pub mod known;
mod signature;
mod switches;

pub use cause::{Outcome, find_cause};
pub use history::{Chronicle, Status, span};
pub use identity::{Identity, causes};
pub use signature::{features, is_same_failure, signature};
pub use switches::parts as parts_of_value;
