//! The engines that a user can name: every dialect with a driver.

use std::fmt;
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

use dissent_core::dialect::{Descriptor, Files};

use crate::driver::{self, Build, Driver};
use crate::source::{Location, Source};
use crate::store::package::{self, Package, Registry, Release};
use crate::store::{Available, State, Store, Wanted, existing_file};
use crate::target::Step;
use crate::url::{ServerUrl, hide_password};
use crate::{EngineError, own};

/// An engine: what its dialect's file says of it, the driver named there, and the versions that can be obtained.
pub struct Product {
    name: &'static str,
    pub(crate) descriptor: Descriptor,
    pub(crate) driver: &'static dyn Driver,
    pub(crate) releases: Vec<Release>,
}

/// One engine of a product, as a user chose it.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Bundled,
    Release(&'static Release),
    Library(PathBuf),
    Server(ServerUrl),
}

/// Read when it is first asked for: a worker needs one.
struct Entry {
    name: &'static str,
    product: OnceLock<Option<Product>>,
}

impl Entry {
    fn product(&self) -> Option<&Product> {
        self.product.get_or_init(|| Product::read(&Files::built_in(), self.name)).as_ref()
    }
}

static PRODUCTS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |name| Entry { name, product: OnceLock::new() };
    Files::built_in().names().map(entry).collect()
});

/// What other programs begin the address of a server with.
const ALIASES: [(&str, &str); 1] = [("postgresql", "postgres")];

/// Every engine, sorted by name.
pub fn products() -> impl Iterator<Item = &'static Product> {
    PRODUCTS.iter().filter_map(Entry::product)
}

/// The variables of the environment that may hold a server's password.
pub fn password_variables() -> impl Iterator<Item = &'static str> {
    products().filter_map(|product| product.descriptor.password_variable.as_deref())
}

pub(crate) fn by_name(name: &str) -> Result<&'static Product, EngineError> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    let entry = PRODUCTS.iter().find(|entry| entry.name == name);
    entry.and_then(Entry::product).ok_or_else(|| EngineError::UnknownEngine {
        name: name.to_string(),
        available: products().map(Product::name).collect::<Vec<_>>().join(", "),
    })
}

impl Product {
    /// `None`: no driver speaks to it.
    fn read(files: &Files, name: &'static str) -> Option<Product> {
        let descriptor = files.descriptor(name).ok()?;
        let driver = driver::by_name(&descriptor.driver)?;
        Some(Product { name, descriptor, driver, releases: package::releases(name) })
    }

    /// What a target begins with; also the name of its dialect.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How its makers write it: `PostgreSQL`.
    pub fn title(&self) -> &str {
        &self.descriptor.title
    }

    /// About how much room an installed version takes, in bytes.
    pub fn usual_bytes(&self) -> u64 {
        self.descriptor.megabytes << 20
    }

    /// The program beside the usual package clients without which the newest version cannot be built or run.
    pub fn needs(&self) -> Option<&str> {
        let registry = package::newest(&self.releases)?.packages.first()?.registry;
        let server = self.descriptor.server.as_ref().map(|server| server.program.as_str());
        let of_user = server.filter(|program| !program.starts_with("{package}"));
        of_user.or(matches!(registry, Registry::Go(_)).then_some("go"))
    }

    /// What the address of a server begins with: `postgres://`. `None`: it has no servers.
    pub fn address(&self) -> Option<String> {
        self.addresses().next()
    }

    /// All that it may begin with, the usual one first.
    fn addresses(&self) -> impl Iterator<Item = String> {
        self.driver.address_suffixes().iter().map(|suffix| format!("{}{suffix}://", self.name))
    }

    /// Reads what follows the name in a target.
    pub(crate) fn choose(&'static self, rest: &str) -> Result<Choice, EngineError> {
        let filled = |text: &&str| !text.is_empty();
        let path = || rest.strip_prefix(":path=").filter(|_| self.driver.loads_libraries());
        if rest.is_empty() {
            self.newest()
        } else if let Some(wanted) = rest.strip_prefix('@').filter(filled) {
            self.version(wanted)
        } else if let Some(path) = path().filter(filled) {
            Ok(Choice::Library(PathBuf::from(path)))
        } else if let Some(address) = self.addresses().find(|start| self.is_address(start, rest)) {
            self.server(&address, rest)
        } else {
            Err(EngineError::MalformedTarget {
                target: hide_password(&format!("{}{rest}", self.name)),
                forms: self.forms(),
            })
        }
    }

    fn is_address(&self, start: &str, rest: &str) -> bool {
        rest.starts_with(&start[self.name.len()..])
    }

    fn newest(&'static self) -> Result<Choice, EngineError> {
        let bundled = self.bundled().map(|release| release.version);
        match package::newest(&self.releases) {
            Some(release) if bundled == Some(release.version) => Ok(Choice::Bundled),
            Some(release) => Ok(Choice::Release(release)),
            None => Err(self.not_obtainable()),
        }
    }

    fn version(&'static self, wanted: &str) -> Result<Choice, EngineError> {
        let bundled = self.bundled().map(|release| release.version);
        match package::find(&self.releases, wanted) {
            _ if self.releases.is_empty() => Err(self.not_obtainable()),
            _ if bundled.is_some() && wanted == "bundled" => Ok(Choice::Bundled),
            Some(release) if bundled == Some(release.version) => Ok(Choice::Bundled),
            Some(release) => Ok(Choice::Release(release)),
            None => Err(EngineError::UnknownVersion {
                wanted: format!("{} {wanted}", self.title()),
                nearest: package::nearest(&self.releases, wanted),
                instead: self.instead(),
            }),
        }
    }

    /// `://user:password@host:port/database` behind the name of the engine.
    fn server(&self, start: &str, rest: &str) -> Result<Choice, EngineError> {
        let malformed = |reason| EngineError::MalformedAddress { reason, form: self.form_of_address(start) };
        let url = ServerUrl::parse(&format!("{}{rest}", self.name)).map_err(malformed)?;
        if url.database().is_some() && self.descriptor.database.is_none() {
            return Err(malformed(
                "it names a database, but Dissent uses only databases that it creates itself",
            ));
        }
        Ok(Choice::Server(url))
    }

    /// The release that is inside this program.
    fn bundled(&'static self) -> Option<&'static Release> {
        self.releases.iter().find(|release| Some(release.version) == self.driver.bundled())
    }

    /// Makes sure that what was chosen is on this machine.
    pub(crate) fn obtain(
        &'static self,
        choice: &Choice,
        build: Build,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Source, EngineError> {
        let location = match (choice, build) {
            (Choice::Release(release), _) => self.installed(release, build, progress)?,
            (Choice::Bundled, Build::Plain) => Location::Bundled,
            (Choice::Bundled, Build::Counting) => {
                let release = self.bundled().ok_or_else(|| self.not_obtainable())?;
                self.installed(release, build, progress)?
            }
            (_, Build::Counting) => {
                let engine = "your own library or server".to_string();
                return Err(EngineError::NoCoverage { engine });
            }
            (Choice::Library(path), _) => Location::Local { path: existing_file(path)?, version: None },
            (Choice::Server(url), _) => {
                let password =
                    self.descriptor.password_variable.as_deref().and_then(|name| std::env::var(name).ok());
                let mut url = url.clone().or_password(password);
                url.mark = Some(own::mark().to_string());
                Location::Server(url)
            }
        };
        Ok(Source { engine: self.name.to_string(), location })
    }

    /// The same, but never the copy inside this program.
    pub(crate) fn obtain_local(
        &'static self,
        choice: &Choice,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Source, EngineError> {
        let Choice::Bundled = choice else { return self.obtain(choice, Build::Plain, progress) };
        let release = self.bundled().ok_or_else(|| self.not_obtainable())?;
        let location = self.installed(release, Build::Plain, progress)?;
        Ok(Source { engine: self.name.to_string(), location })
    }

    /// Whether what was chosen is not on this machine and has to be compiled for minutes.
    pub(crate) fn takes_long(&'static self, choice: &Choice) -> bool {
        let Choice::Release(release) = choice else { return false };
        let compiled = release.packages.iter().all(Package::is_built_for_long);
        compiled && Store::of_user().is_ok_and(|store| !store.has(self, release))
    }

    fn installed(
        &'static self,
        release: &Release,
        build: Build,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Location, EngineError> {
        let path = Store::of_user()?.obtain(self, release, build, progress)?;
        Ok(Location::Local { path, version: Some(release.version.to_string()) })
    }

    /// Every version there is, the oldest first.
    pub(crate) fn versions(&'static self, store: &Store) -> Vec<Available> {
        let state = |release: &Release| match store.has(self, release) {
            _ if Some(release.version) == self.driver.bundled() => State::Bundled,
            true => State::Installed,
            false => State::Obtainable,
        };
        let available = |release: &Release| Available {
            engine: self.name,
            version: release.version,
            state: state(release),
        };
        self.releases.iter().map(available).collect()
    }

    /// A version in messages.
    pub(crate) fn wanted(&self, version: &str, build: Build) -> Wanted {
        let with = if build == Build::Counting { " with coverage" } else { "" };
        let name = format!("{} {version}{with}", self.title()).trim_end().to_string();
        Wanted { name, instead: self.instead() }
    }

    fn form_of_address(&self, start: &str) -> String {
        let database = self.descriptor.database.as_ref().map_or("", |_| "DATABASE");
        format!("{start}USER:PASSWORD@HOST:PORT/{database}")
    }

    /// What a user can give where a version cannot be obtained: `sqlite:path=FILE (your own library)`.
    fn instead(&self) -> String {
        let library =
            self.driver.loads_libraries().then(|| format!("{}:path=FILE (your own library)", self.name));
        let server =
            self.address().map(|start| format!("{} (a running server)", self.form_of_address(&start)));
        library.into_iter().chain(server).collect::<Vec<_>>().join(" or ")
    }

    /// The ways to name this engine.
    fn forms(&self) -> String {
        let versions = [self.name.to_string(), format!("{}@VERSION", self.name)];
        let versions = versions.into_iter().filter(|_| !self.releases.is_empty());
        let library = self.driver.loads_libraries().then(|| format!("{}:path=FILE", self.name));
        let server = self.addresses().map(|start| self.form_of_address(&start));
        versions.chain(library).chain(server).collect::<Vec<_>>().join(", ")
    }

    fn not_obtainable(&self) -> EngineError {
        EngineError::NotObtainable { engine: self.title().to_string(), instead: self.instead() }
    }

    pub(crate) fn not_started(&self, reason: impl Into<String>) -> EngineError {
        EngineError::NotStarted { what: self.title().to_string(), reason: reason.into() }
    }
}

impl fmt::Debug for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_is_a_target() {
        for name in Files::built_in().names() {
            let product = by_name(name).expect("its driver is there");
            assert_eq!(product.name(), name);
            assert!(product.address().is_some() || product.driver.loads_libraries(), "{name}");
        }
    }

    /// A relative is one file: no list here names it.
    #[test]
    fn a_relative_that_is_only_a_file_is_a_target() {
        let text =
            "inherits = \"postgres\"\nname = \"yellowbase\"\n[engine]\ntitle = \"YellowBase\"\nport = 5433";
        let files = Files::built_in().with("yellowbase", text);
        let product: &'static Product = Box::leak(Box::new(Product::read(&files, "yellowbase").unwrap()));
        assert_eq!(product.address().as_deref(), Some("yellowbase://"));
        let Choice::Server(url) = product.choose("://me:s3cret@host/app").unwrap() else { panic!() };
        assert_eq!(url.to_string(), "yellowbase://me@host/app");
        assert_eq!(
            product.choose("@2.1").unwrap_err().to_string(),
            "YellowBase cannot be downloaded; use yellowbase://USER:PASSWORD@HOST:PORT/DATABASE (a running server)"
        );
    }
}
