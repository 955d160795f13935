//! The C interface of libchdb, ClickHouse as a library.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_NOW};

use crate::{EngineError, library};

/// A connection or a result of libchdb's.
pub type Handle = *mut c_void;

macro_rules! api {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        pub struct Api {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            chdb_version: Option<unsafe extern "C" fn() -> *const c_char>,
        }

        impl Api {
            /// The error is the name of the first function missing.
            fn resolve(library: &Library) -> Result<Api, &'static str> {
                // SAFETY: a symbol of libchdb's name has its documented signature, which the table
                // states; the library is never unloaded (see `load`).
                unsafe {
                    Ok(Api {
                        $($name: *library
                            .get(concat!(stringify!($name), "\0").as_bytes())
                            .map_err(|_| stringify!($name))?,)*
                        chdb_version: library.get(b"chdb_version\0").ok().map(|symbol| *symbol),
                    })
                }
            }
        }
    };
}

api! {
    chdb_connect: fn(c_int, *mut *mut c_char) -> *mut Handle;
    chdb_close_conn: fn(*mut Handle);
    chdb_query_n: fn(Handle, *const c_char, usize, *const c_char, usize) -> Handle;
    chdb_destroy_query_result: fn(Handle);
    chdb_result_buffer: fn(Handle) -> *const u8;
    chdb_result_length: fn(Handle) -> usize;
    chdb_result_error: fn(Handle) -> *const c_char;
}

impl Api {
    /// Loads a shared library.
    pub fn load(path: &Path) -> Result<&'static Api, EngineError> {
        Ok(Box::leak(Box::new(library::load(path, RTLD_NOW, "ClickHouse", Api::resolve)?)))
    }

    /// The library's own number, which is near that of the ClickHouse in it.
    pub fn version(&self) -> Option<String> {
        // SAFETY: libchdb returns a constant string.
        let text = unsafe { CStr::from_ptr((self.chdb_version?)()) };
        Some(text.to_string_lossy().into_owned())
    }

    /// Opens it with its data in this directory, and with these settings of a server.
    pub fn connect(&'static self, directory: &Path, settings: &[&str]) -> Option<Connection> {
        let path = format!("path={}", directory.to_str()?);
        let settings = std::iter::once(path.as_str()).chain(settings.iter().copied());
        let told = settings.map(|setting| CString::new(format!("--{setting}")));
        let mut words = vec![CString::from(c"clickhouse").into_bytes_with_nul()];
        for word in told {
            words.push(word.ok()?.into_bytes_with_nul());
        }
        let mut arguments: Vec<*mut c_char> = words.iter_mut().map(|word| word.as_mut_ptr().cast()).collect();
        // SAFETY: as many arguments as stated, C strings, used during the call only.
        let handle = unsafe { (self.chdb_connect)(arguments.len() as c_int, arguments.as_mut_ptr()) };
        // SAFETY: libchdb returns a place that holds the connection.
        let open = !handle.is_null() && !unsafe { *handle }.is_null();
        open.then_some(Connection { api: self, handle })
    }
}

/// Closed when dropped.
pub struct Connection {
    api: &'static Api,
    handle: *mut Handle,
}

/// What a query returned in the format it was asked for, or the error's message.
pub type Answer = Result<Vec<u8>, String>;

impl Connection {
    pub fn query(&self, sql: &str, format: &str) -> Answer {
        let api = self.api;
        // SAFETY: the connection is open; both texts are as long as stated. The result is read and
        // destroyed before anything else is asked.
        unsafe {
            let result = (api.chdb_query_n)(
                *self.handle,
                sql.as_ptr().cast(),
                sql.len(),
                format.as_ptr().cast(),
                format.len(),
            );
            if result.is_null() {
                return Err("it returned nothing".to_string());
            }
            let error = (api.chdb_result_error)(result);
            let answer = if error.is_null() {
                let (start, length) = ((api.chdb_result_buffer)(result), (api.chdb_result_length)(result));
                let bytes = if start.is_null() { &[] } else { std::slice::from_raw_parts(start, length) };
                Ok(bytes.to_vec())
            } else {
                Err(CStr::from_ptr(error).to_string_lossy().into_owned())
            };
            (api.chdb_destroy_query_result)(result);
            answer
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: open, and closed only here.
        unsafe { (self.api.chdb_close_conn)(self.handle) };
    }
}
