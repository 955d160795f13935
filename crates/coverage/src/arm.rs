//! Breakpoints in a library that this process has loaded.

use std::path::Path;

use crate::{CoverageError, Map};

/// Sets a breakpoint at every place of a loaded library that was not seen yet. From then on, the map shows what its code
/// does in this process, as that of this worker. One library per process.
///
/// The breakpoints stay as long as the process: the library must never be unloaded.
///
/// # Safety
///
/// No other thread is running code of the library, and it is the build that the map was made for.
pub unsafe fn arm(path: &Path, map: Map, worker: u32) -> Result<(), CoverageError> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64"))]
    {
        // SAFETY: as above.
        unsafe { here::arm(path, map, worker) }
            .map_err(|reason| CoverageError::NotArmed { path: path.to_path_buf(), reason })
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64")))]
    {
        let _ = (path, map, worker);
        Err(CoverageError::NotHere)
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64"))]
mod here {
    use std::ffi::{CStr, OsStr, c_int, c_void};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
    use std::time::Instant;

    use crate::{Map, signals};

    const INT3: u8 = 0xcc;

    /// What the signal handler needs. Made once, never freed.
    struct Armed {
        base: usize,
        map: Map,
        /// The bytes that breakpoints replaced, by the number of their place.
        original: Vec<u8>,
        worker: u32,
    }

    static ARMED: AtomicPtr<Armed> = AtomicPtr::new(ptr::null_mut());

    pub unsafe fn arm(path: &Path, map: Map, worker: u32) -> Result<(), String> {
        let start = Instant::now();
        if !ARMED.load(Ordering::Acquire).is_null() {
            return Err("this process has another library with breakpoints".to_string());
        }
        let module = Module::loaded(path).ok_or("it is not loaded")?;
        let inside = |place: &u32| module.code.iter().any(|(start, end)| (start..end).contains(&place));
        if !map.places().iter().all(inside) {
            return Err("the map is of another build".to_string());
        }
        signals::keep_trap(path, module.base).map_err(|error| error.to_string())?;
        // The handler has to put bytes back, at any time: the code stays writable.
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        module.protect(all).map_err(|error| format!("its code cannot be made writable: {error}"))?;
        let byte = |place: u32| (module.base + place as usize) as *mut u8;
        // SAFETY: every place is inside of the module's code, which is mapped and readable.
        let original = map.places().iter().map(|place| unsafe { *byte(*place) }).collect();
        let armed = Box::leak(Box::new(Armed { base: module.base, map, original, worker }));
        ARMED.store(armed, Ordering::Release);
        catch().map_err(|error| error.to_string())?;
        for (number, place) in armed.map.places().iter().enumerate() {
            // What is a breakpoint already is the engine's own.
            if !armed.map.is_seen(number) && armed.original[number] != INT3 {
                // SAFETY: inside of code that is writable now and that, as the caller promises, nobody runs. It is the
                // first byte of an instruction, which the handler puts back before that runs.
                unsafe { byte(*place).write(INT3) };
            }
        }
        armed.map.count_armed(worker, start.elapsed());
        Ok(())
    }

    /// Has the signal of breakpoints handled, and not blocked in this thread.
    fn catch() -> io::Result<()> {
        // SAFETY: zero is a valid sigaction; the handler only does what is safe in one; sets are on the stack.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_trap as *const () as usize;
            // On the stack for signals where there is one: the engine may have used up its own.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            if libc::sigaction(libc::SIGTRAP, &action, ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGTRAP);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        }
        Ok(())
    }

    /// Puts the original byte back, notes the place, and lets the thread run its instruction.
    ///
    /// It may run anywhere, in any thread and in several at once: nothing is allocated, locked or able to panic. Two
    /// threads may be at one breakpoint: both step back, whoever was first.
    extern "C" fn on_trap(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the kernel hands the handler a valid context; what is armed is never freed, and the byte is one of
        // those that were made writable.
        unsafe {
            let Some(context) = context.cast::<libc::ucontext_t>().as_mut() else { return };
            let next = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
            let at = (*next as usize).wrapping_sub(1);
            let armed = ARMED.load(Ordering::Acquire).as_ref();
            let place = armed.and_then(|armed| {
                let address = u32::try_from(at.checked_sub(armed.base)?).ok()?;
                let number = armed.map.number_of(address)?;
                let original = armed.original.get(number).filter(|byte| **byte != INT3)?;
                Some((armed, number, *original))
            });
            match place {
                Some((armed, number, original)) => {
                    AtomicU8::from_ptr(at as *mut u8).store(original, Ordering::Relaxed);
                    armed.map.note(number, armed.worker);
                    *next = at as i64;
                }
                // A breakpoint of the engine's own: it ends as it would without ours, once this handler has returned.
                None => {
                    libc::signal(libc::SIGTRAP, libc::SIG_DFL);
                    libc::raise(libc::SIGTRAP);
                }
            }
        }
    }

    /// A library in this process.
    struct Module {
        /// What is added to the addresses in its file.
        base: usize,
        /// Where its code is, by addresses in its file.
        code: Vec<(u32, u32)>,
    }

    impl Module {
        fn loaded(path: &Path) -> Option<Module> {
            struct Search {
                wanted: PathBuf,
                found: Option<Module>,
            }
            unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
                // SAFETY: the loader hands over a valid entry with a name and its program headers, and what it was
                // given to pass on.
                unsafe {
                    let (info, search) = (&*info, &mut *search.cast::<Search>());
                    if info.dlpi_name.is_null() {
                        return 0;
                    }
                    let name = Path::new(OsStr::from_bytes(CStr::from_ptr(info.dlpi_name).to_bytes()));
                    if name.as_os_str().is_empty()
                        || name.canonicalize().ok().as_ref() != Some(&search.wanted)
                    {
                        return 0;
                    }
                    let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
                    let is_code = |header: &&libc::Elf64_Phdr| {
                        header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0
                    };
                    let bounds = |header: &libc::Elf64_Phdr| {
                        (header.p_vaddr as u32, (header.p_vaddr + header.p_memsz) as u32)
                    };
                    let code = headers.iter().filter(is_code).map(bounds).collect();
                    search.found = Some(Module { base: info.dlpi_addr as usize, code });
                    1
                }
            }
            let mut search = Search { wanted: path.canonicalize().ok()?, found: None };
            // SAFETY: the search outlives the call, which hands it to `look` and to nobody else.
            unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
            search.found
        }

        fn protect(&self, protection: c_int) -> io::Result<()> {
            for (start, end) in &self.code {
                signals::protect(self.base + *start as usize, self.base + *end as usize, protection)?;
            }
            Ok(())
        }
    }
}
