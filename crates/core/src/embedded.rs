//! The data files of this package, by name, as `build.rs` found them.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
