//! The switches of SQLite's optimizer. They have no SQL, so they are written as in SQLite's shell.

use std::ffi::c_int;

use super::api::{Api, sqlite3};

/// `SQLITE_TESTCTRL_OPTIMIZATIONS`: every bit of a mask switches one optimization off.
const OPTIMIZATIONS: c_int = 15;
const COMMAND: &str = ".testctrl optimizations ";

/// The optimizations that a text switches off; `None`: it is no such command.
pub fn mask(text: &str) -> Option<u32> {
    let mask = text.strip_prefix(COMMAND)?.trim();
    match mask.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => mask.parse().ok(),
    }
}

/// Switches these optimizations off and all others on. `false`: the library was built without the switch.
///
/// # Safety
/// `db` is an open connection of this library.
pub unsafe fn switch_off(api: &Api, db: *mut sqlite3, mask: u32) -> bool {
    let Some(test_control) = api.sqlite3_test_control else { return false };
    // SAFETY: the arguments that this operation takes; the caller promises the connection.
    unsafe { test_control(OPTIMIZATIONS, db, mask as c_int) };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_written_as_the_shell_reads_it() {
        assert_eq!(mask(".testctrl optimizations 0xffffffff"), Some(u32::MAX));
        assert_eq!(mask(".testctrl optimizations 8"), Some(8));
        assert_eq!(mask(".testctrl optimizations all"), None);
        assert_eq!(mask("SELECT 1"), None);
    }
}
