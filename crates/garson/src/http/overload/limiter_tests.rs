use super::*;
use std::collections::VecDeque;
use std::net::Ipv4Addr;

const MAX_WAIT: Duration = Duration::from_millis(200);
const STEP: Duration = Duration::from_millis(1);
/// All clients together have so many connections; what finds none is not sent.
const CONNECTIONS: usize = 4096;

/// What happened to the requests of a client.
#[derive(Clone, Debug, Default)]
struct Tally {
    refused: u32,
    times: Vec<Duration>,
}

impl Tally {
    fn longest(&self) -> Duration {
        self.times.iter().max().copied().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug)]
struct Request {
    client: usize,
    arrived: Duration,
    /// When it came to the end of the queue that it is in.
    queued: Duration,
    is_admitted: bool,
}

/// How a node works on requests.
#[derive(Clone, Copy, Debug)]
enum Bottleneck {
    /// One queue, as the runtime has it: a request comes to its turn once to be admitted or refused, and once more to be handled. The
    /// first takes a tenth of the time.
    Processor,
    /// A writer that takes up to 256 requests at a time, and answers all of them at the end. Refusals cost nothing.
    Writer { commit: Duration },
}

struct Node {
    limiter: Limiter,
    now: Duration,
    /// Requests that can be handled in a second.
    capacity: f64,
    bottleneck: Bottleneck,
    queue: VecDeque<Request>,
    /// What the processor can do in this step.
    budget: f64,
    batch: Vec<Request>,
    batch_ends: Duration,
    /// The wait that the writer has noted.
    noted: Duration,
    /// Clients go after this time, without an answer.
    patience: Duration,
    tallies: Vec<Tally>,
    due: Vec<f64>,
}

impl Node {
    fn new(bottleneck: Bottleneck, capacity: f64, clients: usize) -> Self {
        Self {
            limiter: Limiter::new(MAX_WAIT),
            now: Duration::from_secs(100),
            capacity,
            bottleneck,
            queue: VecDeque::new(),
            budget: 0.0,
            batch: Vec::new(),
            batch_ends: Duration::ZERO,
            noted: Duration::ZERO,
            patience: Duration::MAX,
            tallies: vec![Tally::default(); clients],
            due: (0..clients).map(|n| n as f64 / clients as f64).collect(),
        }
    }

    fn of_processor(capacity: f64, clients: usize) -> Self {
        Self::new(Bottleneck::Processor, capacity, clients)
    }

    fn of_writer(capacity: f64, clients: usize) -> Self {
        let commit = Duration::from_millis(4);
        Self::new(Bottleneck::Writer { commit }, capacity, clients)
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
            for (client, rate) in rates.iter().enumerate() {
                self.due[client] += rate * STEP.as_secs_f64();
                while self.due[client] >= 1.0 {
                    self.due[client] -= 1.0;
                    if self.queue.len() + self.batch.len() < CONNECTIONS {
                        self.arrive(client);
                    }
                }
            }
            match self.bottleneck {
                Bottleneck::Processor => self.process(),
                Bottleneck::Writer { commit } => self.write(commit),
            }
            if self.now >= sample_at {
                sample_at = self.now + Duration::from_millis(10);
                self.limiter.measured(self.wait(), self.now);
            }
        }
    }

    fn arrive(&mut self, client: usize) {
        let mut request = Request {
            client,
            arrived: self.now,
            queued: self.now,
            is_admitted: false,
        };
        if let Bottleneck::Writer { .. } = self.bottleneck {
            request.is_admitted = self.limiter.admits(Self::client(client));
            if !request.is_admitted {
                self.tallies[client].refused += 1;
                return;
            }
        }
        self.queue.push_back(request);
    }

    fn wait(&self) -> Duration {
        match (self.bottleneck, self.queue.front()) {
            (_, None) => Duration::ZERO,
            (Bottleneck::Processor, Some(first)) => self.now - first.queued,
            (Bottleneck::Writer { .. }, Some(_)) => self.noted,
        }
    }

    fn process(&mut self) {
        self.budget = (self.budget + self.capacity * STEP.as_secs_f64()).min(1.0 + self.capacity * 0.002);
        while self.budget >= 1.0
            && let Some(mut request) = self.queue.pop_front()
        {
            if request.is_admitted {
                self.budget -= 0.9;
                self.answer(request);
                continue;
            }
            self.budget -= 0.1;
            if self.limiter.admits(Self::client(request.client)) {
                request.is_admitted = true;
                request.queued = self.now;
                self.queue.push_back(request);
            } else {
                self.tallies[request.client].refused += 1;
            }
        }
    }

    fn write(&mut self, commit: Duration) {
        // Clients that have gone are not under way any more, but their jobs are still in the queue.
        let gone = |it: &Request| self.now - it.arrived > self.patience && it.is_admitted;
        let mut left = Vec::new();
        for request in self.queue.iter_mut().filter(|it| gone(it)) {
            request.is_admitted = false;
            left.push(request.client);
        }
        for client in left {
            self.limiter.ended(Self::client(client));
        }
        if self.now < self.batch_ends {
            return;
        }
        for request in std::mem::take(&mut self.batch) {
            self.answer(request);
        }
        let count = self.queue.len().min(256);
        self.batch = self.queue.drain(..count).collect();
        let shortest = self.batch.iter().map(|it| self.now - it.queued).min();
        let running = Duration::from_secs_f64(self.batch.len() as f64 / self.capacity);
        self.noted = shortest.unwrap_or_default() + running;
        self.batch_ends = self.now + running + commit;
    }

    fn answer(&mut self, request: Request) {
        if request.is_admitted {
            self.limiter.ended(Self::client(request.client));
            self.tallies[request.client]
                .times
                .push(self.now - request.arrived);
        }
    }

    fn served(&self) -> usize {
        self.tallies.iter().map(|it| it.times.len()).sum()
    }

    fn refused(&self) -> u32 {
        self.tallies.iter().map(|it| it.refused).sum()
    }
}

#[test]
fn node_with_room_refuses_nothing() {
    for mut node in [Node::of_processor(1000.0, 2), Node::of_writer(1000.0, 2)] {
        node.run(&[700.0, 200.0], 20);
        assert_eq!(node.refused(), 0);
        assert!(!node.limiter.is_limiting());
    }
}

#[test]
fn slow_disk_is_no_overload() {
    let commit = Duration::from_millis(400);
    let mut node = Node::new(Bottleneck::Writer { commit }, 1000.0, 1);
    node.run(&[250.0], 20);
    assert_eq!(node.refused(), 0);
}

#[test]
fn at_five_times_the_capacity_accepted_requests_are_quick_and_many() {
    // Refusing takes four tenths of a processor's time.
    for (mut node, least) in [
        (Node::of_processor(1000.0, 1), 450),
        (Node::of_writer(1000.0, 1), 850),
        (Node::of_writer(449.0, 1), 380),
        (Node::of_writer(200.0, 1), 160),
    ] {
        let capacity = node.capacity;
        node.run(&[5.0 * capacity], 30);
        let (longest, served) = (node.tallies[0].longest(), node.served());
        assert!(
            longest < 4 * MAX_WAIT,
            "{:?} {capacity}: {longest:?}",
            node.bottleneck
        );
        assert!(served > 15 * least, "{:?} {capacity}: {served}", node.bottleneck);
        node.run(&[capacity / 2.0], 30);
        assert!(!node.limiter.is_limiting(), "the limit is lifted afterwards");
        assert_eq!(node.refused(), 0);
    }
}

#[test]
fn client_that_sends_less_than_its_share_is_not_refused() {
    for mut node in [Node::of_processor(1000.0, 11), Node::of_writer(1000.0, 11)] {
        let rates: Vec<f64> = [4000.0].into_iter().chain([20.0; 10]).collect();
        node.run(&rates, 30);
        assert!(node.tallies[0].refused > 0);
        for tally in &node.tallies[1..] {
            assert_eq!(tally.refused, 0);
            assert!(tally.longest() < 4 * MAX_WAIT, "{:?}", tally.longest());
        }
    }
}

#[test]
fn thousands_of_clients_with_little_each_are_refused_too() {
    let mut node = Node::of_writer(600.0, 3000);
    node.run(&[1.0; 3000], 30);
    let longest = node.tallies.iter().map(Tally::longest).max().unwrap();
    assert!(longest < 4 * MAX_WAIT, "{longest:?}");
    assert!(node.served() > 15 * 500, "{}", node.served());
}

#[test]
fn capacity_that_falls_and_rises_is_followed() {
    for mut node in [Node::of_processor(1000.0, 2), Node::of_writer(1000.0, 2)] {
        node.run(&[400.0, 400.0], 5);
        node.capacity = 200.0;
        node.run(&[400.0, 400.0], 30);
        assert!(
            node.served() > 15 * 80,
            "{:?}: {}",
            node.bottleneck,
            node.served()
        );
        let longest = node.tallies.iter().map(Tally::longest).max().unwrap();
        assert!(longest < 5 * MAX_WAIT, "{:?}: {longest:?}", node.bottleneck);
        node.capacity = 1000.0;
        node.run(&[400.0, 400.0], 60);
        assert!(!node.limiter.is_limiting());
    }
}

#[test]
fn clients_that_give_up_leave_a_node_that_works() {
    let mut node = Node::of_writer(1000.0, 1);
    node.patience = Duration::from_secs(1);
    node.capacity = 100.0;
    node.run(&[3000.0], 5);
    node.capacity = 1000.0;
    node.run(&[3000.0], 20);
    assert!(node.served() > 10 * 850, "{}", node.served());
}

#[test]
fn more_than_can_even_be_refused_leaves_a_node_that_recovers() {
    let mut node = Node::of_processor(1000.0, 1);
    node.run(&[12_000.0], 20);
    assert!(node.served() > 0);
    node.run(&[500.0], 60);
    assert!(!node.limiter.is_limiting());
}

#[test]
fn process_that_was_stopped_refuses_nothing() {
    let mut limiter = Limiter::new(MAX_WAIT);
    for second in 30..34 {
        limiter.measured(Duration::from_secs(30), Duration::from_secs(second));
    }
    for n in 0..15 {
        assert!(limiter.admits(Node::client(0)), "{n}");
    }
}

#[test]
fn clients_without_requests_need_no_memory() {
    let mut limiter = Limiter::new(MAX_WAIT);
    for n in 0..1000 {
        assert!(limiter.admits(Node::client(n)));
    }
    for n in 0..1000 {
        limiter.ended(Node::client(n));
    }
    assert_eq!((limiter.by_client.len(), limiter.under_way), (0, 0));
}
