//! What oracles are made of: running arms, comparing results, and the conditions under which a result is defined.

pub mod again;
pub mod arms;
pub mod copy;
pub mod forms;
pub mod freedom;
pub mod gate;
pub mod given;
pub mod judge;
pub mod place;
pub mod twin;
pub mod unchanged;
pub mod validate;
