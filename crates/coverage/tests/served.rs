//! A program of the C compiler that loads `preload.c`, as servers do.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use dissent_coverage::{Code, Depth, Map, preload};

/// Children run the same new code, one after the other.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int yes[4] = {1, 1, 1, 1};
__attribute__((noinline)) int mix(int x, int n) { return x * 31 + n; }
#define STEP(n) if (yes[n % 4]) x = mix(x, n);
#define STEPS(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3) STEP(n + 4) STEP(n + 5)
__attribute__((noinline)) int in_child(int x) {
  STEPS(0) STEPS(6) STEPS(12) STEPS(18)
  return x;
}
int main(void) {
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) _exit(in_child(i) & 1);
    int status;
    waitpid(child, &status, 0);
  }
  int kept = getenv("LD_PRELOAD") != 0 || getenv("DISSENT_COVERAGE") != 0;
  puts(kept ? "kept" : "taken");
  return 0;
}
"#;

fn compile(directory: &Path, source: &str, made: &str, arguments: &[&str]) -> PathBuf {
    let (file, made) = (directory.join(format!("{made}.c")), directory.join(made));
    std::fs::write(&file, source).unwrap();
    let status = Command::new("cc").args(arguments).arg("-o").arg(&made).arg(&file).status().unwrap();
    assert!(status.success());
    made
}

#[test]
fn a_server_behind_other_programs_is_watched_and_its_children_pay_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let library = compile(directory.path(), preload::SOURCE, "preload.so", &preload::ARGUMENTS);
    let program = compile(directory.path(), SOURCE, "server", &["-O2", "-fno-inline"]);
    let code = Code::of(&program, Depth::Blocks, directory.path()).unwrap();
    let path = directory.path().join("coverage.map");
    Map::create(&path, &code).unwrap();
    let (map, file) =
        (Map::open(&path).unwrap(), OpenOptions::new().read(true).write(true).open(&path).unwrap());

    // A shell starts it twice: as a child, and in its own place.
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\"; exec sh -c 'exec \"$0\"' \"$0\""]).arg(&program);
    command.envs(preload::environment(&library, &file, 2).unwrap());
    let descriptor = file.as_raw_fd();
    let inherit = move || {
        // SAFETY: it is open, and the call sets a flag of it.
        match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec one call is made, which may be made there.
    unsafe { command.pre_exec(inherit) };
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "taken\ntaken\n");
    assert_eq!((map.armed(2), map.armed(0)), (2, 0));
    assert!(map.arming().is_some_and(|arming| !arming.is_zero()));
    // What one child has met, the next one does not meet again; nor does another server.
    assert!(map.hits() > 30, "{}", map.hits());
    assert_eq!(map.traps(), map.hits());
}
