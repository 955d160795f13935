//! SQLite's C interface as a table of function pointers, so that the same code talks to the bundled copy and to any
//! number of `libsqlite3.so` files, side by side in one process.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_NOW};
use libsqlite3_sys as bundled;
pub use libsqlite3_sys::{SQLITE_TRANSIENT, sqlite3, sqlite3_stmt};

use crate::{EngineError, library};

/// What SQLite does with bytes it was given, once it is done with them.
type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;
pub type ProgressHandler = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Asked what a statement may do: the data given, the action, two names, the database, the trigger.
pub type Authorizer = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    *const c_char,
    *const c_char,
    *const c_char,
    *const c_char,
) -> c_int;

/// Declares the table once: its fields, the bundled copy's entries and the symbols to look up. A
/// library without one of the optional functions is simply older; what only an instrumented library has is
/// ours (`coverage.c`).
macro_rules! api {
    (
        required { $($name:ident: fn($($arg:ty),* $(; $variadic:tt)?) $(-> $ret:ty)?;)* }
        optional { $($opt:ident: fn($($opt_arg:ty),* $(; $opt_variadic:tt)?) $(-> $opt_ret:ty)?;)* }
        instrumented { $($own:ident: fn($($own_arg:ty),*) $(-> $own_ret:ty)?;)* }
    ) => {
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($arg),* $(, $variadic)?) $(-> $ret)?,)*
            $(pub $opt: Option<unsafe extern "C" fn($($opt_arg),* $(, $opt_variadic)?) $(-> $opt_ret)?>,)*
            $(pub $own: Option<unsafe extern "C" fn($($own_arg),*) $(-> $own_ret)?>,)*
        }

        static BUNDLED: Api = Api {
            $($name: bundled::$name,)*
            $($opt: Some(bundled::$opt),)*
            $($own: None,)*
        };

        impl Api {
            /// What every SQLite has, so that tests can pretend to be one.
            #[cfg(test)]
            pub const REQUIRED: &[&str] = &[$(stringify!($name)),*];

            /// Looks every function up; the error is the name of the first one missing.
            fn resolve(library: &Library) -> Result<Api, &'static str> {
                // SAFETY: a symbol of SQLite's name has SQLite's documented signature, which the
                // table states; the library is never unloaded (see `inspect`).
                unsafe {
                    Ok(Api {
                        $($name: *library
                            .get(concat!(stringify!($name), "\0").as_bytes())
                            .map_err(|_| stringify!($name))?,)*
                        $($opt: library
                            .get(concat!(stringify!($opt), "\0").as_bytes())
                            .ok()
                            .map(|symbol| *symbol),)*
                        $($own: library
                            .get(concat!(stringify!($own), "\0").as_bytes())
                            .ok()
                            .map(|symbol| *symbol),)*
                    })
                }
            }
        }
    };
}

api! {
    required {
        sqlite3_libversion: fn() -> *const c_char;
        sqlite3_config: fn(c_int; ...) -> c_int;
        sqlite3_db_config: fn(*mut sqlite3, c_int; ...) -> c_int;
        sqlite3_soft_heap_limit64: fn(i64) -> i64;

        sqlite3_open_v2: fn(*const c_char, *mut *mut sqlite3, c_int, *const c_char) -> c_int;
        sqlite3_close: fn(*mut sqlite3) -> c_int;
        sqlite3_extended_result_codes: fn(*mut sqlite3, c_int) -> c_int;
        sqlite3_limit: fn(*mut sqlite3, c_int, c_int) -> c_int;
        sqlite3_progress_handler: fn(*mut sqlite3, c_int, Option<ProgressHandler>, *mut c_void);
        sqlite3_errmsg: fn(*mut sqlite3) -> *const c_char;
        sqlite3_changes: fn(*mut sqlite3) -> c_int;
        sqlite3_total_changes: fn(*mut sqlite3) -> c_int;

        sqlite3_prepare_v2: fn(
            *mut sqlite3, *const c_char, c_int, *mut *mut sqlite3_stmt, *mut *const c_char
        ) -> c_int;
        sqlite3_step: fn(*mut sqlite3_stmt) -> c_int;
        sqlite3_finalize: fn(*mut sqlite3_stmt) -> c_int;
        sqlite3_reset: fn(*mut sqlite3_stmt) -> c_int;
        sqlite3_bind_parameter_count: fn(*mut sqlite3_stmt) -> c_int;
        sqlite3_bind_null: fn(*mut sqlite3_stmt, c_int) -> c_int;
        sqlite3_bind_int64: fn(*mut sqlite3_stmt, c_int, i64) -> c_int;
        sqlite3_bind_double: fn(*mut sqlite3_stmt, c_int, f64) -> c_int;
        sqlite3_bind_text: fn(*mut sqlite3_stmt, c_int, *const c_char, c_int, Destructor) -> c_int;
        sqlite3_bind_blob: fn(*mut sqlite3_stmt, c_int, *const c_void, c_int, Destructor) -> c_int;
        sqlite3_column_count: fn(*mut sqlite3_stmt) -> c_int;
        sqlite3_column_type: fn(*mut sqlite3_stmt, c_int) -> c_int;
        sqlite3_column_int64: fn(*mut sqlite3_stmt, c_int) -> i64;
        sqlite3_column_double: fn(*mut sqlite3_stmt, c_int) -> f64;
        sqlite3_column_text: fn(*mut sqlite3_stmt, c_int) -> *const c_uchar;
        sqlite3_column_blob: fn(*mut sqlite3_stmt, c_int) -> *const c_void;
        sqlite3_column_bytes: fn(*mut sqlite3_stmt, c_int) -> c_int;
    }
    optional {
        sqlite3_hard_heap_limit64: fn(i64) -> i64;
        sqlite3_test_control: fn(c_int; ...) -> c_int;
        sqlite3_serialize: fn(*mut sqlite3, *const c_char, *mut i64, c_uint) -> *mut c_uchar;
        sqlite3_deserialize: fn(*mut sqlite3, *const c_char, *mut c_uchar, i64, i64, c_uint) -> c_int;
        sqlite3_malloc64: fn(u64) -> *mut c_void;
        sqlite3_free: fn(*mut c_void);
        sqlite3_set_authorizer: fn(*mut sqlite3, Option<Authorizer>, *mut c_void) -> c_int;
    }
    instrumented {
        dissent_counters: fn(c_uint, *mut c_uint, *mut *mut u64) -> c_int;
    }
}

/// `SQLITE_CONFIG_SINGLETHREAD`: no mutexes. Sound, because a [`super::turn::Turn`] keeps other
/// threads out.
const SINGLE_THREAD: c_int = 1;

impl Api {
    /// The copy inside this program.
    pub fn bundled() -> &'static Api {
        BUNDLED.configure();
        &BUNDLED
    }

    /// Loads a shared library, ready for use.
    pub fn load(path: &Path) -> Result<&'static Api, EngineError> {
        let api = Api::inspect(path)?;
        api.configure();
        Ok(Box::leak(Box::new(api)))
    }

    /// Loads a shared library, only to look at it.
    pub fn inspect(path: &Path) -> Result<Api, EngineError> {
        library::load(path, RTLD_NOW, "SQLite", Api::resolve)
    }

    fn configure(&self) {
        // SAFETY: called with the one argument this option takes; refused without harm (MISUSE)
        // when the library is already in use.
        unsafe { (self.sqlite3_config)(SINGLE_THREAD) };
    }

    /// `3.30.1`.
    pub fn version(&self) -> String {
        // SAFETY: SQLite returns a constant string.
        unsafe { CStr::from_ptr((self.sqlite3_libversion)()) }.to_string_lossy().into_owned()
    }

    /// Caps what this library allocates in the whole process. Versions before 3.31 know only the
    /// advisory limit.
    pub fn limit_memory(&self, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        // SAFETY: plain numbers; a pragma may have lowered either limit, so both are set.
        unsafe {
            match self.sqlite3_hard_heap_limit64 {
                Some(hard) => {
                    hard(bytes);
                    (self.sqlite3_soft_heap_limit64)(0);
                }
                None => {
                    (self.sqlite3_soft_heap_limit64)(bytes);
                }
            }
        }
    }
}
