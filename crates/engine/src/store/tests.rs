use dissent_core::engine::Reply;
use dissent_core::sql::Value;

use super::*;
use crate::product;
use crate::sqlite::{Sqlite, api::Api, bundled};
use crate::{Source, Target};

fn store(root: &Path, compiler: &str) -> Store {
    Store { root: root.to_path_buf(), compiler: Compiler::named(compiler) }
}

fn sqlite() -> &'static Product {
    product::by_name("sqlite").unwrap()
}

fn release() -> Release {
    let mut releases = package::releases("sqlite");
    releases.retain(|release| release.version == "3.30.1");
    releases.remove(0)
}

#[test]
fn the_cache_directory_is_the_users() {
    let lookup = |set: &'static [(&str, &str)]| {
        find_cache_directory(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    };
    let all = &[("DISSENT_CACHE", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/me")];
    assert_eq!(lookup(all), Some("/own".into()));
    assert_eq!(lookup(&[("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/me")]), Some("/xdg/dissent".into()));
    assert_eq!(lookup(&[("HOME", "/home/me")]), Some("/home/me/.cache/dissent".into()));
    assert_eq!(lookup(&[]), None);
}

#[test]
fn without_a_compiler_nothing_is_downloaded() {
    let root = tempfile::tempdir().unwrap();
    let mut step = |step: Step| panic!("{step}");
    let error = store(root.path(), "no-such-compiler")
        .obtain(sqlite(), &release(), Build::Plain, &mut step)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no C compiler 'no-such-compiler' to build SQLite 3.30.1: install one (or set CC), or use \
         sqlite:path=FILE (your own library)"
    );
}

#[test]
fn an_installed_version_is_used_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path(), "no-such-compiler");
    let state = |version: &str| {
        sqlite().versions(&store).into_iter().find(|available| available.version == version).unwrap().state
    };
    assert_eq!(state("3.30.1"), State::Obtainable);
    assert_eq!(state(bundled()), State::Bundled);

    let path = Sqlite.opened(&store.kept(sqlite(), &release(), Build::Plain).unwrap());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "").unwrap();
    assert_eq!(state("3.30.1"), State::Installed);
    let mut step = |step: Step| panic!("{step}");
    assert_eq!(store.obtain(sqlite(), &release(), Build::Plain, &mut step).unwrap(), path);
    let counting = store.kept(sqlite(), &release(), Build::Counting);
    assert!(counting.is_some_and(|kept| !Sqlite.opened(&kept).exists()), "another build is kept apart");
}

/// The source of a library with every function of SQLite, none of which does anything.
fn pretender(version: &str) -> String {
    let stubs: String = Api::REQUIRED
        .iter()
        .filter(|name| **name != "sqlite3_libversion")
        .map(|name| format!("void {name}(void) {{}}\n"))
        .collect();
    format!("const char *sqlite3_libversion(void) {{ return \"{version}\"; }}\n{stubs}")
}

#[test]
fn only_what_the_package_promised_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let (compiler, wanted) = (Compiler::named("cc"), sqlite().wanted("3.30.1", Build::Plain));
    if let Err(error) = compiler.check(&wanted) {
        return eprintln!("SKIPPED: {error}");
    }
    let (source, release) = (root.path().join("sqlite3.c"), release());
    // Each has a place of its own: a library that was loaded once is not loaded again.
    let attempt = |name: &str, text: &str| {
        std::fs::write(&source, text).unwrap();
        let kept = root.path().join(name);
        let mut arrival = Arrival {
            product: sqlite(),
            wanted: &wanted,
            release: &release,
            build: Build::Plain,
            package: &release.packages[0],
            downloaded: &source,
            kept: &kept,
            compiler: &compiler,
            progress: &mut |step| {
                assert_eq!(step.to_string(), "compiling SQLite 3.30.1 (about half a minute)")
            },
        };
        arrival.install(&Sqlite).map_err(|error| error.to_string())
    };
    let told = attempt("broken", "int main(").unwrap_err();
    assert!(told.starts_with("cc could not compile SQLite 3.30.1: ") && told.contains("error"), "{told}");
    assert!(attempt("empty", "int nothing;").unwrap_err().ends_with("it has no function sqlite3_libversion"));
    assert_eq!(
        attempt("other", &pretender("3.31.0")).unwrap_err(),
        format!(
            "package {} should contain SQLite 3.30.1 but contains 3.31.0; it was discarded (`dissent engines update` looks for what is published now)",
            release.packages[0]
        )
    );
    attempt("right", &pretender("3.30.1")).unwrap();
    assert!(Sqlite.opened(&root.path().join("right")).is_file());
}

/// Needs a registry and a compiler the first time, the user's store afterwards.
#[test]
fn two_versions_run_side_by_side() {
    let source = match Target::parse("sqlite@3.30.1").unwrap().obtain(&mut |step| eprintln!("{step}")) {
        Ok(source) => source,
        Err(error) => return eprintln!("SKIPPED, SQLite 3.30.1 is not available here: {error}"),
    };
    let mut old = source.open().unwrap();
    let mut new = Source::bundled().open().unwrap();
    assert_eq!((old.version(), new.version()), ("3.30.1", bundled()));

    let mut ask = |sql: &str| [old.execute(sql).unwrap(), new.execute(sql).unwrap()];
    let asked = ask("SELECT sqlite_version()");
    let version = |reply: &Reply| match reply {
        Reply::Rows(rows) => rows.single().cloned(),
        _ => None,
    };
    assert_eq!(
        asked.each_ref().map(version),
        ["3.30.1", bundled()].map(|version| Some(Value::Text(version.to_string())))
    );
    for sql in ["CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (NULL), ('x')", "SELECT * FROM t"] {
        let [old, new] = ask(sql);
        assert!(!matches!(old, Reply::Failed(_)), "{sql}: {old:?}");
        assert_eq!(old, new, "{sql}");
    }
    // Newer than 3.30.
    let [old, new] = ask("SELECT * FROM t RIGHT JOIN t AS u ON 0");
    assert!(matches!((old, new), (Reply::Failed(_), Reply::Rows(_))));
    // Optional features are in both.
    for sql in ["SELECT json('[1]')", "SELECT soundex('a')", "CREATE VIRTUAL TABLE f USING fts5(x)"] {
        let [old, new] = ask(sql);
        assert_eq!(old, new, "{sql}");
        assert!(!matches!(old, Reply::Failed(_)), "{sql}: {old:?}");
    }
}

/// The crates that are built on machines without Python. That takes minutes, so only `DISSENT_REQUIRE_ENGINES=all` asks for it.
#[test]
fn workers_in_rust_are_built_and_answer() {
    if std::env::var("DISSENT_REQUIRE_ENGINES").as_deref() != Ok("all") {
        return;
    }
    for name in ["datafusion", "turso"] {
        let product = product::by_name(name).unwrap();
        let mut release = package::releases(name).pop().unwrap();
        release.packages.retain(|package| package.registry == package::Registry::Worker);
        assert!(!release.packages.is_empty(), "{name} has no crate");
        let root = tempfile::tempdir().unwrap();
        let opened = store(root.path(), "cc").obtain(product, &release, Build::Plain, &mut |_| {}).unwrap();
        let mut engine = product.driver.open_local(product, &opened, Some(release.version), None).unwrap();
        assert!(release.is(engine.version()), "{name} {}", engine.version());
        let Reply::Rows(rows) = engine.execute("SELECT 41 + 1").unwrap() else { panic!("{name}") };
        assert_eq!(rows.single().and_then(Value::as_int), Some(42), "{name}");
    }
}
