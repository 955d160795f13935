//! Draws statements and queries.

use crate::dialect::Dialect;
use crate::rng::Rng;

pub struct Generator<'a> {
    pub rng: Rng,
    pub dialect: &'a Dialect,
}
