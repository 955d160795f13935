//! What oracles are made of: asking arms, comparing results, the conditions under which an answer is defined.

pub mod again;
pub mod arms;
pub mod freedom;
pub mod gate;
pub mod given;
pub mod judge;
pub mod twin;
pub mod validate;
