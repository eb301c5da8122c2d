//! The nodes as delivery and calls see them: processes that stop, pause and lose the database, and the rows of `nodes`.
//!
//! Time is left out: a lease has ended or not. That a node is removed only after its lease has ended is checked with real
//! durations in [`crate::membership`].

/// The id of a node's row. Ids are only compared, so one that nothing mentions any more may be given out again.
pub type Id = u8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Process {
    Running,
    Paused,
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    pub process: Process,
    pub id: Id,
    pub has_database: bool,
    pub has_lease: bool,
    /// It is shutting down: it finishes what it holds, and starts and renews nothing.
    pub is_stopping: bool,
}

impl Node {
    /// Can it take a step that needs the database?
    #[must_use]
    pub fn can_query(&self) -> bool {
        self.process == Process::Running && self.has_database
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cluster {
    pub nodes: Vec<Node>,
    /// The ids in the table `nodes`, one bit each.
    pub members: u16,
    pub faults_left: u8,
}

/// What happens to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    Crash(usize),
    Restart(usize),
    Pause(usize),
    Resume(usize),
    LoseDatabase(usize),
    RegainDatabase(usize),
    /// It could not send a heartbeat for so long that it starts nothing more.
    LeaseEnds(usize),
    /// It renews its lease, or joins again under a new id if it was removed.
    Heartbeat(usize),
    /// Another node declares it dead.
    Remove(usize),
    /// It is shutting down, and another process that starts at its address removes its row.
    Supersede(usize),
}

/// What an incident means for the memory of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    /// The process is gone, with everything in its memory.
    Died(usize),
    /// The process has a new id.
    Rejoined(usize),
}

impl Cluster {
    #[must_use]
    pub fn new(count: u8, faults: u8) -> Self {
        let node = |id| Node {
            process: Process::Running,
            id,
            has_database: true,
            has_lease: true,
            is_stopping: false,
        };
        Self {
            nodes: (0..count).map(node).collect(),
            members: (1 << count) - 1,
            faults_left: faults,
        }
    }

    #[must_use]
    pub fn is_member(&self, id: Id) -> bool {
        self.members & (1 << id) != 0
    }

    /// May the node start work that others could take over?
    #[must_use]
    pub fn may_begin(&self, node: usize) -> bool {
        let it = &self.nodes[node];
        it.process == Process::Running && it.has_lease && !it.is_stopping
    }

    pub fn incidents(&self, with_supersede: bool) -> Vec<Incident> {
        let mut found = Vec::new();
        for (n, node) in self.nodes.iter().enumerate() {
            let is_cut_off = node.process == Process::Paused || !node.has_database;
            match node.process {
                Process::Dead => found.push(Incident::Restart(n)),
                Process::Paused => found.push(Incident::Resume(n)),
                Process::Running if self.faults_left > 0 => {
                    found.extend([Incident::Crash(n), Incident::Pause(n)]);
                }
                Process::Running => {}
            }
            if node.process != Process::Dead && !node.has_database {
                found.push(Incident::RegainDatabase(n));
            } else if node.process == Process::Running && self.faults_left > 0 {
                found.push(Incident::LoseDatabase(n));
                if with_supersede && !node.is_stopping {
                    found.push(Incident::Supersede(n));
                }
            }
            if node.process != Process::Dead && node.has_lease && is_cut_off {
                found.push(Incident::LeaseEnds(n));
            }
            if self.needs_heartbeat(n) {
                found.push(Incident::Heartbeat(n));
            }
            if self.can_be_removed(n) {
                found.push(Incident::Remove(n));
            }
        }
        found
    }

    fn needs_heartbeat(&self, n: usize) -> bool {
        let node = &self.nodes[n];
        node.can_query() && !node.is_stopping && !(node.has_lease && self.is_member(node.id))
    }

    fn can_be_removed(&self, n: usize) -> bool {
        let node = &self.nodes[n];
        let is_silent = node.process == Process::Dead || !node.has_lease;
        let mut others = self.nodes.iter().enumerate().filter(|(other, _)| *other != n);
        self.is_member(node.id)
            && is_silent
            && others.any(|(_, other)| other.can_query() && self.is_member(other.id))
    }

    /// Applies an incident; `fresh` is an id that nothing mentions.
    pub fn apply(&mut self, incident: Incident, fresh: Id) -> Effect {
        let fault = matches!(
            incident,
            Incident::Crash(_) | Incident::Pause(_) | Incident::LoseDatabase(_) | Incident::Supersede(_)
        );
        self.faults_left -= u8::from(fault);
        match incident {
            Incident::Crash(n) => {
                self.nodes[n].process = Process::Dead;
                self.nodes[n].has_lease = false;
                self.nodes[n].has_database = true;
                return Effect::Died(n);
            }
            Incident::Restart(n) => {
                // It has the name of the earlier process, whose row it removes.
                self.nodes[n].process = Process::Running;
                self.nodes[n].is_stopping = false;
                self.join(n, fresh);
            }
            Incident::Pause(n) => self.nodes[n].process = Process::Paused,
            Incident::Resume(n) => self.nodes[n].process = Process::Running,
            Incident::LoseDatabase(n) => self.nodes[n].has_database = false,
            Incident::RegainDatabase(n) => self.nodes[n].has_database = true,
            Incident::LeaseEnds(n) => self.nodes[n].has_lease = false,
            Incident::Heartbeat(n) => {
                if !self.is_member(self.nodes[n].id) {
                    self.join(n, fresh);
                    return Effect::Rejoined(n);
                }
                self.nodes[n].has_lease = true;
            }
            Incident::Remove(n) => self.members &= !(1 << self.nodes[n].id),
            Incident::Supersede(n) => {
                self.members &= !(1 << self.nodes[n].id);
                self.nodes[n].is_stopping = true;
            }
        }
        Effect::None
    }

    fn join(&mut self, n: usize, fresh: Id) {
        self.members &= !(1 << self.nodes[n].id);
        self.nodes[n].id = fresh;
        self.nodes[n].has_lease = true;
        self.members |= 1 << fresh;
    }

    /// Ends all faults. A dead node stays dead as long as another one runs.
    pub fn heal(&mut self) {
        self.faults_left = 0;
        for node in &mut self.nodes {
            if node.process == Process::Paused {
                node.process = Process::Running;
            }
            node.has_database = true;
        }
    }

    /// The incidents of a healthy world that are still to come, for fair runs.
    #[must_use]
    pub fn healthy_incident(&self) -> Option<Incident> {
        let none_runs = self
            .nodes
            .iter()
            .all(|node| node.process == Process::Dead || node.is_stopping);
        let mut all = self.incidents(false).into_iter();
        all.find(|incident| match incident {
            Incident::Heartbeat(_) | Incident::Remove(_) => true,
            Incident::Restart(n) => none_runs && *n == 0,
            _ => false,
        })
    }

    /// Visits the ids of all nodes.
    pub fn visit_ids(&mut self, visit: &mut dyn FnMut(&mut Id)) {
        self.nodes.iter_mut().for_each(|node| visit(&mut node.id));
    }

    /// The smallest id that is none of those in use.
    #[must_use]
    pub fn fresh_id(&self, used: impl Iterator<Item = Id>) -> Id {
        let of_nodes = self.nodes.iter().map(|node| node.id);
        let used = of_nodes
            .chain(used)
            .fold(self.members, |mask, id| mask | (1 << id));
        (0..16).find(|id| used & (1 << id) == 0).unwrap_or(15)
    }
}
