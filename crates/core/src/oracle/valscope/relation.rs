//! The one relation between the results of a query and of its mutation, and what it is made of.
//!
//! `R1 ⊑ R2`: an injective map takes each row of R1 to a row of R2, and every column keeps to its own
//! direction along it. All columns equal: inclusion of multisets. The map a bijection: a relation of values.

/// The way from the original to the mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More rows, or greater values.
    Up,
    /// Fewer rows, or smaller values.
    Down,
}

impl Direction {
    /// The other way.
    pub fn reversed(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
}

/// Which rows have a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All rows of both.
    Bijective,
    /// All rows of the original: the mutation may have more.
    Grows,
    /// All rows of the mutation: the original may have more.
    Shrinks,
}

impl Span {
    /// Rows are added or lost, as the direction says.
    pub fn toward(direction: Direction) -> Span {
        match direction {
            Direction::Up => Span::Grows,
            Direction::Down => Span::Shrinks,
        }
    }

    /// The same, seen from the mutation.
    pub fn reversed(self) -> Span {
        match self {
            Span::Bijective => Span::Bijective,
            Span::Grows => Span::Shrinks,
            Span::Shrinks => Span::Grows,
        }
    }

    /// Both at once; none if they go opposite ways.
    pub fn and(self, other: Span) -> Option<Span> {
        match (self, other) {
            (Span::Bijective, span) | (span, Span::Bijective) => Some(span),
            (a, b) if a == b => Some(a),
            _ => None,
        }
    }
}

/// On which side a value may be NULL where its partner is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Where one is NULL, both are.
    Alike,
    /// The original's may be NULL: `NULL-or-≤` when rows are added.
    Original,
    /// The mutation's may be NULL.
    Mutated,
}

impl Nulls {
    /// The same, seen from the mutation.
    pub fn reversed(self) -> Nulls {
        match self {
            Nulls::Alike => Nulls::Alike,
            Nulls::Original => Nulls::Mutated,
            Nulls::Mutated => Nulls::Original,
        }
    }

    fn and(self, other: Nulls) -> Option<Nulls> {
        match (self, other) {
            (Nulls::Alike, nulls) | (nulls, Nulls::Alike) => Some(nulls),
            (a, b) if a == b => Some(a),
            _ => None,
        }
    }
}

/// How a value relates to its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// None: the two are equal, but for what `nulls` allows.
    pub toward: Option<Direction>,
    /// Where one of the two may be NULL alone.
    pub nulls: Nulls,
}

impl Change {
    /// No change: the two are equal.
    pub const NONE: Change = Change { toward: None, nulls: Nulls::Alike };

    /// A change this way that makes nothing NULL.
    pub fn toward(direction: Direction) -> Change {
        Change { toward: Some(direction), nulls: Nulls::Alike }
    }

    /// The same, where one side may also be NULL.
    pub fn or_null(self, nulls: Nulls) -> Change {
        Change { nulls, ..self }
    }

    /// Whether the two are equal.
    pub fn is_none(self) -> bool {
        self == Change::NONE
    }

    /// The relation between the negated values.
    pub fn negated(self) -> Change {
        Change { toward: self.toward.map(Direction::reversed), ..self }
    }

    /// The relation seen from the mutation to the original.
    pub fn reversed(self) -> Change {
        Change { toward: self.toward.map(Direction::reversed), nulls: self.nulls.reversed() }
    }

    /// One after the other, or either of the two; none if they go opposite ways.
    pub fn and(self, other: Change) -> Option<Change> {
        let toward = match (self.toward, other.toward) {
            (None, toward) | (toward, None) => toward,
            (a, b) if a == b => a,
            _ => return None,
        };
        Some(Change { toward, nulls: self.nulls.and(other.nulls)? })
    }
}

/// How a predicate relates to its mutation, on a row and the row's partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// It is the same.
    None,
    /// Pointwise in FALSE < NULL < TRUE.
    Strong(Direction),
    /// Only the rows where it is TRUE: those of the one are among those of the other.
    Weak(Direction),
}

impl Shift {
    /// The way that it goes, strong or weak.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Shift::None => None,
            Shift::Strong(direction) | Shift::Weak(direction) => Some(direction),
        }
    }

    /// One after the other, or both as operands of AND or of OR; none if they go opposite ways.
    pub fn and(self, other: Shift) -> Option<Shift> {
        match (self, other) {
            (Shift::None, shift) | (shift, Shift::None) => Some(shift),
            (Shift::Strong(a), Shift::Strong(b)) if a == b => Some(Shift::Strong(a)),
            (a, b) if a.direction() == b.direction() => a.direction().map(Shift::Weak),
            _ => None,
        }
    }

    /// The rows it lets through.
    pub fn span(self) -> Span {
        self.direction().map_or(Span::Bijective, Span::toward)
    }
}

/// What is predicted of two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Which rows of one have a partner in the other.
    pub span: Span,
    /// What is predicted of each column.
    pub columns: Vec<Column>,
}

/// What is predicted of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// How a value relates to its partner.
    pub change: Change,
    /// Its values went through a division: they are compared with a tolerance.
    pub rounded: bool,
}

impl Relation {
    /// In one sentence, for the evidence.
    pub fn text(&self) -> String {
        let rows = match self.span {
            Span::Bijective => "both queries return the same rows",
            Span::Grows => "the mutated query returns every row of the original",
            Span::Shrinks => "the mutated query returns only rows of the original",
        };
        let exceptions: Vec<String> = self.columns.iter().enumerate().filter_map(exception).collect();
        match exceptions.is_empty() {
            true => rows.to_string(),
            false => format!("{rows}, except that {}", exceptions.join(" and ")),
        }
    }
}

/// How the values of a column may differ between a row and its partner.
fn exception((at, column): (usize, &Column)) -> Option<String> {
    let larger = match column.change.toward {
        Some(Direction::Up) => Some("larger in the mutated query"),
        Some(Direction::Down) => Some("smaller in the mutated query"),
        None => None,
    };
    let null = match column.change.nulls {
        Nulls::Alike => None,
        Nulls::Original => Some("NULL in the original"),
        Nulls::Mutated => Some("NULL in the mutated query"),
    };
    let may_be: Vec<&str> = larger.into_iter().chain(null).collect();
    (!may_be.is_empty()).then(|| format!("column {} may be {}", at + 1, may_be.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_ways_do_not_combine() {
        assert_eq!(Span::Grows.and(Span::Shrinks), None);
        assert_eq!(Span::Bijective.and(Span::Shrinks), Some(Span::Shrinks));
        assert_eq!(Change::toward(Direction::Up).and(Change::toward(Direction::Down)), None);
        let nullable = Change::NONE.or_null(Nulls::Original);
        assert_eq!(nullable.and(Change::NONE.or_null(Nulls::Mutated)), None);
        assert_eq!(
            nullable.and(Change::toward(Direction::Up)),
            Some(Change::toward(Direction::Up).or_null(Nulls::Original))
        );
    }

    #[test]
    fn a_weak_predicate_makes_weak_what_it_is_combined_with() {
        let (strong, weak) = (Shift::Strong(Direction::Up), Shift::Weak(Direction::Up));
        assert_eq!(strong.and(weak), Some(weak));
        assert_eq!(strong.and(strong), Some(strong));
        assert_eq!(strong.and(Shift::Strong(Direction::Down)), None);
    }

    #[test]
    fn a_relation_reads_as_one_sentence() {
        let column = |change| Column { change, rounded: false };
        let same = Relation { span: Span::Shrinks, columns: vec![column(Change::NONE)] };
        assert_eq!(same.text(), "the mutated query returns only rows of the original");
        let larger = Change::toward(Direction::Up).or_null(Nulls::Original);
        let moved = Relation { span: Span::Grows, columns: vec![column(Change::NONE), column(larger)] };
        assert_eq!(
            moved.text(),
            "the mutated query returns every row of the original, except that column 2 may be larger in the \
             mutated query or NULL in the original"
        );
    }
}
