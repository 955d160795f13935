//! The built-in seeds, scripts to start a hunt from: `seeds/DIALECT/*.sql`.

use crate::dialect::Files;
use crate::embedded::SEEDS;

/// The names and texts of a dialect's seeds; those of the dialect it inherits from where it has none of its own.
pub fn of(dialect: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = Files::built_in();
    let family = std::iter::successors(Some(dialect.to_string()), |name| files.relative(name));
    let own = |name: String| SEEDS.iter().find(|(folder, _)| *folder == name);
    family.into_iter().find_map(own).into_iter().flat_map(|(_, scripts)| scripts.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_share_seeds() {
        assert!(of("postgres").any(|(name, text)| name == "joins.sql" && text.contains("CREATE TABLE")));
        assert!(of("mariadb").eq(of("mysql")) && of("mysql").count() > 0);
        assert_eq!(of("nosuch").count(), 0);
    }
}
