//! Older versions are inside extension modules for Python, which need symbols of an interpreter that is not there.
//! DuckDB's own code uses none of them, so it is enough that they exist: a stub library defines each as a piece of
//! data.

use std::path::{Path, PathBuf};

use crate::EngineError;
use crate::store::{Arrival, not_writable};

/// Where a library's stub is, if it needs one.
pub fn beside(library: &Path) -> PathBuf {
    library.with_file_name("python-symbols.so")
}

/// Compiles a stub next to the library, if it needs symbols of Python.
pub fn make(arrival: &Arrival, library: &Path) -> Result<(), EngineError> {
    let not_read = |reason: String| EngineError::NotALibrary { path: library.to_path_buf(), reason };
    let bytes = std::fs::read(library).map_err(|error| not_read(error.to_string()))?;
    let wanted =
        undefined_symbols(&bytes).ok_or_else(|| not_read("it is not a 64-bit ELF file".to_string()))?;
    let python: Vec<&str> =
        wanted.into_iter().filter(|name| name.starts_with("Py") || name.starts_with("_Py")).collect();
    if python.is_empty() {
        return Ok(());
    }
    let source = library.with_file_name("python-symbols.c");
    // As large as the largest of them, a type object, several times over.
    let text: String = python.iter().map(|name| format!("char {name}[8192];\n")).collect();
    std::fs::write(&source, text).map_err(not_writable(&source))?;
    let arguments = ["-shared", "-fPIC"].map(String::from);
    arrival.compiler.run(&arguments, &source, &beside(library), arrival.wanted)
}

/// The names a shared library leaves to others to define.
fn undefined_symbols(elf: &[u8]) -> Option<Vec<&str>> {
    const DYNAMIC_SYMBOLS: u64 = 11;
    if elf.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let number = |at: u64, size: usize| -> Option<u64> {
        let bytes = elf.get(at as usize..)?.get(..size)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let (sections, section_size) = (number(0x28, 8)?, number(0x3a, 2)?);
    let section = |at: u64| sections + at * section_size;
    let mut names = Vec::new();
    for at in 0..number(0x3c, 2)? {
        if number(section(at) + 4, 4)? != DYNAMIC_SYMBOLS {
            continue;
        }
        let (start, size) = (number(section(at) + 0x18, 8)?, number(section(at) + 0x20, 8)?);
        let strings = number(section(number(section(at) + 0x28, 4)?) + 0x18, 8)?;
        for symbol in (start..start + size).step_by(24) {
            if number(symbol + 6, 2)? == 0 {
                let name = elf.get((strings + number(symbol, 4)?) as usize..)?;
                let end = name.iter().position(|byte| *byte == 0)?;
                names.push(std::str::from_utf8(&name[..end]).ok()?);
            }
        }
    }
    Some(names)
}
