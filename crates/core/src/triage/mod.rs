//! Which findings are one bug, and since when.

mod features;
mod history;
mod signature;

pub use features::features;
pub use history::{Chronicle, Status};
pub use signature::signature;
