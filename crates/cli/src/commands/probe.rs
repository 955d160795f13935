//! `dissent engines probe`: what an engine can compute, as it was found out.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::bail;
use dissent_campaign::obtain_catalog;
use dissent_core::catalog::{Catalog, Operation, OperationKind, Signature};

use super::engines::obtain;
use crate::numbers::grouped;
use crate::progress::LiveLine;

pub fn run(target: &str, refresh: bool, list: bool) -> anyhow::Result<()> {
    let mut live = LiveLine::new();
    let tested = obtain(target, &mut live)?;
    let target = &tested.target;
    let Some(kept) = obtain_catalog(&tested, refresh, &mut live)? else {
        bail!("{target} cannot be probed: its dialect's file has no [catalog]");
    };
    drop(live);
    let mut out = std::io::stdout().lock();
    if list {
        for operation in &kept.catalog.operations {
            writeln!(out, "{}", line(operation, &kept.catalog))?;
        }
    } else {
        table(&mut out, target, &kept.catalog)?;
    }
    Ok(())
}

fn table(out: &mut impl Write, target: &str, catalog: &Catalog) -> std::io::Result<()> {
    let row = |out: &mut dyn Write, name: &str, discovered: usize, usable: usize, names: usize| {
        writeln!(out, "{name:<18} {discovered:>10} {usable:>8} {names:>8}")
    };
    writeln!(out, "{target} (version {}), {} types", catalog.engine_version, catalog.types.len())?;
    writeln!(out, "\n{:<18} {:>10} {:>8} {:>8}", "", "discovered", "usable", "names")?;
    for kind in OperationKind::ALL {
        let of_kind = || catalog.operations.iter().filter(|operation| operation.kind == kind);
        let (usable, names) = figures(of_kind());
        row(out, kind.name(), of_kind().count(), usable, names)?;
    }
    let (usable, names) = figures(catalog.operations.iter());
    row(out, "all", catalog.operations.len(), usable, names)?;

    let mut reasons: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
    for operation in &catalog.operations {
        if let Some(unusable) = &operation.unusable {
            reasons.entry(unusable.why.text().to_string()).or_default().push(operation);
        }
    }
    writeln!(out, "\nNot used:")?;
    for (reason, operations) in reasons {
        let mut names: Vec<&str> = operations.iter().map(|operation| &*operation.name).collect();
        names.dedup();
        let more = if names.len() > 6 { ", …" } else { "" };
        names.truncate(6);
        let count = grouped(operations.len() as u64);
        writeln!(out, "{count:>6}  {reason}: {}{more}", names.join(", "))?;
    }
    writeln!(out, "\n`--list` shows each operation, its signatures or why it is not used.")
}

/// How many operations are usable, and under how many names.
fn figures<'a>(operations: impl Iterator<Item = &'a Operation>) -> (usize, usize) {
    let usable: Vec<&Operation> = operations.filter(|operation| operation.is_usable()).collect();
    let names: std::collections::BTreeSet<&str> = usable.iter().map(|operation| &*operation.name).collect();
    (usable.len(), names.len())
}

/// `+ abs(REAL) → REAL` or `- sleep: denied …`.
fn line(operation: &Operation, catalog: &Catalog) -> String {
    let Operation { name, kind, .. } = operation;
    let kind = kind.name().trim_end_matches('s');
    match &operation.unusable {
        Some(unusable) if unusable.detail.is_empty() => format!("- {kind} {name}: {}", unusable.why.text()),
        Some(unusable) => format!("- {kind} {name}: {} ({})", unusable.why.text(), unusable.detail),
        None => {
            let signatures: Vec<String> =
                operation.signatures.iter().map(|signature| signature_text(signature, catalog)).collect();
            format!("+ {kind} {name} {}", signatures.join("; "))
        }
    }
}

fn signature_text(signature: &Signature, catalog: &Catalog) -> String {
    let name = |ty: &u16| catalog.types.get(*ty as usize).map_or("?", |ty| &*ty.name);
    let args: Vec<String> = signature
        .args
        .iter()
        .map(|arg| {
            let types = match arg.types.len() {
                all if all > 1 && all == catalog.types.len() => "any".to_string(),
                _ => arg.types.iter().map(name).collect::<Vec<_>>().join("/"),
            };
            if arg.constant { format!("constant {types}") } else { types }
        })
        .collect();
    let returns = signature.returns.as_ref().map_or("?", name);
    let fragile = if signature.fragile { ", may raise errors" } else { "" };
    format!("({}) → {returns}{fragile}", args.join(", "))
}
