//! State and tasks that all parts of a running simulator share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::{sync::Semaphore, task::JoinSet};

use crate::{http_client::HttpClient, world::World};

#[derive(Debug)]
pub(crate) struct Shared {
    world: Mutex<World>,
    tasks: Mutex<JoinSet<()>>,
    pub client: HttpClient,
    pub pushes: Semaphore,
    /// It listens on a loopback address: only programs on this machine and web pages in its browsers can reach it.
    pub is_local: bool,
}

impl Shared {
    pub(crate) fn new(world: World, pushes_at_once: usize, is_local: bool) -> Self {
        Self {
            world: Mutex::new(world),
            tasks: Mutex::new(JoinSet::new()),
            client: HttpClient::default(),
            pushes: Semaphore::new(pushes_at_once.max(1)),
            is_local,
        }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task that ends with the simulator.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}
