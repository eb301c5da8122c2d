//! Runs the checker: every reachable state, or random walks.

use crate::cluster::Id;
use stateright::{Checker, HasDiscoveries, Model, UniformChooser};
use std::collections::BTreeSet;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// What a run has found.
#[derive(Debug)]
pub struct Findings {
    /// The properties that do not hold, with the steps to the violation.
    pub violated: BTreeSet<&'static str>,
    pub trace: Option<String>,
    /// Examples that were expected and do not exist.
    pub missing: BTreeSet<&'static str>,
    pub states: usize,
    pub took: Duration,
}

impl Findings {
    /// Panics in a test if a property does not hold, or an expected example does not exist.
    #[track_caller]
    pub fn assert_holds(&self) {
        let trace = self.trace.as_deref().unwrap_or_default();
        assert!(
            self.violated.is_empty(),
            "violated: {:?} by\n{trace}",
            self.violated
        );
        assert!(self.missing.is_empty(), "never happens: {:?}", self.missing);
        println!("{} states in {:?}", self.states, self.took);
    }

    /// Panics in a test unless this property is violated.
    #[track_caller]
    pub fn assert_violates(&self, property: &str) {
        assert!(self.violated.contains(property), "found only {self:?}");
        println!("{}", self.trace.as_deref().unwrap_or_default());
    }
}

/// A state in which nodes can be exchanged and ids renamed without a difference.
pub trait Symmetric: Clone + Ord {
    /// Exchanges the first and the last node.
    fn swap_nodes(&mut self);
    /// Exchanges two orders, if they are alike.
    fn swap_orders(&mut self) {}
    /// Visits every id that the state mentions, except the members.
    fn visit_ids(&mut self, visit: &mut dyn FnMut(&mut Id));
    fn members(&mut self) -> &mut u16;
}

/// The state that stands for all that differ only in the names of nodes and ids.
fn representative<S: Symmetric>(state: &S) -> S {
    let mut swapped = state.clone();
    swapped.swap_nodes();
    let (mut other, mut other_swapped) = (state.clone(), swapped.clone());
    other.swap_orders();
    other_swapped.swap_orders();
    let of_nodes = with_small_ids(state.clone()).min(with_small_ids(swapped));
    of_nodes
        .min(with_small_ids(other))
        .min(with_small_ids(other_swapped))
}

/// Numbers the ids as they appear. A member without a mention would be lost, but each member is a node's id.
fn with_small_ids<S: Symmetric>(mut state: S) -> S {
    let (mut names, mut next) = ([None; 16], 0);
    let members = *state.members();
    let mut renamed = 0;
    state.visit_ids(&mut |id| {
        let name = &mut names[usize::from(*id)];
        let is_member = members & (1 << *id) != 0;
        *id = *name.get_or_insert_with(|| {
            next += 1;
            next - 1
        });
        renamed |= u16::from(is_member) << *id;
    });
    *state.members() = renamed;
    state
}

/// Visits every reachable state, except those that differ only in the names of nodes and ids.
pub fn exhaust_symmetric<M>(model: M) -> Findings
where
    M: Model + Send + Sync + 'static,
    M::State: Symmetric + std::fmt::Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
{
    let began = Instant::now();
    let builder = model
        .checker()
        .threads(2)
        .finish_when(HasDiscoveries::AnyFailures);
    findings(&builder.symmetry_fn(representative).spawn_dfs().join(), began)
}

/// Visits every reachable state; the steps to a violation are as few as possible.
pub fn exhaust<M>(model: M) -> Findings
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
{
    let began = Instant::now();
    // A violation ends the search; examples that are found do not.
    let checker = model
        .checker()
        .threads(2)
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs()
        .join();
    findings(&checker, began)
}

/// Walks at random until so many states were visited; the same seed walks the same way.
pub fn walk<M>(model: M, seed: u64, states: usize) -> Findings
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
{
    let began = Instant::now();
    let checker = model
        .checker()
        .finish_when(HasDiscoveries::AnyFailures)
        .target_state_count(states)
        .spawn_simulation(seed, UniformChooser)
        .join();
    findings(&checker, began)
}

fn findings<M>(checker: &impl Checker<M>, began: Instant) -> Findings
where
    M: Model,
    M::State: Clone + std::fmt::Debug + Hash + PartialEq,
    M::Action: Clone + std::fmt::Debug + PartialEq,
{
    let mut found = Findings {
        violated: BTreeSet::new(),
        trace: None,
        missing: BTreeSet::new(),
        states: checker.unique_state_count(),
        took: began.elapsed(),
    };
    for property in checker.model().properties() {
        let example = checker.discovery(property.name);
        match (property.expectation, example) {
            (stateright::Expectation::Sometimes, None) => {
                found.missing.insert(property.name);
            }
            (stateright::Expectation::Sometimes, Some(_)) | (_, None) => {}
            (_, Some(path)) => {
                found.violated.insert(property.name);
                let steps = path.into_actions();
                found.trace = Some(steps.iter().map(|step| format!("{step:?}\n")).collect());
            }
        }
    }
    found
}
