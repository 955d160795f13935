//! Which findings are one bug, and since when.

mod cause;
mod features;
mod history;
pub mod known;
mod restate;
mod signature;

pub use cause::{causes, span};
pub use features::features;
pub use history::{Chronicle, Status};
pub use restate::{restated_class, restatements};
pub use signature::{abstracted, is_same_failure, signature};
