//! The wall around SQLite: no statement opens a file. Databases are in memory, so only ATTACH and VACUUM INTO could.
//!
//! An authorizer is asked about every column that a statement names, which costs some percent of a hunt. So it is there
//! only while a statement runs that could attach something.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::SqliteEngine;
use super::api::Authorizer;
use dissent_core::engine::{ErrorClass, SqlError};

const ATTACH: c_int = 24;
const ALLOWED: c_int = 0;
const DENIED: c_int = 1;

/// Whether a statement could attach a database: by its first word, or because a comment hides that.
pub fn may_attach(sql: &str) -> bool {
    let sql = sql.trim_start().as_bytes();
    let begins_with =
        |word: &str| sql.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    // SQLite takes a byte order mark for a blank.
    matches!(sql.first(), Some(b'-' | b'/' | b';' | 0x80..)) || begins_with("attach") || begins_with("vacuum")
}

/// VACUUM attaches an empty name itself. A name that is not written out is not known here.
unsafe extern "C" fn authorize(
    _: *mut c_void,
    action: c_int,
    file: *const c_char,
    _: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    if action != ATTACH {
        return ALLOWED;
    }
    // SAFETY: null, or a C string of SQLite's that lives for this call.
    let file = (!file.is_null()).then(|| unsafe { CStr::from_ptr(file) }.to_bytes());
    if matches!(file, Some(b"" | b":memory:")) { ALLOWED } else { DENIED }
}

impl SqliteEngine {
    /// Runs something about this statement, which opens no file.
    pub(super) fn walled<T>(
        &self,
        sql: &str,
        run: impl FnOnce(&SqliteEngine) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        if !may_attach(sql) {
            return run(self);
        }
        let Some(set) = self.api.sqlite3_set_authorizer else {
            let message =
                "not authorized: this library cannot keep a statement from opening files".to_string();
            return Err(SqlError { class: ErrorClass::Semantic, code: "SQLITE_AUTH".to_string(), message });
        };
        let authorizer = |asked: Option<Authorizer>| {
            // SAFETY: the connection is open, and what is asked needs no data of ours.
            unsafe { set(self.db, asked, std::ptr::null_mut()) };
        };
        authorizer(Some(authorize));
        let returned = run(self);
        authorizer(None);
        returned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissent_core::engine::{Engine, Reply};

    #[test]
    fn no_statement_opens_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x.db").display().to_string();
        let mut engine = SqliteEngine::bundled().unwrap();
        let denied = |reply: Reply| match reply {
            Reply::Failed(error) => assert!(error.message.contains("authoriz"), "{error}"),
            other => panic!("{other:?}"),
        };
        for sql in [
            format!("ATTACH '{file}' AS a1"),
            format!("/* x */ attach database '{file}' AS a1"),
            format!("-- x\nVACUUM INTO '{file}'"),
            format!("\u{feff}ATTACH '{file}' AS a1"),
            format!("ATTACH '{file}' || '' AS a1"),
            format!("VACUUM main INTO '{file}'"),
        ] {
            denied(engine.execute(&sql).unwrap());
        }
        assert!(engine.prepare(&format!("ATTACH '{file}' AS a1"), &[]).unwrap().is_err());
        let vacuum = engine.prepare(&format!("VACUUM INTO '{file}'"), &[]).unwrap().unwrap();
        denied(engine.execute_prepared(&vacuum, &[]).unwrap());
        for sql in [
            "CREATE TABLE t0(c0)",
            "VACUUM",
            "ATTACH ':memory:' AS a1",
            "CREATE TABLE a1.t1(c0)",
            "DETACH a1",
        ] {
            assert!(matches!(engine.execute(sql).unwrap(), Reply::Done { .. }), "{sql}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
