//! `dissent stats found-bugs`: the bugs that Dissent found, as pages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use dissent_core::report::found;

use crate::commands::found::read;

pub fn run(scripts: &[PathBuf], out: &Path) -> anyhow::Result<()> {
    let bugs = read(scripts)?;
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    for (name, text) in found::pages(&bugs)? {
        let path = out.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
