//! Real databases behind Dissent's `Engine` trait: obtained, started, spoken to.
