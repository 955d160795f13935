//! Catalogs as real engines give them.

mod common;

use common::{sqlite, with_session};
use dissent_core::catalog::{Catalog, OperationKind, Prober, Why};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_engine::Target;

fn catalog(engine: &mut dyn Engine, dialect: &Dialect) -> Catalog {
    with_session(engine, dialect, |session| {
        Prober::begin(session).and_then(|prober| prober.catalog(1)).expect("the engine answers")
    })
}

#[test]
#[ignore]
fn show() {
    let target = Target::parse(&std::env::var("SHOW").unwrap_or("sqlite".into())).unwrap();
    let mut engine = target.obtain(&mut |_| ()).unwrap().open().unwrap();
    let dialect = Dialect::load(target.dialect(), engine.version()).unwrap();
    let start = std::time::Instant::now();
    let catalog = catalog(&mut *engine, &dialect);
    eprintln!("{:?}", start.elapsed());
    eprintln!(
        "types: {:?}",
        catalog.types.iter().map(|t| (&t.name, t.comparable, t.ordered)).collect::<Vec<_>>()
    );
    for operation in &catalog.operations {
        match &operation.unusable {
            Some(unusable) => eprintln!(
                "  - {:?} {} {:?} {}",
                operation.kind, operation.name, unusable.why, unusable.detail
            ),
            None => {
                let ty = |t: &u16| catalog.types[*t as usize].name.to_string();
                let sigs: Vec<String> = operation
                    .signatures
                    .iter()
                    .map(|s| {
                        format!(
                            "({}){}->{}",
                            s.args
                                .iter()
                                .map(|a| format!(
                                    "{}{}",
                                    if a.constant { "=" } else { "" },
                                    if a.types.len() == catalog.types.len() {
                                        "any".into()
                                    } else {
                                        a.types.iter().map(ty).collect::<Vec<_>>().join("/")
                                    }
                                ))
                                .collect::<Vec<_>>()
                                .join(", "),
                            if s.fragile { "!" } else { "" },
                            s.returns.as_ref().map(ty).unwrap_or("?".into())
                        )
                    })
                    .collect();
                eprintln!("  + {:?} {} {}", operation.kind, operation.name, sigs.join(" "));
            }
        }
    }
    for kind in OperationKind::ALL {
        let of = catalog.operations.iter().filter(|o| o.kind == kind);
        eprintln!("{kind:?} {} {}", of.clone().count(), of.filter(|o| o.is_usable()).count());
    }
}
