//! Finds the sites where a query can be mutated, and mutates them.
//!
//! A site is identified by the mutator's name and its number among that mutator's sites in the query. So a subject
//! can be edited and its mutation can still be found.

use std::any::TypeId;

use super::mutators::{self, Mutator};
use super::relation::{Change, Shift, Span};
use crate::dialect::Dialect;
use crate::sql::visit::{self, Editor, Visitor};
use crate::sql::*;

/// A node of a query that a mutator looks at.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    Query(&'a Query),
    Body(&'a Body),
    Select(&'a Select),
    Table(&'a TableRef),
    Expr(&'a Expr),
}

/// What stands in the node's place afterwards.
#[derive(Clone, Debug)]
pub enum Substitute {
    Query(Query),
    Body(Body),
    Select(Select),
    Table(TableRef),
    Expr(Expr),
}

/// How the node relates to its substitute, whatever stands below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// Rows; all columns are equal.
    Rows(Span),
    Predicate(Shift, Needs),
    Value(Change, Needs),
}

/// What must be known of the values for a local relation to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// What is compared is of one kind, so that all comparisons order it alike.
    OneKind,
    /// Numbers.
    Numbers,
    /// Whole numbers that no sum of a few of them overflows, shifted by up to so many.
    Small(i64),
    /// The same, and the result is a quotient.
    Average,
}

/// One possible mutation of a query.
#[derive(Clone, Debug)]
pub struct Site {
    pub mutator: &'static Mutator,
    /// Its number among the mutator's sites.
    pub number: usize,
    pub local: Local,
    /// The node that the relation is of.
    pub address: Address,
    /// The node to be replaced, counted in the order in which a query is walked.
    node: usize,
    substitute: Substitute,
}

/// A node by its type and its place in memory: a node and its first part may have one place.
pub type Address = (TypeId, usize);

pub fn address<T: 'static>(node: &T) -> Address {
    (TypeId::of::<T>(), std::ptr::from_ref(node).addr())
}

/// A mutator's proposals for one node.
pub struct Proposals<'s> {
    sites: &'s mut Vec<Site>,
    mutator: &'static Mutator,
    number: usize,
    node: usize,
    address: Address,
    pub dialect: &'s Dialect,
}

impl Proposals<'_> {
    pub fn push(&mut self, local: Local, substitute: Substitute) {
        self.push_at(self.address, local, substitute);
    }

    /// The relation is not that of the node but of one below it.
    pub fn push_at(&mut self, address: Address, local: Local, substitute: Substitute) {
        let (mutator, number, node) = (self.mutator, self.number, self.node);
        self.sites.push(Site { mutator, number, local, address, node, substitute });
        self.number += 1;
    }
}

/// Every mutation of a query.
pub fn sites(query: &Query, dialect: &Dialect) -> Vec<Site> {
    let numbers = vec![0; mutators::ALL.len()];
    let mut finder = Finder { dialect, sites: Vec::new(), numbers, node: 0 };
    finder.query(query);
    finder.sites
}

/// The query with its mutations made. One inside another's substitute is lost; the relation predicted of
/// both holds then too, for every relation holds between a node and itself.
pub fn mutated(query: &Query, sites: &[Site]) -> Query {
    let mut query = query.clone();
    // Later nodes first: a substitute may have more or fewer nodes than what it replaces.
    let mut order: Vec<&Site> = sites.iter().collect();
    order.sort_by_key(|site| std::cmp::Reverse(site.node));
    for site in order {
        Replacer { at: site.node, node: 0, substitute: Some(site.substitute.clone()) }.query(&mut query);
    }
    query
}

struct Finder<'a> {
    dialect: &'a Dialect,
    sites: Vec<Site>,
    /// The sites that each mutator has so far.
    numbers: Vec<usize>,
    node: usize,
}

impl Finder<'_> {
    fn visit(&mut self, node: Node, address: Address) {
        for (at, mutator) in mutators::ALL.iter().enumerate() {
            let mut proposals = Proposals {
                sites: &mut self.sites,
                mutator,
                number: self.numbers[at],
                node: self.node,
                address,
                dialect: self.dialect,
            };
            (mutator.propose)(node, &mut proposals);
            self.numbers[at] = proposals.number;
        }
        self.node += 1;
    }
}

impl Visitor for Finder<'_> {
    fn query(&mut self, query: &Query) {
        self.visit(Node::Query(query), address(query));
        visit::walk_query(self, query);
    }
    fn body(&mut self, body: &Body) {
        self.visit(Node::Body(body), address(body));
        visit::walk_body(self, body);
    }
    fn select(&mut self, select: &Select) {
        self.visit(Node::Select(select), address(select));
        visit::walk_select(self, select);
    }
    fn table(&mut self, table: &TableRef) {
        self.visit(Node::Table(table), address(table));
        visit::walk_table(self, table);
    }
    fn expr(&mut self, expr: &Expr) {
        self.visit(Node::Expr(expr), address(expr));
        visit::walk_expr(self, expr);
    }
}

/// Replaces the node of one number. Counts as [`Finder`] does: both walk in the one order.
struct Replacer {
    at: usize,
    node: usize,
    substitute: Option<Substitute>,
}

impl Replacer {
    /// The substitute, at the node that it is for.
    fn here(&mut self) -> Option<Substitute> {
        self.node += 1;
        if self.node == self.at + 1 { self.substitute.take() } else { None }
    }
}

impl Editor for Replacer {
    fn query(&mut self, query: &mut Query) {
        match self.here() {
            Some(Substitute::Query(substitute)) => *query = substitute,
            _ => visit::edit_query(self, query),
        }
    }
    fn body(&mut self, body: &mut Body) {
        match self.here() {
            Some(Substitute::Body(substitute)) => *body = substitute,
            _ => visit::edit_body(self, body),
        }
    }
    fn select(&mut self, select: &mut Select) {
        match self.here() {
            Some(Substitute::Select(substitute)) => *select = substitute,
            _ => visit::edit_select(self, select),
        }
    }
    fn table(&mut self, table: &mut TableRef) {
        match self.here() {
            Some(Substitute::Table(substitute)) => *table = substitute,
            _ => visit::edit_table(self, table),
        }
    }
    fn expr(&mut self, expr: &mut Expr) {
        match self.here() {
            Some(Substitute::Expr(substitute)) => *expr = substitute,
            _ => visit::edit_expr(self, expr),
        }
    }
}

/// Whether a mutation is at a node of this expression or below it.
pub fn is_touched(expr: &Expr, sites: &[Site]) -> bool {
    struct Touched<'a>(&'a [Site], bool);
    impl Touched<'_> {
        fn at(&mut self, address: Address) {
            self.1 |= self.0.iter().any(|site| site.address == address);
        }
    }
    impl Visitor for Touched<'_> {
        fn query(&mut self, query: &Query) {
            self.at(address(query));
            visit::walk_query(self, query);
        }
        fn body(&mut self, body: &Body) {
            self.at(address(body));
            visit::walk_body(self, body);
        }
        fn select(&mut self, select: &Select) {
            self.at(address(select));
            visit::walk_select(self, select);
        }
        fn table(&mut self, table: &TableRef) {
            self.at(address(table));
            visit::walk_table(self, table);
        }
        fn expr(&mut self, expr: &Expr) {
            self.at(address(expr));
            visit::walk_expr(self, expr);
        }
    }
    let mut touched = Touched(sites, false);
    touched.expr(expr);
    touched.1
}
