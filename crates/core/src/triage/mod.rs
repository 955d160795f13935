//! Which findings are one bug.

mod features;
mod signature;

pub use features::features;
pub use signature::{family, signature};
