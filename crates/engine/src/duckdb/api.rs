//! DuckDB's C interface as tables of function pointers. What every version has is required; additions come in groups that
//! are either complete or missing.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_NOW};

use super::early::Early;
use super::stub;
use crate::{EngineError, library};

/// A handle of DuckDB's: database, connection, configuration, chunk, vector, type.
pub type Handle = *mut c_void;

pub fn null() -> Handle {
    std::ptr::null_mut()
}

/// `duckdb_result`; some functions take it by value. What its words mean differs from version to version; only [`Early`]
/// looks at them.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RawResult(pub [u64; 6]);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HugeInt {
    pub lower: u64,
    pub upper: i64,
}

#[repr(C)]
pub struct Blob {
    pub data: *mut c_void,
    pub size: u64,
}

/// Declares a group of functions and how to look all of them up.
macro_rules! functions {
    ($(#[$doc:meta])* $group:ident { $($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)* }) => {
        $(#[$doc])*
        pub struct $group {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl $group {
            /// The error is the name of the first one missing.
            pub(super) fn resolve(library: &Library) -> Result<$group, &'static str> {
                Ok($group {
                    // SAFETY: a symbol of DuckDB's name has DuckDB's documented signature, which the
                    // table states; the library is never unloaded (see `load`).
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                        .map_err(|_| stringify!($name))?,)*
                })
            }
        }
    };
}

functions! {
    /// In every version.
    Common {
        duckdb_open: fn(*const c_char, *mut Handle) -> c_int;
        duckdb_close: fn(*mut Handle);
        duckdb_connect: fn(Handle, *mut Handle) -> c_int;
        duckdb_disconnect: fn(*mut Handle);
        duckdb_query: fn(Handle, *const c_char, *mut RawResult) -> c_int;
        duckdb_destroy_result: fn(*mut RawResult);
    }
}

functions! {
    /// Settings to open with, and results that are asked what they are: since 0.2.9.
    Settled {
        duckdb_create_config: fn(*mut Handle) -> c_int;
        duckdb_set_config: fn(Handle, *const c_char, *const c_char) -> c_int;
        duckdb_destroy_config: fn(*mut Handle);
        duckdb_open_ext: fn(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> c_int;
        duckdb_result_error: fn(*mut RawResult) -> *const c_char;
        duckdb_column_count: fn(*mut RawResult) -> u64;
        duckdb_rows_changed: fn(*mut RawResult) -> u64;
        duckdb_free: fn(*mut c_void);
    }
}

functions! {
    /// Results cell by cell, each converted: how versions from 0.2.9 to 0.3.3 are read.
    Cells {
        duckdb_row_count: fn(*mut RawResult) -> u64;
        duckdb_column_type: fn(*mut RawResult, u64) -> u32;
        duckdb_value_is_null: fn(*mut RawResult, u64, u64) -> bool;
        duckdb_value_boolean: fn(*mut RawResult, u64, u64) -> bool;
        duckdb_value_int64: fn(*mut RawResult, u64, u64) -> i64;
        duckdb_value_uint64: fn(*mut RawResult, u64, u64) -> u64;
        duckdb_value_hugeint: fn(*mut RawResult, u64, u64) -> HugeInt;
        duckdb_value_double: fn(*mut RawResult, u64, u64) -> f64;
        duckdb_value_varchar: fn(*mut RawResult, u64, u64) -> *mut c_char;
        duckdb_value_blob: fn(*mut RawResult, u64, u64) -> Blob;
    }
}

functions! {
    /// Results as vectors in DuckDB's own memory, since 0.3.4.
    Chunks {
        duckdb_result_chunk_count: fn(RawResult) -> u64;
        duckdb_result_get_chunk: fn(RawResult, u64) -> Handle;
        duckdb_destroy_data_chunk: fn(*mut Handle);
        duckdb_data_chunk_get_size: fn(Handle) -> u64;
        duckdb_data_chunk_get_vector: fn(Handle, u64) -> Handle;
        duckdb_vector_get_data: fn(Handle) -> *const c_void;
        duckdb_vector_get_validity: fn(Handle) -> *const u64;
        duckdb_list_vector_get_child: fn(Handle) -> Handle;
        duckdb_struct_vector_get_child: fn(Handle, u64) -> Handle;
        duckdb_column_logical_type: fn(*mut RawResult, u64) -> Handle;
        duckdb_destroy_logical_type: fn(*mut Handle);
        duckdb_get_type_id: fn(Handle) -> u32;
        duckdb_decimal_scale: fn(Handle) -> u8;
        duckdb_decimal_internal_type: fn(Handle) -> u32;
        duckdb_enum_internal_type: fn(Handle) -> u32;
        duckdb_enum_dictionary_size: fn(Handle) -> u32;
        duckdb_enum_dictionary_value: fn(Handle, u64) -> *mut c_char;
        duckdb_list_type_child_type: fn(Handle) -> Handle;
        duckdb_struct_type_child_count: fn(Handle) -> u64;
        duckdb_struct_type_child_name: fn(Handle, u64) -> *mut c_char;
        duckdb_struct_type_child_type: fn(Handle, u64) -> Handle;
    }
}

functions! {
    /// Arrays of a fixed length, since 0.10.
    Arrays {
        duckdb_array_type_child_type: fn(Handle) -> Handle;
        duckdb_array_type_array_size: fn(Handle) -> u64;
        duckdb_array_vector_get_child: fn(Handle) -> Handle;
    }
}

functions! {
    /// Statements one by one, since 0.9.
    Extraction {
        duckdb_extract_statements: fn(Handle, *const c_char, *mut Handle) -> u64;
        duckdb_destroy_extracted: fn(*mut Handle);
    }
}

functions! {
    /// Statements kept prepared, since 0.2.9.
    Preparation {
        duckdb_prepare: fn(Handle, *const c_char, *mut Handle) -> c_int;
        duckdb_prepare_error: fn(Handle) -> *const c_char;
        duckdb_destroy_prepare: fn(*mut Handle);
        duckdb_nparams: fn(Handle) -> u64;
        duckdb_bind_null: fn(Handle, u64) -> c_int;
        duckdb_bind_boolean: fn(Handle, u64, bool) -> c_int;
        duckdb_bind_int8: fn(Handle, u64, i8) -> c_int;
        duckdb_bind_int16: fn(Handle, u64, i16) -> c_int;
        duckdb_bind_int32: fn(Handle, u64, i32) -> c_int;
        duckdb_bind_int64: fn(Handle, u64, i64) -> c_int;
        duckdb_bind_hugeint: fn(Handle, u64, HugeInt) -> c_int;
        duckdb_bind_float: fn(Handle, u64, f32) -> c_int;
        duckdb_bind_double: fn(Handle, u64, f64) -> c_int;
        duckdb_bind_varchar_length: fn(Handle, u64, *const c_char, u64) -> c_int;
        duckdb_bind_blob: fn(Handle, u64, *const c_void, u64) -> c_int;
        duckdb_execute_prepared: fn(Handle, *mut RawResult) -> c_int;
    }
}

type Interrupt = unsafe extern "C" fn(Handle);

/// How a version hands out what a query returned.
pub enum Results {
    /// A structure to look into.
    Early(Early),
    /// Asked cell by cell.
    Cells(Settled, Cells),
    /// In vectors.
    Chunks(Settled, Chunks),
}

pub struct Api {
    pub common: Common,
    pub results: Results,
    pub arrays: Option<Arrays>,
    pub extraction: Option<Extraction>,
    pub preparation: Option<Preparation>,
    pub interrupt: Option<Interrupt>,
    /// Since 1.0; says nothing of statements that did not parse in some.
    pub error_type: Option<unsafe extern "C" fn(*mut RawResult) -> c_int>,
    /// Since 0.10: whether a result is rows, a count or nothing.
    pub return_type: Option<unsafe extern "C" fn(RawResult) -> c_int>,
    /// Since 0.6.
    library_version: Option<unsafe extern "C" fn() -> *const c_char>,
}

impl Api {
    /// Loads a shared library, and first the symbols that it needs from others.
    pub fn load(path: &Path) -> Result<&'static Api, EngineError> {
        let stub = stub::beside(path);
        let binding = if stub.is_file() {
            // SAFETY: our own file, which defines data and runs nothing. Its symbols must be seen by the
            // library that is loaded next.
            let symbols = unsafe { Library::open(Some(&stub), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| {
                EngineError::NotALibrary { path: stub.clone(), reason: error.to_string() }
            })?;
            std::mem::forget(symbols);
            // Not now: what the stub defines as data would be called as functions, which never happens.
            RTLD_LAZY
        } else {
            RTLD_NOW
        };
        Ok(Box::leak(Box::new(library::load(path, binding, "DuckDB", Api::resolve)?)))
    }

    fn resolve(library: &Library) -> Result<Api, &'static str> {
        let results = match (Settled::resolve(library), Chunks::resolve(library)) {
            (Ok(settled), Ok(chunks)) => Results::Chunks(settled, chunks),
            (Ok(settled), Err(_)) => Results::Cells(settled, Cells::resolve(library)?),
            // A library that is not DuckDB's is told what the newest has and it has not.
            (Err(missing), _) => Results::Early(Early::resolve(library).map_err(|_| missing)?),
        };
        // SAFETY: as in `functions`. The mangled name is the method that `duckdb_interrupt` calls in versions
        // that have it: a connection of the C interface is a pointer to its object.
        unsafe {
            let interrupt = library
                .get(b"duckdb_interrupt\0")
                .or_else(|_| library.get(b"_ZN6duckdb10Connection9InterruptEv\0"));
            Ok(Api {
                common: Common::resolve(library)?,
                results,
                arrays: Arrays::resolve(library).ok(),
                extraction: Extraction::resolve(library).ok(),
                preparation: Preparation::resolve(library).ok(),
                interrupt: interrupt.ok().map(|symbol| *symbol),
                error_type: library.get(b"duckdb_result_error_type\0").ok().map(|symbol| *symbol),
                return_type: library.get(b"duckdb_result_return_type\0").ok().map(|symbol| *symbol),
                library_version: library.get(b"duckdb_library_version\0").ok().map(|symbol| *symbol),
            })
        }
    }

    /// `1.5.6`, if the library says so without a database.
    pub fn version(&self) -> Option<String> {
        // SAFETY: DuckDB returns a constant string.
        let text = unsafe { CStr::from_ptr((self.library_version?)()) };
        Some(text.to_string_lossy().trim_start_matches('v').to_string())
    }

    /// Copies and frees a string that DuckDB allocated.
    pub fn owned_text(&self, text: *mut c_char) -> Option<Vec<u8>> {
        if text.is_null() {
            return None;
        }
        // SAFETY: a C string of DuckDB's that nobody else frees.
        unsafe {
            let bytes = CStr::from_ptr(text).to_bytes().to_vec();
            self.free(text.cast());
            Some(bytes)
        }
    }

    /// Frees what DuckDB allocated for us.
    ///
    /// # Safety
    /// Nobody else frees it or uses it later.
    pub unsafe fn free(&self, memory: *mut c_void) {
        // SAFETY: by the contract; early versions leave it to the C library.
        unsafe {
            match &self.results {
                Results::Early(_) => libc::free(memory),
                Results::Cells(settled, _) | Results::Chunks(settled, _) => (settled.duckdb_free)(memory),
            }
        }
    }

    pub fn chunks(&self) -> Option<&Chunks> {
        match &self.results {
            Results::Chunks(_, chunks) => Some(chunks),
            _ => None,
        }
    }

    /// Why a query failed.
    ///
    /// # Safety
    /// The result of a query that failed.
    pub unsafe fn error(&self, result: &mut RawResult) -> Option<String> {
        // SAFETY: by the contract; the text lives as long as the result.
        unsafe {
            let message = match &self.results {
                Results::Early(early) => early.error(result),
                Results::Cells(settled, _) | Results::Chunks(settled, _) => {
                    (settled.duckdb_result_error)(result)
                }
            };
            (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy().into_owned())
        }
    }

    /// # Safety
    /// The result of a query that succeeded.
    pub unsafe fn columns(&self, result: &mut RawResult) -> usize {
        // SAFETY: by the contract.
        unsafe {
            match &self.results {
                Results::Early(early) => early.columns(result),
                Results::Cells(settled, _) | Results::Chunks(settled, _) => {
                    (settled.duckdb_column_count)(result) as usize
                }
            }
        }
    }

    /// How many rows a statement changed that returns none.
    ///
    /// # Safety
    /// The result of a statement that succeeded.
    pub unsafe fn changed(&self, result: &mut RawResult) -> u64 {
        // SAFETY: by the contract.
        unsafe {
            match &self.results {
                Results::Early(early) => early.changed(result),
                Results::Cells(settled, _) | Results::Chunks(settled, _) => {
                    (settled.duckdb_rows_changed)(result)
                }
            }
        }
    }

    /// Opens a database in memory and connects to it; the error is DuckDB's.
    pub fn open(&self, settings: &[(&str, String)]) -> Result<(Handle, Handle), String> {
        let common = &self.common;
        let (mut database, mut connection) = (null(), null());
        match &self.results {
            Results::Early(_) => {
                // SAFETY: the out parameter is a place of ours.
                if unsafe { (common.duckdb_open)(std::ptr::null(), &mut database) } != 0 {
                    return Err("it does not say why".to_string());
                }
            }
            Results::Cells(settled, _) | Results::Chunks(settled, _) => {
                database = self.open_with(settled, settings)?;
            }
        }
        // SAFETY: the database is open, and the out parameter a place of ours.
        unsafe {
            if (common.duckdb_connect)(database, &mut connection) != 0 {
                (common.duckdb_close)(&mut database);
                return Err("no connection".to_string());
            }
        }
        Ok((database, connection))
    }

    fn open_with(&self, settled: &Settled, settings: &[(&str, String)]) -> Result<Handle, String> {
        let (mut config, mut database) = (null(), null());
        let mut error: *mut c_char = std::ptr::null_mut();
        // SAFETY: every out parameter is a place of ours; the strings are C strings that DuckDB copies; the
        // configuration is destroyed once, after its only use.
        unsafe {
            (settled.duckdb_create_config)(&mut config);
            for (name, value) in settings {
                let (name, value) = (CString::new(*name), CString::new(value.as_str()));
                if let (Ok(name), Ok(value)) = (name, value) {
                    (settled.duckdb_set_config)(config, name.as_ptr(), value.as_ptr());
                }
            }
            let opened =
                (settled.duckdb_open_ext)(c":memory:".as_ptr(), &mut database, config, &mut error) == 0;
            (settled.duckdb_destroy_config)(&mut config);
            if !opened {
                let told = self.owned_text(error).unwrap_or_default();
                return Err(String::from_utf8_lossy(&told).into_owned());
            }
        }
        Ok(database)
    }
}
