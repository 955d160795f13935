//! Keeps the signal of breakpoints deliverable: one that is blocked when a breakpoint is met ends the process.
//!
//! Some libraries block every signal in threads of their own, or install a handler for each. So their calls of a few
//! functions are led to functions here, by what the loader has filled in for them (their global offset table).
//! Signals that are blocked by system calls of their own, or while waiting in `ppoll` and the like, are not covered.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64"))]

use std::ffi::c_int;
use std::io;
use std::path::Path;
use std::ptr;

use libc::{sighandler_t, sigset_t};
use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationTarget};

use crate::scan::map_file;

/// Leads a loaded library's calls that could block or take the signal to our own functions.
pub fn keep_trap(path: &Path, base: usize) -> io::Result<()> {
    let bytes = map_file(path).map_err(io::Error::other)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let (Some(relocations), Some(symbols)) = (file.dynamic_relocations(), file.dynamic_symbol_table()) else {
        return Ok(());
    };
    let name_of = |target| match target {
        RelocationTarget::Symbol(index) => symbols.symbol_by_index(index).ok()?.name().ok(),
        _ => None,
    };
    for (offset, relocation) in relocations {
        let Some(ours) = name_of(relocation.target()).and_then(substitute) else { continue };
        let slot = base + offset as usize;
        protect(slot, slot + size_of::<usize>(), libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the loader keeps the address of the function of this name there, which it never changes again once
        // it is bound; ours has the same signature. The page was just made writable. It may have been read-only; the
        // library does not care.
        unsafe { (slot as *mut usize).write_volatile(ours) };
    }
    Ok(())
}

/// Changes what may be done with the pages between two addresses.
pub fn protect(start: usize, end: usize, protection: c_int) -> io::Result<()> {
    const PAGE: usize = 4096;
    let first = start / PAGE * PAGE;
    // SAFETY: the callers name memory of a module that is loaded, and nothing depends on it being protected.
    if unsafe { libc::mprotect(first as *mut _, end.next_multiple_of(PAGE) - first, protection) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn substitute(name: &str) -> Option<usize> {
    Some(match name {
        "pthread_sigmask" => pthread_sigmask as *const () as usize,
        "sigprocmask" => sigprocmask as *const () as usize,
        "sigaction" => sigaction as *const () as usize,
        "signal" | "bsd_signal" => signal as *const () as usize,
        _ => return None,
    })
}

/// A set without the signal of breakpoints.
///
/// # Safety
///
/// The pointer is null or to a set.
unsafe fn without_trap(set: *const sigset_t) -> Option<sigset_t> {
    // SAFETY: as above; the copy is a set.
    unsafe {
        let mut copy = *set.as_ref()?;
        libc::sigdelset(&mut copy, libc::SIGTRAP);
        Some(copy)
    }
}

fn pointer<T>(value: &Option<T>) -> *const T {
    value.as_ref().map_or(ptr::null(), ptr::from_ref)
}

unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: the caller's pointers are as the function of this name wants them.
    unsafe { libc::pthread_sigmask(how, pointer(&without_trap(set)), old) }
}

unsafe extern "C" fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: as above.
    unsafe { libc::sigprocmask(how, pointer(&without_trap(set)), old) }
}

unsafe extern "C" fn sigaction(
    number: c_int,
    action: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: as above; zero is the default action.
    unsafe {
        if number == libc::SIGTRAP {
            if !old.is_null() {
                old.write(std::mem::zeroed());
            }
            return 0;
        }
        let ours = action.as_ref().map(|action| {
            let mut copy = *action;
            libc::sigdelset(&mut copy.sa_mask, libc::SIGTRAP);
            copy
        });
        libc::sigaction(number, pointer(&ours), old)
    }
}

unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: as above.
    if number == libc::SIGTRAP { libc::SIG_DFL } else { unsafe { libc::signal(number, handler) } }
}
