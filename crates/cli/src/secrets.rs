//! Passwords in what was typed: other users of the machine can read the command line of every process.

use std::ffi::OsString;

/// Takes the passwords of addresses out of this process's command line, as `ps` and `/proc` show it. Must be called
/// after the arguments were read, and before there is a second thread.
pub fn conceal(typed: &[OsString]) {
    let hides =
        |word: &OsString| word.to_str().is_some_and(|word| dissent_engine::hide_password(word) != word);
    if !typed.iter().any(hides) {
        return;
    }
    let Some((start, end)) = arguments() else { return };
    // SAFETY: the kernel says that the arguments of this process are there, on its stack, which is writable and stays as
    // long as the process does. Nobody else looks at them now: there is one thread.
    let memory = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, end - start) };
    memory.split_mut(|byte| *byte == 0).for_each(overwrite);
}

/// Where the kernel finds the arguments: fields 48 and 49 of `/proc/self/stat`.
fn arguments() -> Option<(usize, usize)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(45);
    let (start, end) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (0 < start && start < end).then_some((start, end))
}

fn overwrite(word: &mut [u8]) {
    let Ok(text) = std::str::from_utf8(word) else { return };
    let hidden = dissent_engine::hide_password(text);
    if hidden == text {
        return;
    }
    // What is left over becomes the end of the word.
    let room = word.len();
    word.fill(0);
    let shown = hidden.len().min(room);
    word[..shown].copy_from_slice(&hidden.as_bytes()[..shown]);
}

/// A message without the passwords of addresses that it repeats.
pub fn hide(message: &str) -> String {
    dissent_engine::hide_passwords(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_overwritten_in_its_place() {
        let mut word = b"postgres://me:s3cret@host/".to_vec();
        overwrite(&mut word);
        assert_eq!(word, b"postgres://me:***@host/\0\0\0");
        let mut short = b"mysql://me:a@host/".to_vec();
        overwrite(&mut short);
        assert_eq!(short, b"mysql://me:***@hos");
    }
}
