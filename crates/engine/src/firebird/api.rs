//! The functions of Firebird's C interface that we use, found in a shared library.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_short, c_uint, c_ushort};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::area::Area;
use crate::{EngineError, library};

/// What a call left: numbers of errors, and their arguments.
pub type Status = [isize; 20];
/// A database, a transaction, a statement or a blob; 0 is none.
pub type Handle = c_uint;
/// A blob's number in its database.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Quad {
    pub high: i32,
    pub low: u32,
}

/// What a transaction is started on.
#[repr(C)]
pub struct Started {
    pub database: *mut Handle,
    pub length: c_long,
    pub options: *const u8,
}

/// Where the engine itself is.
const PLUGINS: &str = "plugins";

macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) -> $ret:ty;)*) => {
        pub struct Api { $(pub $name: unsafe extern "C" fn($($arg),*) -> $ret,)* }

        impl Api {
            fn resolve(library: &Library) -> Result<Api, &'static str> {
                // SAFETY: the signatures are those of `ibase.h`, the same since Firebird 3.
                unsafe {
                    Ok(Api { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())
                        .map_err(|_| stringify!($name))?,)* })
                }
            }
        }
    };
}

functions! {
    isc_create_database: fn(*mut Status, c_short, *const c_char, *mut Handle, c_short, *const u8, c_short) -> isize;
    isc_attach_database: fn(*mut Status, c_short, *const c_char, *mut Handle, c_short, *const u8) -> isize;
    isc_detach_database: fn(*mut Status, *mut Handle) -> isize;
    isc_start_multiple: fn(*mut Status, *mut Handle, c_short, *mut Started) -> isize;
    isc_commit_transaction: fn(*mut Status, *mut Handle) -> isize;
    isc_rollback_transaction: fn(*mut Status, *mut Handle) -> isize;
    isc_dsql_allocate_statement: fn(*mut Status, *mut Handle, *mut Handle) -> isize;
    isc_dsql_prepare: fn(*mut Status, *mut Handle, *mut Handle, c_ushort, *const c_char, c_ushort, *mut Area) -> isize;
    isc_dsql_describe: fn(*mut Status, *mut Handle, c_ushort, *mut Area) -> isize;
    isc_dsql_describe_bind: fn(*mut Status, *mut Handle, c_ushort, *mut Area) -> isize;
    isc_dsql_execute: fn(*mut Status, *mut Handle, *mut Handle, c_ushort, *mut Area) -> isize;
    isc_dsql_execute2: fn(*mut Status, *mut Handle, *mut Handle, c_ushort, *mut Area, *mut Area) -> isize;
    isc_dsql_fetch: fn(*mut Status, *mut Handle, c_ushort, *mut Area) -> isize;
    isc_dsql_free_statement: fn(*mut Status, *mut Handle, c_ushort) -> isize;
    isc_dsql_sql_info: fn(*mut Status, *mut Handle, c_short, *const u8, c_short, *mut u8) -> isize;
    isc_open_blob2: fn(*mut Status, *mut Handle, *mut Handle, *mut Handle, *mut Quad, c_ushort, *const u8) -> isize;
    isc_get_segment: fn(*mut Status, *mut Handle, *mut c_ushort, c_ushort, *mut u8) -> isize;
    isc_close_blob: fn(*mut Status, *mut Handle) -> isize;
    fb_interpret: fn(*mut c_char, c_uint, *mut *const isize) -> c_int;
    fb_sqlstate: fn(*mut c_char, *const isize) -> ();
}

impl Api {
    /// Loads the client library, which loads the engine. It keeps its locks and temporary files in `home`.
    pub fn load(client: &Path, home: &Path) -> Result<&'static Api, EngineError> {
        let beside = client.parent().unwrap_or(client);
        // A package has all in one directory, an installed server has its libraries in one of their own.
        let above =
            beside.parent().filter(|above| !beside.join(PLUGINS).is_dir() && above.join(PLUGINS).is_dir());
        let variables: [(&str, &OsStr); 3] = [
            ("FIREBIRD", above.unwrap_or(beside).as_os_str()),
            ("FIREBIRD_LOCK", home.as_os_str()),
            ("FIREBIRD_TMP", home.as_os_str()),
        ];
        for (name, value) in variables {
            // SAFETY: a worker opens its engine in its first thread, before there is another one.
            unsafe { std::env::set_var(name, value) };
        }
        // Its plugins need them by name, and look for them where they are not.
        for needed in ["libtommath.so.1", "libtomcrypt.so.1"].map(|name| beside.join(name)) {
            if needed.is_file() {
                // SAFETY: libraries of pure functions, whose initialisers do nothing.
                let loaded = unsafe { Library::open(Some(&needed), RTLD_NOW | RTLD_GLOBAL) };
                let refused = |reason| EngineError::NotALibrary { path: needed.clone(), reason };
                std::mem::forget(loaded.map_err(|error| refused(error.to_string()))?);
            }
        }
        Ok(Box::leak(Box::new(library::load(client, RTLD_NOW | RTLD_GLOBAL, "Firebird", Api::resolve)?)))
    }

    /// All that a status says, and its SQLSTATE.
    pub fn told(&self, status: &Status) -> (String, String) {
        let mut lines: Vec<String> = Vec::new();
        let mut at: *const isize = status.as_ptr();
        let mut buffer = [0 as c_char; 1024];
        let mut state = [0 as c_char; 6];
        // SAFETY: the status is complete; the buffers are as long as stated, and end with a zero.
        unsafe {
            while (self.fb_interpret)(buffer.as_mut_ptr(), buffer.len() as c_uint, &mut at) != 0 {
                lines.push(CStr::from_ptr(buffer.as_ptr()).to_string_lossy().into_owned());
            }
            (self.fb_sqlstate)(state.as_mut_ptr(), status.as_ptr());
            (lines.join("; "), CStr::from_ptr(state.as_ptr()).to_string_lossy().into_owned())
        }
    }
}
