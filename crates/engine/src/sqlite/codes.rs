//! SQLite's result codes: their names, and the class of each.

use std::ffi::c_int;

use dissent_core::engine::ErrorClass;

pub const OK: c_int = 0;
pub const NOMEM: c_int = 7;
pub const INTERRUPT: c_int = 9;
pub const TOOBIG: c_int = 18;
pub const ROW: c_int = 100;
pub const DONE: c_int = 101;

const ERROR: c_int = 1;
const INTERNAL: c_int = 2;
const IOERR: c_int = 10;
const CORRUPT: c_int = 11;
const FULL: c_int = 13;
const CONSTRAINT: c_int = 19;
const MISUSE: c_int = 21;
const NOTADB: c_int = 26;

/// When an error came: before a row was read, or while rows were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Prepare,
    Step,
}

pub fn class(code: c_int, stage: Stage, message: &str) -> ErrorClass {
    match code & 0xff {
        ERROR if stage == Stage::Prepare => class_at_prepare(message),
        CONSTRAINT => ErrorClass::Constraint,
        // An input/output error of a database in memory is a temporary file that found no room.
        NOMEM | INTERRUPT | FULL | IOERR => ErrorClass::Limit,
        // A database in memory was written by nobody but SQLite, and the codes that complain about
        // the caller complain about a caller that does the same with every statement.
        CORRUPT | INTERNAL | NOTADB | MISUSE => ErrorClass::Internal,
        _ => ErrorClass::Runtime,
    }
}

/// The only place that reads a message: SQLite has one code, SQLITE_ERROR, for bad grammar, for
/// unknown names and for its own limits.
fn class_at_prepare(message: &str) -> ErrorClass {
    const SYNTAX: [&str; 3] = ["near \"", "unrecognized token", "incomplete input"];
    const LIMIT: [&str; 5] =
        ["Expression tree is too large", "parser stack overflow", "Recursion limit", "too many ", "at most "];
    let starts_with_one_of = |openings: &[&str]| openings.iter().any(|opening| message.starts_with(opening));
    if starts_with_one_of(&SYNTAX) {
        ErrorClass::Syntax
    } else if starts_with_one_of(&LIMIT) {
        ErrorClass::Limit
    } else {
        ErrorClass::Semantic
    }
}

/// `SQLITE_CONSTRAINT_UNIQUE` for 2067.
pub fn name(code: c_int) -> String {
    let primary = code & 0xff;
    let Some((_, word, details)) = NAMES.iter().find(|(number, ..)| *number == primary) else {
        return format!("SQLITE_{code}");
    };
    let extension = (code >> 8) as usize;
    match extension.checked_sub(1).map(|at| details.get(at)) {
        None => format!("SQLITE_{word}"),
        Some(Some(detail)) if !detail.is_empty() => format!("SQLITE_{word}_{detail}"),
        Some(_) => format!("SQLITE_{word}_{extension}"),
    }
}

/// Number, name, and the names of the extended codes from 1 on.
#[rustfmt::skip]
const NAMES: &[(c_int, &str, &[&str])] = &[
    (1, "ERROR", &["MISSING_COLLSEQ", "RETRY", "SNAPSHOT", "RESERVESIZE", "KEY", "UNABLE"]),
    (2, "INTERNAL", &[]),
    (3, "PERM", &[]),
    (4, "ABORT", &["", "ROLLBACK"]),
    (5, "BUSY", &["RECOVERY", "SNAPSHOT", "TIMEOUT"]),
    (6, "LOCKED", &["SHAREDCACHE", "VTAB"]),
    (7, "NOMEM", &[]),
    (8, "READONLY", &["RECOVERY", "CANTLOCK", "ROLLBACK", "DBMOVED", "CANTINIT", "DIRECTORY"]),
    (9, "INTERRUPT", &[]),
    (10, "IOERR", &[
        "READ", "SHORT_READ", "WRITE", "FSYNC", "DIR_FSYNC", "TRUNCATE", "FSTAT", "UNLOCK", "RDLOCK",
        "DELETE", "BLOCKED", "NOMEM", "ACCESS", "CHECKRESERVEDLOCK", "LOCK", "CLOSE", "DIR_CLOSE",
        "SHMOPEN", "SHMSIZE", "SHMLOCK", "SHMMAP", "SEEK", "DELETE_NOENT", "MMAP", "GETTEMPPATH",
        "CONVPATH", "VNODE", "AUTH", "BEGIN_ATOMIC", "COMMIT_ATOMIC", "ROLLBACK_ATOMIC", "DATA",
        "CORRUPTFS", "IN_PAGE", "BADKEY", "CODEC",
    ]),
    (11, "CORRUPT", &["VTAB", "SEQUENCE", "INDEX"]),
    (12, "NOTFOUND", &[]),
    (13, "FULL", &[]),
    (14, "CANTOPEN", &["NOTEMPDIR", "ISDIR", "FULLPATH", "CONVPATH", "DIRTYWAL", "SYMLINK"]),
    (15, "PROTOCOL", &[]),
    (16, "EMPTY", &[]),
    (17, "SCHEMA", &[]),
    (18, "TOOBIG", &[]),
    (19, "CONSTRAINT", &[
        "CHECK", "COMMITHOOK", "FOREIGNKEY", "FUNCTION", "NOTNULL", "PRIMARYKEY", "TRIGGER", "UNIQUE",
        "VTAB", "ROWID", "PINNED", "DATATYPE",
    ]),
    (20, "MISMATCH", &[]),
    (21, "MISUSE", &[]),
    (22, "NOLFS", &[]),
    (23, "AUTH", &["USER"]),
    (24, "FORMAT", &[]),
    (25, "RANGE", &[]),
    (26, "NOTADB", &[]),
    (27, "NOTICE", &["RECOVER_WAL", "RECOVER_ROLLBACK", "RBU"]),
    (28, "WARNING", &["AUTOINDEX"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_header() {
        assert_eq!(name(1), "SQLITE_ERROR");
        assert_eq!(name(267), "SQLITE_CORRUPT_VTAB");
        assert_eq!(name(516), "SQLITE_ABORT_ROLLBACK");
        assert_eq!(name(2067), "SQLITE_CONSTRAINT_UNIQUE");
        assert_eq!(name(3091), "SQLITE_CONSTRAINT_DATATYPE");
        assert_eq!(name(3082), "SQLITE_IOERR_NOMEM");
        assert_eq!(name(1 | 99 << 8), "SQLITE_ERROR_99");
        assert_eq!(name(77), "SQLITE_77");
    }

    #[test]
    fn codes_that_accuse_sqlite_itself_are_internal() {
        for code in [11, 267, 2, 26, 21] {
            assert_eq!(class(code, Stage::Prepare, ""), ErrorClass::Internal);
            assert_eq!(class(code, Stage::Step, ""), ErrorClass::Internal);
        }
    }
}
