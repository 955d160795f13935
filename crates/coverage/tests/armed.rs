//! A library that the C compiler makes, with breakpoints in it. A process can have one such library, so this is one test.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::process::Command;

use dissent_coverage::{Code, Depth, Map, Reader, Symbols, arm};
use libloading::Library;

const SOURCE: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int branch(int x) {
  if (x > 100) return x * 3 - pthread_equal(pthread_self(), pthread_self());
  return x + 1;
}
__attribute__((noinline)) int loop(int n) {
  volatile int sum = 0;
  for (int i = 0; i < n; i++) sum += i;
  return sum;
}
__attribute__((noinline)) int never(int x) { return branch(x) + loop(x); }

static void *work(void *blocked) {
  sigset_t all, old;
  sigfillset(&all);
  if (blocked) pthread_sigmask(SIG_SETMASK, &all, &old);
  extern int many(int);
  return (void *)(long)many(7);
}
/* Each step has two blocks, which many threads meet at once. */
static volatile int yes[4] = {1, 1, 1, 1};
__attribute__((noinline)) int mix(int x, int n) { return x * 31 + n; }
#define STEP(n) if (yes[n % 4]) x = mix(x, n);
#define STEPS(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3) STEP(n + 4) STEP(n + 5)
__attribute__((noinline)) int many(int x) {
  STEPS(0) STEPS(6) STEPS(12) STEPS(18) STEPS(24) STEPS(30)
  return x;
}
int threads(int blocked) {
  pthread_t all[8];
  void *result, *first = 0;
  int same = 1;
  for (int i = 0; i < 8; i++) pthread_create(&all[i], 0, work, blocked ? all : 0);
  for (int i = 0; i < 8; i++) {
    pthread_join(all[i], &result);
    if (i == 0) first = result;
    same &= result == first;
  }
  return same;
}
static void handler(int number) { (void)number; }
int take_signal(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  return sigaction(SIGTRAP, &action, 0) == 0 && signal(SIGTRAP, handler) != SIG_ERR;
}
__attribute__((noinline)) int in_child(int x) { return x * 7 + (x > 3 ? 1 : getpid() < 0); }
int forks(int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) {
    pid_t child = fork();
    if (child == 0) _exit(in_child(i) & 1);
    int status;
    waitpid(child, &status, 0);
    sum += WIFEXITED(status);
  }
  return sum;
}
"#;

fn compile(directory: &Path) -> PathBuf {
    let (source, library) = (directory.join("code.c"), directory.join("libcode.so"));
    std::fs::write(&source, SOURCE).unwrap();
    let arguments = ["-shared", "-fPIC", "-O2", "-fno-inline", "-pthread", "-o"];
    let status = Command::new("cc").args(arguments).arg(&library).arg(&source).status().unwrap();
    assert!(status.success());
    library
}

#[test]
fn breakpoints_show_what_is_new_and_disappear() {
    let directory = tempfile::tempdir().unwrap();
    let path = compile(directory.path());
    let code = Code::of(&path, Depth::Blocks, directory.path()).unwrap();
    assert_eq!(Code::scan(&path, Depth::Blocks).unwrap(), code);
    // The second time it is read, not scanned.
    assert_eq!(Code::of(&path, Depth::Blocks, directory.path()).unwrap(), code);
    let functions = Code::scan(&path, Depth::Functions).unwrap();
    assert_eq!((functions.places.len(), &functions.functions), (code.functions.len(), &code.functions));
    assert!(code.places.len() > 40 && functions.places.len() < 30, "{code:?}");

    let (file, symbols) = (directory.path().join("coverage.map"), Symbols::of(&path).unwrap());
    Map::create(&file, &code).unwrap();
    let open = || Map::open(&file).unwrap();
    let mut reader = Reader::new(open(), 3);
    // SAFETY: a library that was made for this; its functions have these types.
    let library = unsafe { Library::new(&path).unwrap() };
    let call = |name: &str, argument: c_int| -> c_int {
        // SAFETY: as above.
        unsafe { (library.get::<unsafe extern "C" fn(c_int) -> c_int>(name.as_bytes()).unwrap())(argument) }
    };
    // SAFETY: nobody runs code of the library yet, and the map is of this build.
    unsafe { arm(&path, open(), 3).unwrap() };
    assert_eq!((open().armed(3), open().armed(2)), (1, 0));
    // SAFETY: the same.
    assert!(unsafe { arm(&path, open(), 3) }.is_err());
    let mut new = || {
        let mut names = Vec::new();
        reader.take(&mut |number| {
            let function = code.function_of(code.places[number as usize]).unwrap();
            names.push(symbols.name(code.functions[function]).unwrap_or_default());
        });
        names
    };

    assert_eq!((call("branch", 1), new()), (2, vec!["branch".to_string(); 2]));
    assert_eq!((call("branch", 5), new()), (6, vec![]));
    assert_eq!((call("branch", 200), new().len()), (599, 1));
    assert_eq!(call("loop", 10), 45);
    assert!(new().iter().all(|name| name == "loop"));

    // Threads that meet the same breakpoints at once all go on, also those that block all signals.
    assert_eq!(call("threads", 1), 1);
    let met = new();
    assert!(met.iter().filter(|name| *name == "many").count() > 30, "{met:?}");
    assert_eq!((call("take_signal", 0), call("in_child", 9)), (1, 64));
    let before = open().hits();
    assert_eq!(call("forks", 20), 20);
    // What only children did is seen, too.
    assert!(new().contains(&"in_child".to_string()) && open().hits() > before);
    let never = code.places.iter().enumerate().filter(|(number, place)| {
        let function = code.functions[code.function_of(**place).unwrap()];
        symbols.name(function).as_deref() == Some("never") && open().is_seen(*number)
    });
    assert_eq!(never.count(), 0);
}
