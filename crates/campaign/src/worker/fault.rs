//! Faults on purpose, so that tests of the supervisor need no broken engine.

#![cfg_attr(not(debug_assertions), allow(dead_code, reason = "only builds for tests make faults"))]

/// Read from `DISSENT_TEST_FAULT`, by workers only: `crash@7` dies in the first statement of database 0 from
/// case 7 on (a case may have none), `hang@7` never ends it, `oom@7` uses up all memory in it. A campaign never
/// visits a database twice, so each of these happens once. `early` dies before the engine is open, `start` between
/// that and the first statement: both again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Early,
    Start,
    At { case: u64, kind: Kind },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Crash,
    Hang,
    OutOfMemory,
}

impl Fault {
    /// Only in builds for tests: nothing in the environment makes a released worker fail.
    #[cfg(not(debug_assertions))]
    pub fn from_environment() -> anyhow::Result<Option<Fault>> {
        Ok(None)
    }

    #[cfg(debug_assertions)]
    pub fn from_environment() -> anyhow::Result<Option<Fault>> {
        match std::env::var("DISSENT_TEST_FAULT") {
            Ok(text) => Fault::parse(&text).map(Some),
            Err(_) => Ok(None),
        }
    }

    #[cfg(debug_assertions)]
    fn parse(text: &str) -> anyhow::Result<Fault> {
        match text {
            "early" => return Ok(Fault::Early),
            "start" => return Ok(Fault::Start),
            _ => {}
        }
        let Some((kind, Ok(case))) = text.split_once('@').map(|(kind, case)| (kind, case.parse())) else {
            anyhow::bail!(
                "DISSENT_TEST_FAULT is '{text}', not early, start, crash@CASE, hang@CASE or oom@CASE"
            );
        };
        let kind = match kind {
            "crash" => Kind::Crash,
            "hang" => Kind::Hang,
            "oom" => Kind::OutOfMemory,
            other => anyhow::bail!("DISSENT_TEST_FAULT knows no fault '{other}'"),
        };
        Ok(Fault::At { case, kind })
    }

    /// Called inside each statement; does not return if this is the place.
    pub fn strike(self, (database, case): (u64, u64)) {
        match self {
            Fault::At { case: here, kind } if database == 0 && case >= here => match kind {
                Kind::Crash => std::process::abort(),
                Kind::Hang => loop {
                    std::thread::sleep(std::time::Duration::from_secs(1));
                },
                Kind::OutOfMemory => {
                    let mut hoard: Vec<Vec<u8>> = Vec::new();
                    loop {
                        hoard.push(Vec::with_capacity(64 << 20));
                    }
                }
            },
            _ => {}
        }
    }
}

/// The file that `DISSENT_TEST_VISITS` names, opened to add to it: tests count who visited what.
pub fn visits() -> Option<(std::path::PathBuf, std::fs::File)> {
    let path = std::env::var_os("DISSENT_TEST_VISITS").filter(|_| cfg!(debug_assertions))?;
    let file = std::fs::File::options().create(true).append(true).open(&path).ok()?;
    Some((path.into(), file))
}

/// Appends the number of a database to that file.
pub fn note_visit(database: u64) {
    use std::io::Write;
    if let Some((_, mut file)) = visits() {
        let _ = file.write_all(format!("{database}\n").as_bytes());
    }
}
