-- Ids are 16 bytes, moments BIGINT milliseconds, flags BIGINT 0 or 1, JSON is TEXT kept byte for byte.

-- `position` counts everything that an account's lists show; it is raised under the row's lock, so that it follows
-- the order of commits. `newest_at` keeps the moments of its records in that same order when the clock steps back.
CREATE TABLE accounts (
    id {blob} PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    position BIGINT NOT NULL,
    newest_at BIGINT NOT NULL,
    webhook_url TEXT,
    webhook_authorization TEXT NOT NULL,
    webhook_updated_at BIGINT,
    -- The node that delivers the account's events, if it still is among the nodes; and a number that is raised whenever
    -- that node has to look again: it is another one, the address or key has changed, or something is due that was not.
    deliver_node {blob},
    deliver_version BIGINT NOT NULL,
    -- The last place whose event is no longer kept.
    forgotten BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

-- The processes that serve this database. One that is gone is taken out by another.
CREATE TABLE nodes (
    id {blob} PRIMARY KEY,
    name TEXT NOT NULL,
    beats BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    label TEXT,
    hint TEXT NOT NULL,
    hash {blob} NOT NULL UNIQUE,
    sealed {blob} NOT NULL,
    is_primary BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE INDEX api_keys_of_account ON api_keys (account_id, id);

CREATE TABLE businesses (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    vat_number TEXT,
    tax_office TEXT,
    address TEXT,
    city TEXT,
    country TEXT,
    zip_code TEXT,
    phone TEXT,
    email TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX businesses_of_account ON businesses (account_id, id);

-- A restaurant that is being deleted has `deleted_at`; the sweep removes what hangs on it, and the row last.
CREATE TABLE restaurants (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    business_id {blob},
    name TEXT NOT NULL,
    description TEXT,
    address TEXT,
    lat DOUBLE PRECISION,
    lon DOUBLE PRECISION,
    config TEXT,
    payment_matching_url TEXT,
    payment_matching_headers {blob},
    payment_matches TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE INDEX restaurants_of_account ON restaurants (account_id, id);
CREATE INDEX restaurants_of_business ON restaurants (business_id, id);
CREATE INDEX restaurants_deleted ON restaurants (account_id, id) WHERE deleted_at IS NOT NULL;

CREATE TABLE packages (
    id {blob} PRIMARY KEY,
    restaurant_id {blob} NOT NULL,
    name TEXT NOT NULL,
    providers TEXT,
    starts_at BIGINT NOT NULL,
    ends_at BIGINT
);
CREATE INDEX packages_of_restaurant ON packages (restaurant_id, id);
CREATE INDEX packages_ending ON packages (ends_at) WHERE ends_at IS NOT NULL;

-- `inbound_hash` finds an integration by the secret that its platform presents.
CREATE TABLE integrations (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    remote_id TEXT,
    credentials {blob},
    inbound_hash {blob},
    default_cancel_reason TEXT,
    last_order_at BIGINT,
    last_error_at BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- Which node asks this platform for orders, if it still is among the nodes; and up to when it has seen everything.
    poll_node {blob},
    polled_at BIGINT
);
CREATE UNIQUE INDEX integrations_of_restaurant ON integrations (restaurant_id, provider);
CREATE UNIQUE INDEX integrations_by_branch ON integrations (provider, remote_id);
CREATE INDEX integrations_by_secret ON integrations (provider, inbound_hash);

-- `line` is what lists show of an order and never changes, as JSON; they read it and the columns before it.
CREATE TABLE orders (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    integration_id {blob} NOT NULL,
    position BIGINT NOT NULL,
    status BIGINT NOT NULL,
    reported_at BIGINT,
    line TEXT NOT NULL,
    provider TEXT NOT NULL,
    provider_order_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    content_hash {blob} NOT NULL,
    short_code TEXT,
    provider_status TEXT,
    provider_data TEXT,
    sequence BIGINT NOT NULL,
    total BIGINT NOT NULL,
    currency TEXT NOT NULL,
    payment_type TEXT NOT NULL,
    payment_code TEXT,
    placed_at BIGINT NOT NULL,
    accept_by BIGINT,
    scheduled_for BIGINT,
    ready_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    cancellation TEXT,
    sync_state TEXT NOT NULL,
    sync_due_at BIGINT,
    sync_message TEXT,
    flag TEXT
);
CREATE UNIQUE INDEX orders_by_identity ON orders (identity, integration_id);
CREATE INDEX orders_open ON orders (integration_id) WHERE status < 900;
CREATE INDEX orders_by_provider_id ON orders (account_id, provider_order_id);
CREATE INDEX orders_of_account ON orders (account_id, position);
CREATE INDEX orders_of_restaurant ON orders (restaurant_id, position);
CREATE INDEX orders_by_time ON orders (account_id, created_at, position);
CREATE INDEX orders_pending_of_account ON orders (account_id, position) WHERE reported_at IS NULL;
CREATE INDEX orders_pending_of_restaurant ON orders (restaurant_id, position) WHERE reported_at IS NULL;
CREATE INDEX orders_pending_by_status ON orders (account_id, status, position) WHERE reported_at IS NULL;
CREATE INDEX orders_pending_of_restaurant_by_status ON orders (restaurant_id, status, position)
    WHERE reported_at IS NULL;

CREATE TABLE order_contents (
    order_id {blob} PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE order_timeline (
    order_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    from_status BIGINT,
    to_status BIGINT NOT NULL,
    actor TEXT NOT NULL,
    why TEXT,
    PRIMARY KEY (order_id, number)
);

-- What happened, with the exact body that is sent, and how its delivery stands. One that is pending is due at `due_at`,
-- and has failed `failures` times; one that is held waits for the event before it in its order.
CREATE TABLE events (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    order_id {blob},
    position BIGINT NOT NULL,
    sequence BIGINT,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    attempts BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    held BIGINT NOT NULL,
    due_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX events_of_order ON events (order_id, sequence);
CREATE INDEX events_of_account ON events (account_id, position);
CREATE INDEX events_of_restaurant ON events (restaurant_id, position);
-- What is not finished is a small index, whatever has been delivered before.
CREATE INDEX events_pending ON events (account_id, position) WHERE state = 'pending';
CREATE INDEX events_late ON events (account_id, due_at) WHERE state = 'pending' AND failures > 0;
CREATE INDEX events_settled ON events (account_id, state, position) WHERE state <> 'pending';

-- Every try, with its time split in microseconds; a stage that did not happen has none.
CREATE TABLE attempts (
    event_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    url TEXT NOT NULL,
    status BIGINT,
    duration_ms BIGINT NOT NULL,
    name_us BIGINT,
    connect_us BIGINT,
    tls_us BIGINT,
    first_byte_us BIGINT,
    explanation TEXT NOT NULL,
    PRIMARY KEY (event_id, number)
);

-- Sending again what has failed: which places it goes through, and how far it has come.
CREATE TABLE resends (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    since BIGINT NOT NULL,
    with_skipped BIGINT NOT NULL,
    last_place BIGINT NOT NULL,
    reached BIGINT NOT NULL,
    found BIGINT NOT NULL,
    requeued BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX resends_of_account ON resends (account_id, id);
CREATE INDEX resends_open ON resends (account_id, id) WHERE finished_at IS NULL;
CREATE INDEX resends_finished ON resends (finished_at) WHERE finished_at IS NOT NULL;

-- Calls to platforms: written before they are made, open until their end is known.
CREATE TABLE calls (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    order_id {blob} NOT NULL,
    integration_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    -- Who wants it, and why: what a cancellation needs when it is made again.
    argument TEXT,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    -- The node that makes it; nobody else may while that is among the nodes. It has until then by its own watch.
    node {blob},
    leased_until BIGINT NOT NULL,
    -- It may have been done: the platform must be read before it is made again.
    unclear BIGINT NOT NULL,
    -- Since when the platform says that its moment has not come.
    not_yet_since BIGINT,
    message TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX calls_due ON calls (due_at) WHERE state = 'open';
CREATE INDEX calls_of_order ON calls (order_id, number);

-- Platforms' messages as they came; one row for a message, however often it is repeated.
CREATE TABLE inbox (
    id {blob} PRIMARY KEY,
    hash {blob} NOT NULL UNIQUE,
    account_id {blob},
    restaurant_id {blob},
    order_id {blob},
    provider TEXT NOT NULL,
    kind TEXT NOT NULL,
    params TEXT NOT NULL,
    branch TEXT,
    -- The order that an unmatched message is about: it may still come.
    identity TEXT,
    body {blob} NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    times BIGINT NOT NULL,
    received_at BIGINT NOT NULL
);
CREATE INDEX inbox_open ON inbox (state, received_at) WHERE state <> 'taken';
CREATE INDEX inbox_of_restaurant ON inbox (restaurant_id);
CREATE INDEX inbox_waiting ON inbox (provider, identity) WHERE state = 'unmatched' AND identity IS NOT NULL;

-- Running sums. `scope` is an account or a restaurant; `level` 0 has spans of five minutes, each next one spans of 64 of
-- those. `sums` are those of the span and of the ones before it in its group of 64; level 2 is one group.
CREATE TABLE payment_totals (
    scope {blob} NOT NULL,
    level BIGINT NOT NULL,
    span BIGINT NOT NULL,
    sums TEXT NOT NULL,
    PRIMARY KEY (scope, level, span)
);

CREATE TABLE idempotency (
    account_id {blob} NOT NULL,
    key_hash {blob} NOT NULL,
    request_hash {blob} NOT NULL,
    reserved_id {blob} NOT NULL,
    acted BIGINT,
    status BIGINT,
    body {blob},
    leased_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, key_hash)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- One row, sealed with the master key: shows at start whether the key that is set is the right one.
CREATE TABLE master_key_check (
    id BIGINT PRIMARY KEY,
    sealed {blob} NOT NULL
);
