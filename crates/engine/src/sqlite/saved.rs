//! A database as the bytes of its file, and a connection to such bytes.

use std::ffi::{c_int, c_uint};
use std::ptr;

use super::api::{Api, sqlite3};
use super::codes;

/// `SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE`.
const OWNED_AND_GROWING: c_uint = 1 | 2;

/// The bytes of the main database; `None`: the library cannot tell them, or it is empty.
///
/// # Safety
/// `db` is an open connection of this library.
pub unsafe fn bytes_of(api: &Api, db: *mut sqlite3) -> Option<Vec<u8>> {
    let (serialize, free) = (api.sqlite3_serialize?, api.sqlite3_free?);
    let mut length = 0;
    // SAFETY: the connection is open, and "main" is a C string. What is returned has that length, and is ours to free.
    unsafe {
        let bytes = serialize(db, c"main".as_ptr(), &mut length, 0);
        if bytes.is_null() {
            return None;
        }
        let saved = std::slice::from_raw_parts(bytes, usize::try_from(length).unwrap_or(0)).to_vec();
        free(bytes.cast());
        Some(saved)
    }
}

/// Puts the bytes of a file in the place of the main database.
///
/// # Safety
/// `db` is an open connection of this library without statements.
pub unsafe fn open(api: &Api, db: *mut sqlite3, saved: &[u8]) -> bool {
    let (Some(deserialize), Some(malloc)) = (api.sqlite3_deserialize, api.sqlite3_malloc64) else {
        return false;
    };
    // SAFETY: SQLite's own memory, as long as the bytes that are copied into it; SQLite frees it when the connection
    // is closed, and also if this fails.
    unsafe {
        let copy: *mut u8 = malloc(saved.len() as u64).cast();
        if copy.is_null() {
            return false;
        }
        ptr::copy_nonoverlapping(saved.as_ptr(), copy, saved.len());
        let length = saved.len() as i64;
        let code: c_int = deserialize(db, c"main".as_ptr(), copy, length, length, OWNED_AND_GROWING);
        code == codes::OK
    }
}
