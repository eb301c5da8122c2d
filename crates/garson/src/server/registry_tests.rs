use super::*;

fn registry(most: usize, most_of_address: usize) -> Arc<Registry> {
    Registry::new(most, most_of_address, Times::default(), Arc::default())
}

fn admitted(registry: &Arc<Registry>, peer: &str) -> Arc<Connection> {
    let Ok(connection) = registry.admit(peer.parse().unwrap(), false) else {
        panic!("no place for {peer}");
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
fn strangers_make_room_in_the_order_in_which_they_can_be_missed() {
    let registry = registry(5, 5);
    let known = admitted(&registry, "192.0.2.1");
    known.note_known();
    let busy_known = admitted(&registry, "192.0.2.2");
    busy_known.note_known();
    let _request = Answering::begin(&busy_known);
    drop(Answering::begin(&known));
    let busy = admitted(&registry, "192.0.2.3");
    let _running = Answering::begin(&busy);
    let idle = admitted(&registry, "192.0.2.4");
    drop(Answering::begin(&idle));
    pass(&registry, 1);
    let silent = admitted(&registry, "192.0.2.5");
    let mut newest = Vec::new();
    for expected in [&silent, &idle, &busy, &known] {
        assert!(is_open(&registry, expected));
        let next = admitted(&registry, "192.0.2.6");
        next.note_known();
        newest.push((Answering::begin(&next), next));
        assert!(!is_open(&registry, expected));
    }
    let full = registry.admit("192.0.2.7".parse().unwrap(), false);
    assert!(matches!(full, Err(Full::Everybody)));
    busy_known.gone();
    admitted(&registry, "192.0.2.7");
}

#[test]
fn an_address_has_its_share_and_loses_only_its_own() {
    let registry = registry(10, 2);
    let other = admitted(&registry, "192.0.2.9");
    let first = admitted(&registry, "192.0.2.1");
    let second = admitted(&registry, "192.0.2.1");
    let _third = admitted(&registry, "192.0.2.1");
    assert!(!is_open(&registry, &first) && is_open(&registry, &second));
    assert!(is_open(&registry, &other));
    // A stranger's request that has just begun is not ended.
    let held = [admitted(&registry, "192.0.2.2"), admitted(&registry, "192.0.2.2")];
    let _requests = held.each_ref().map(Answering::begin);
    let refused = registry.admit("192.0.2.2".parse().unwrap(), false);
    assert!(matches!(refused, Err(Full::Address)));
    // A proxy speaks for many.
    for _ in 0..5 {
        assert!(registry.admit("192.0.2.2".parse().unwrap(), true).is_ok());
    }
    for connection in &held {
        connection.gone();
    }
    assert_eq!(registry.lock().by_address.len(), 2);
}

#[test]
fn a_connection_must_ask_in_time_take_what_it_asked_for_and_not_idle() {
    let registry = registry(10, 10);
    let connection = admitted(&registry, "192.0.2.1");
    assert!(matches!(connection.judge(), Verdict::Keep(_)));
    pass(&registry, 15);
    assert_eq!(connection.judge(), Verdict::Cut(Refusal::NoRequest));
    let request = Answering::begin(&connection);
    pass(&registry, 3600);
    // As long as we take.
    assert!(matches!(connection.judge(), Verdict::Keep(_)));
    request.owe(100_000);
    pass(&registry, 20);
    assert!(matches!(connection.judge(), Verdict::Keep(_)));
    request.settle(60_000);
    pass(&registry, 20);
    assert!(matches!(connection.judge(), Verdict::Keep(_)));
    pass(&registry, 10);
    assert_eq!(connection.judge(), Verdict::Cut(Refusal::SendStalled));
    drop(request);
    assert_eq!(registry.unsent.load(Ordering::Relaxed), 0);
    pass(&registry, 40);
    assert!(matches!(connection.judge(), Verdict::Keep(_)));
    pass(&registry, 20);
    assert_eq!(connection.judge(), Verdict::End);
}

#[test]
fn answers_that_nobody_takes_cost_the_largest_holder_its_connection() {
    let registry = registry(10, 10);
    let [large, small, quick] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|p| admitted(&registry, p));
    let requests = [&large, &small, &quick].map(Answering::begin);
    requests[0].owe(UNSENT / 2);
    requests[1].owe(UNSENT / 4);
    pass(&registry, 2);
    requests[2].owe(UNSENT / 2);
    assert!(!is_open(&registry, &large));
    assert!(is_open(&registry, &small) && is_open(&registry, &quick));
}

/// Owes a lot to a client that takes so much every 0.9 seconds; is it cut off?
fn is_cut_off(peer: &str, is_proxy: bool, taken: usize) -> bool {
    let registry = registry(10, 10);
    let Ok(connection) = registry.admit(peer.parse().unwrap(), is_proxy) else {
        panic!("no place for {peer}");
    };
    let request = Answering::begin(&connection);
    request.owe(1_000_000);
    (0..100).any(|_| {
        pass_millis(&registry, 900);
        request.settle(taken);
        matches!(connection.judge(), Verdict::Cut(Refusal::SendStalled))
    })
}

#[test]
fn a_client_that_takes_a_byte_now_and_then_is_cut_off_and_a_slow_one_is_not() {
    assert!(is_cut_off("192.0.2.1", false, 1));
    assert!(is_cut_off("192.0.2.1", false, 500));
    assert!(!is_cut_off("192.0.2.1", false, 2_000));
    // One of many clients may be slow.
    assert!(!is_cut_off("192.0.2.1", true, 1));
}

#[test]
fn when_all_take_something_the_slowest_holder_loses_its_connection() {
    let registry = registry(10, 10);
    let [dribbling, quick, fresh, next] =
        ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map(|p| admitted(&registry, p));
    let requests = [&dribbling, &quick, &fresh, &next].map(Answering::begin);
    requests[0].owe(UNSENT / 4);
    requests[1].owe(UNSENT / 2);
    for _ in 0..5 {
        pass_millis(&registry, 900);
        requests[0].settle(1);
        requests[1].settle(UNSENT / 100);
    }
    requests[2].owe(UNSENT / 2);
    assert!(!is_open(&registry, &dribbling));
    // What it holds counts as free, so that no other connection is closed for the same bytes.
    requests[3].owe(1);
    let others = [&quick, &fresh, &next];
    assert!(others.iter().all(|connection| is_open(&registry, connection)));
    dribbling.gone();
    assert!(registry.lock().shed.is_empty());
}
