use super::*;
use std::collections::VecDeque;

const MAX_WAIT: Duration = Duration::from_millis(200);
const STEP: Duration = Duration::from_millis(1);

/// What happened to the requests of a client.
#[derive(Clone, Debug, Default)]
struct Tally {
    refused: u32,
    waits: Vec<Duration>,
}

impl Tally {
    fn longest_wait(&self) -> Duration {
        self.waits.iter().max().copied().unwrap_or_default()
    }
}

/// A node with one queue, as the runtime has it: a request comes to its turn once to be admitted or refused, and once more to be handled.
/// The first takes a tenth of the time. Clients have a limited number of connections; what finds none is not sent.
struct Node {
    limiter: Limiter,
    now: Duration,
    /// Requests that can be handled in a second.
    capacity: f64,
    queue: VecDeque<Turn>,
    budget: f64,
    tallies: Vec<Tally>,
    due: Vec<f64>,
}

struct Turn {
    client: usize,
    arrived: Duration,
    queued: Duration,
    is_admitted: bool,
}

const CONNECTIONS: usize = 4096;

impl Node {
    fn new(capacity: f64, clients: usize) -> Self {
        Self {
            limiter: Limiter::new(MAX_WAIT),
            now: Duration::from_secs(100),
            capacity,
            queue: VecDeque::new(),
            budget: 0.0,
            tallies: vec![Tally::default(); clients],
            due: vec![0.0; clients],
        }
    }

    fn client(n: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(n).unwrap() + 1))
    }

    /// Clients send at their rates for some time. What happens in the second half of it is counted.
    fn run(&mut self, rates: &[f64], seconds: u64) {
        let half = self.now + Duration::from_secs(seconds) / 2;
        let end = self.now + Duration::from_secs(seconds);
        let mut sample_at = self.now;
        while self.now < end {
            if self.now < half {
                self.tallies.fill(Tally::default());
            }
            self.now += STEP;
            for (n, rate) in rates.iter().enumerate() {
                self.due[n] += rate * STEP.as_secs_f64();
                while self.due[n] >= 1.0 {
                    self.due[n] -= 1.0;
                    if self.queue.len() < CONNECTIONS {
                        self.push(n, self.now, false);
                    }
                }
            }
            self.budget = (self.budget + self.capacity * STEP.as_secs_f64()).min(1.0 + self.capacity * 0.002);
            while self.budget >= 1.0
                && let Some(turn) = self.queue.pop_front()
            {
                self.take(&turn);
            }
            if self.now >= sample_at {
                sample_at = self.now + Duration::from_millis(10);
                let wait = self
                    .queue
                    .front()
                    .map_or(Duration::ZERO, |turn| self.now - turn.queued);
                self.limiter.measured(wait, self.now);
            }
        }
    }

    fn push(&mut self, client: usize, arrived: Duration, is_admitted: bool) {
        self.queue.push_back(Turn {
            client,
            arrived,
            queued: self.now,
            is_admitted,
        });
    }

    fn take(&mut self, turn: &Turn) {
        let tally = &mut self.tallies[turn.client];
        if turn.is_admitted {
            self.budget -= 0.9;
            self.limiter.completed();
            tally.waits.push(self.now - turn.arrived);
        } else {
            self.budget -= 0.1;
            if self.limiter.admits(Self::client(turn.client), self.now) {
                self.push(turn.client, turn.arrived, true);
            } else {
                tally.refused += 1;
            }
        }
    }
}

#[test]
fn node_with_room_refuses_nothing() {
    let mut node = Node::new(1000.0, 2);
    node.run(&[700.0, 200.0], 20);
    assert_eq!(node.tallies.iter().map(|it| it.refused).sum::<u32>(), 0);
    assert!(!node.limiter.is_limiting());
}

#[test]
fn at_five_times_the_capacity_accepted_requests_are_quick_and_many() {
    let mut node = Node::new(1000.0, 1);
    node.run(&[5000.0], 30);
    let tally = &node.tallies[0];
    assert!(tally.longest_wait() < 4 * MAX_WAIT, "{:?}", tally.longest_wait());
    // Refusing takes four tenths of the node's time.
    assert!(tally.waits.len() > 15 * 1000 / 3, "{}", tally.waits.len());
    node.run(&[500.0], 30);
    assert!(!node.limiter.is_limiting(), "the limit is lifted afterwards");
    node.run(&[500.0], 5);
    assert_eq!(node.tallies[0].refused, 0);
}

#[test]
fn client_that_sends_less_than_its_share_is_not_refused() {
    let mut node = Node::new(1000.0, 11);
    let rates: Vec<f64> = [4000.0].into_iter().chain([20.0; 10]).collect();
    node.run(&rates, 30);
    assert!(node.tallies[0].refused > 0);
    for tally in &node.tallies[1..] {
        assert_eq!(tally.refused, 0);
        assert!(tally.longest_wait() < 4 * MAX_WAIT, "{:?}", tally.longest_wait());
    }
}

#[test]
fn capacity_that_falls_and_rises_is_followed() {
    let mut node = Node::new(1000.0, 2);
    node.run(&[400.0, 400.0], 5);
    node.capacity = 200.0;
    node.run(&[400.0, 400.0], 30);
    let served = node.tallies.iter().map(|it| it.waits.len()).sum::<usize>();
    assert!(served > 15 * 100, "{served}");
    assert!(node.tallies.iter().all(|it| it.longest_wait() < 5 * MAX_WAIT));
    node.capacity = 1000.0;
    node.run(&[400.0, 400.0], 60);
    assert!(!node.limiter.is_limiting());
}

#[test]
fn more_than_can_even_be_refused_leaves_a_part_of_the_capacity() {
    let mut node = Node::new(1000.0, 1);
    node.run(&[12_000.0], 20);
    let served = node.tallies[0].waits.len();
    assert!(served > 10 * 1000 / 5, "{served}");
    node.run(&[500.0], 60);
    assert!(!node.limiter.is_limiting(), "it recovers");
}

#[test]
fn process_that_was_stopped_for_a_while_refuses_nothing() {
    let mut limiter = Limiter::new(MAX_WAIT);
    let mut now = Duration::from_secs(1);
    limiter.measured(Duration::from_secs(30), now);
    for _ in 0..100 {
        now += Duration::from_millis(10);
        limiter.measured(Duration::from_millis(1), now);
    }
    assert!(!limiter.is_limiting());
}

#[test]
fn memory_for_clients_is_bounded_and_given_back() {
    let mut limiter = Limiter::new(MAX_WAIT);
    for n in 0..(MAX_CLIENTS + 1000) {
        limiter.admits(Node::client(n), Duration::from_secs(1));
    }
    assert!(limiter.clients.len() <= MAX_CLIENTS + 1);
    for n in 0..10 {
        limiter.measured(Duration::ZERO, Duration::from_secs(20 + n));
    }
    assert!(limiter.clients.is_empty());
}
