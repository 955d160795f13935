//! What is tested: an installed engine that opens.

use anyhow::bail;
use dissent_core::dialect::{Dialect, Feature, Files, Setting};
use dissent_core::finding::{Against, Class, EngineNote, FINDING_FORMAT, Finding, Origin, Triage};
use dissent_core::guide;
use dissent_core::oracle::versions;
use dissent_engine::Target;

use crate::config::Config;
use crate::observer::{Observer, Step};
use crate::pool::{self, Workplace};
use crate::worker::older;
use crate::worker::protocol::{Difference, Event, Task};

/// Reads a target that stands in a file. A library by its path or a server by its address is refused: a finding or a
/// campaign that came from elsewhere must not choose what runs on this machine, or who is sent a password.
pub fn target_in_file(named: &str) -> anyhow::Result<Target> {
    let target = Target::parse(named)?;
    if !target.is_release() {
        bail!(
            "the file names {target} as its target; files do not choose which library is loaded or which server is \
             reached, so name the target on the command line if you trust it"
        );
    }
    Ok(target)
}

/// Whether two dialects are those of different engines, of which the other is not what the first one imitates.
pub(crate) fn are_foreign(dialect: &str, other: &str) -> bool {
    dialect != other && Files::built_in().relative(dialect).as_deref() != Some(other)
}

/// An engine that was obtained and has been opened once.
#[derive(Clone, Debug)]
pub struct Tested {
    /// As the user named it, without credentials.
    pub target: String,
    /// The same for reports: of a server, neither its address nor who logs in.
    pub public_target: String,
    /// The version that the engine says it has.
    pub engine_version: String,
    /// Further details of the version, and how it was built.
    pub engine: EngineNote,
    /// The version that it is compared with.
    pub other: Option<Box<Tested>>,
    /// The version that decides whether a finding is new.
    pub baseline: Option<Box<Tested>>,
    /// The settings that no answer may depend on, as the engine lists them.
    settings: Vec<Setting>,
    pub(crate) place: Workplace,
}

impl Tested {
    /// Gets the engine that a configuration names, instrumented if its guide needs that, and opens it once in a
    /// process of its own: a library that crashes when it is loaded takes nothing with it.
    pub fn obtain(config: &Config, observer: &mut dyn Observer) -> anyhow::Result<Tested> {
        let mut tested = Tested::obtain_one(config, observer)?;
        if let Some(against) = &config.against {
            let other = tested.another(against, config, observer)?;
            tested.can_be_compared_with(&other)?;
            tested.place.other = Some(other.place.source.clone());
            tested.other = Some(Box::new(other));
        }
        if let Some(baseline) = &config.baseline {
            let mut baseline = tested.another(baseline, config, observer)?;
            if are_foreign(&tested.place.dialect, &baseline.place.dialect) {
                bail!(
                    "{} is not a version of {}, so it cannot be the baseline",
                    baseline.target,
                    tested.target
                );
            }
            baseline.place.other = tested.place.other.clone();
            tested.baseline = Some(Box::new(baseline));
        }
        Ok(tested)
    }

    /// Another engine, or another version of the same one.
    fn another(&self, named: &str, config: &Config, observer: &mut dyn Observer) -> anyhow::Result<Tested> {
        let config = Config { target: named.to_string(), guide: guide::Kind::None, ..config.clone() };
        Tested::obtain_one(&config, observer)
    }

    /// Versions of one engine can be compared, and two engines to which the same SQL means the same. A server of somebody
    /// else may order texts in its own way.
    fn can_be_compared_with(&self, other: &Tested) -> anyhow::Result<()> {
        if !are_foreign(&self.place.dialect, &other.place.dialect) {
            return Ok(());
        }
        for one in [self, other] {
            let dialect = Dialect::load(&one.place.dialect, &one.engine_version)?;
            if !dialect.can(Feature::CommonSql) {
                bail!(
                    "{} and {} are different engines, and it is not known which SQL means the same to {} as to others",
                    self.target,
                    other.target,
                    dialect.engine.title
                );
            }
            if one.place.source.is_shared() {
                bail!(
                    "two engines are compared only where Dissent starts both, so {} cannot be one of them",
                    one.target
                );
            }
        }
        Ok(())
    }

    /// Whether it is compared with another engine, not with another version of it.
    pub(crate) fn compares_engines(&self) -> bool {
        self.other.as_ref().is_some_and(|other| are_foreign(&self.place.dialect, &other.place.dialect))
    }

    fn obtain_one(config: &Config, observer: &mut dyn Observer) -> anyhow::Result<Tested> {
        config.check_limits()?;
        let target = Target::parse(&config.target)?;
        let mut told = |step: dissent_engine::Step| match step {
            dissent_engine::Step::Building { engine, part, done, all } => {
                let what = format!("building {engine}");
                observer.step(&Step { what: &what, name: &part, done, all });
            }
            other => observer.wait(&other.to_string()),
        };
        let source = match config.guide {
            guide::Kind::Coverage => target.obtain_watchable(&mut told)?,
            _ => target.obtain(&mut told)?,
        };
        let place = Workplace {
            source,
            other: None,
            dialect: target.dialect().to_string(),
            memory_bytes: config.worker_memory,
            hang_limit: config.hang_limit,
        };
        place.source.visit();
        let mut version = None;
        let mut listed = Vec::new();
        let mut engine = EngineNote { about: None, built: Some(place.source.provenance()) };
        let ended = pool::run(&place, &Task::Open, |event| {
            if let Event::Ready { engine_version, about, settings } = event {
                version = Some(engine_version);
                engine.about = about;
                listed = settings;
            }
        })?;
        let engine_version = version.ok_or_else(|| ended.failure(&format!("cannot open {target}")))?;
        // What is left on a server by processes that were killed. Without it we can go on.
        if let Err(error) = place.source.sweep() {
            observer.note(&error.to_string());
        }
        let (target, public_target) = (target.to_string(), target.public());
        Ok(Tested {
            target,
            public_target,
            engine_version,
            engine,
            other: None,
            baseline: None,
            settings: listed,
            place,
        })
    }

    /// The name of the dialect that it speaks.
    pub fn dialect_name(&self) -> &str {
        &self.place.dialect
    }

    /// The dialect of this version, or of the one that it is compared with if that is older, with the settings that
    /// the engine lists.
    pub fn dialect(&self) -> anyhow::Result<Dialect> {
        let other = self.other.as_ref().filter(|_| !self.compares_engines());
        let other = other.map(|other| other.engine_version.as_str());
        let mut dialect = Dialect::load(&self.place.dialect, older(&self.engine_version, other))?;
        dialect.settings.clone_from(&self.settings);
        Ok(dialect)
    }

    /// What a finding is told of the version that was compared with.
    fn against(&self) -> Option<Against> {
        let other = self.other.as_ref()?;
        let (target, engine_version) = (other.public_target.clone(), other.engine_version.clone());
        let engine = self.compares_engines().then_some(other.place.dialect.as_str());
        let engine =
            engine.and_then(|name| Files::built_in().descriptor(name).ok()).map(|engine| engine.title);
        Some(Against { target, engine, engine_version, wrong: None })
    }

    /// A difference as a finding, after so many checks.
    pub(crate) fn finding(&self, difference: Difference, checks: u64) -> Finding {
        let compares =
            difference.evidence.class == Class::Changed || difference.case.subject.oracle == versions::NAME;
        let against = self.against().filter(|_| compares);
        Finding {
            format: FINDING_FORMAT,
            target: self.public_target.clone(),
            dialect: self.place.dialect.clone(),
            engine_version: self.engine_version.clone(),
            case: difference.case,
            evidence: difference.evidence,
            origin: Origin { checks, ..difference.origin },
            triage: Triage { engine: self.engine.clone(), against, ..Triage::default() },
        }
    }
}
