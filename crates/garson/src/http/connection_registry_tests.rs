use super::*;

fn registry(max_connections: usize, max_per_address: usize) -> Arc<Registry> {
    Registry::new(
        max_connections,
        max_per_address,
        Timeouts::default(),
        Arc::default(),
    )
}

fn admitted(registry: &Arc<Registry>, peer: &str) -> Arc<Connection> {
    let Ok(connection) = registry.admit(peer.parse().unwrap(), false) else {
        panic!("not admitted: {peer}");
    };
    connection
}

fn is_open(registry: &Registry, connection: &Connection) -> bool {
    registry.lock().by_id.contains_key(&connection.id)
}

fn pass(registry: &Registry, seconds: u64) {
    pass_millis(registry, seconds * 1000);
}

fn pass_millis(registry: &Registry, millis: u64) {
    registry.ahead.fetch_add(millis, Ordering::Relaxed);
}

#[test]
fn unauthenticated_and_idle_connections_are_evicted_first() {
    let registry = registry(5, 5);
    let known = admitted(&registry, "192.0.2.1");
    known.mark_authenticated();
    let busy_known = admitted(&registry, "192.0.2.2");
    busy_known.mark_authenticated();
    let _request = ActiveRequest::begin(&busy_known);
    drop(ActiveRequest::begin(&known));
    let busy = admitted(&registry, "192.0.2.3");
    let _running = ActiveRequest::begin(&busy);
    let idle = admitted(&registry, "192.0.2.4");
    drop(ActiveRequest::begin(&idle));
    pass(&registry, 1);
    let silent = admitted(&registry, "192.0.2.5");
    let mut newest = Vec::new();
    for expected in [&silent, &idle, &busy, &known] {
        assert!(is_open(&registry, expected));
        let next = admitted(&registry, "192.0.2.6");
        next.mark_authenticated();
        newest.push((ActiveRequest::begin(&next), next));
        assert!(!is_open(&registry, expected));
    }
    let full = registry.admit("192.0.2.7".parse().unwrap(), false);
    assert!(matches!(full, Err(Full::Server)));
    busy_known.remove();
    admitted(&registry, "192.0.2.7");
}

#[test]
fn an_address_at_its_limit_evicts_only_its_own_connections() {
    let registry = registry(10, 2);
    let other = admitted(&registry, "192.0.2.9");
    let first = admitted(&registry, "192.0.2.1");
    let second = admitted(&registry, "192.0.2.1");
    let _third = admitted(&registry, "192.0.2.1");
    assert!(!is_open(&registry, &first) && is_open(&registry, &second));
    assert!(is_open(&registry, &other));
    // A request of an unauthenticated client that has just begun is not evicted.
    let held = [admitted(&registry, "192.0.2.2"), admitted(&registry, "192.0.2.2")];
    let _requests = held.each_ref().map(ActiveRequest::begin);
    let refused = registry.admit("192.0.2.2".parse().unwrap(), false);
    assert!(matches!(refused, Err(Full::Address)));
    // The limit does not apply to proxies.
    for _ in 0..5 {
        assert!(registry.admit("192.0.2.2".parse().unwrap(), true).is_ok());
    }
    for connection in &held {
        connection.remove();
    }
    assert_eq!(registry.lock().by_address.len(), 2);
}

#[test]
fn silent_stalled_and_idle_connections_are_closed() {
    let registry = registry(10, 10);
    let connection = admitted(&registry, "192.0.2.1");
    assert!(matches!(connection.verdict(), Verdict::Keep(_)));
    pass(&registry, 15);
    assert_eq!(connection.verdict(), Verdict::Close(Refusal::NoRequest));
    let request = ActiveRequest::begin(&connection);
    pass(&registry, 3600);
    // While the handler runs.
    assert!(matches!(connection.verdict(), Verdict::Keep(_)));
    request.add_unsent(100_000);
    pass(&registry, 20);
    assert!(matches!(connection.verdict(), Verdict::Keep(_)));
    request.remove_unsent(60_000);
    pass(&registry, 20);
    assert!(matches!(connection.verdict(), Verdict::Keep(_)));
    pass(&registry, 10);
    assert_eq!(connection.verdict(), Verdict::Close(Refusal::SendStalled));
    drop(request);
    assert_eq!(registry.unsent.load(Ordering::Relaxed), 0);
    pass(&registry, 40);
    assert!(matches!(connection.verdict(), Verdict::Keep(_)));
    pass(&registry, 20);
    assert_eq!(connection.verdict(), Verdict::ShutDown);
}

#[test]
fn unread_responses_close_the_connection_with_most_of_them() {
    let registry = registry(10, 10);
    let [large, small, quick] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|p| admitted(&registry, p));
    let requests = [&large, &small, &quick].map(ActiveRequest::begin);
    requests[0].add_unsent(MAX_UNSENT / 2);
    requests[1].add_unsent(MAX_UNSENT / 4);
    pass(&registry, 2);
    requests[2].add_unsent(MAX_UNSENT / 2);
    assert!(!is_open(&registry, &large));
    assert!(is_open(&registry, &small) && is_open(&registry, &quick));
}

/// Is a client disconnected that reads so many bytes every 0.9 seconds of a long response?
fn is_disconnected(peer: &str, is_proxy: bool, read: usize) -> bool {
    let registry = registry(10, 10);
    let Ok(connection) = registry.admit(peer.parse().unwrap(), is_proxy) else {
        panic!("not admitted: {peer}");
    };
    let request = ActiveRequest::begin(&connection);
    request.add_unsent(1_000_000);
    (0..100).any(|_| {
        pass_millis(&registry, 900);
        request.remove_unsent(read);
        matches!(connection.verdict(), Verdict::Close(Refusal::SendStalled))
    })
}

#[test]
fn a_client_below_the_minimum_read_rate_is_disconnected() {
    assert!(is_disconnected("192.0.2.1", false, 1));
    assert!(is_disconnected("192.0.2.1", false, 500));
    assert!(!is_disconnected("192.0.2.1", false, 2_000));
    // One of the many clients behind a proxy may be slow.
    assert!(!is_disconnected("192.0.2.1", true, 1));
}

#[test]
fn if_no_client_is_stalled_the_slowest_reader_is_disconnected() {
    let registry = registry(10, 10);
    let [slowest, quick, fresh, next] =
        ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map(|p| admitted(&registry, p));
    let requests = [&slowest, &quick, &fresh, &next].map(ActiveRequest::begin);
    requests[0].add_unsent(MAX_UNSENT / 4);
    requests[1].add_unsent(MAX_UNSENT / 2);
    for _ in 0..5 {
        pass_millis(&registry, 900);
        requests[0].remove_unsent(1);
        requests[1].remove_unsent(MAX_UNSENT / 100);
    }
    requests[2].add_unsent(MAX_UNSENT / 2);
    assert!(!is_open(&registry, &slowest));
    // Its memory counts as free already, so that no other connection is closed for the same bytes.
    requests[3].add_unsent(1);
    let others = [&quick, &fresh, &next];
    assert!(others.iter().all(|connection| is_open(&registry, connection)));
    slowest.remove();
    assert!(registry.lock().closing.is_empty());
}
