//! A campaign: many workers hunting one target, their findings on disk, the user informed.

pub mod bugs;
pub mod catalog;
pub mod death;
mod desk;
pub mod duration;
mod observer;
mod plan;
pub mod position;
pub mod record;
pub mod reducer;
pub mod regroup;
pub mod scripts;
pub mod store;
pub mod summary;
mod supervisor;
pub mod system;
pub mod worker;

pub use observer::Observer;
pub use plan::{Growth, Guidance, Outcome, Plan};
pub use supervisor::Supervisor;

/// Exit codes of a worker.
const WELL: u8 = 0;
const TROUBLE: u8 = 2;
