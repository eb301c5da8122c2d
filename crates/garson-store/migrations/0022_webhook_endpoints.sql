-- Receivers of an account's events besides the one in `accounts.webhook_url`. A row whose id is that of its account holds the
-- settings of that one. Token and secrets are sealed.
CREATE TABLE webhook_endpoints (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    label TEXT NOT NULL,
    url TEXT,
    state TEXT NOT NULL,
    state_at BIGINT,
    filter TEXT NOT NULL,
    auth TEXT NOT NULL,
    token {blob},
    secret {blob},
    old_secret {blob},
    old_secret_until BIGINT,
    body TEXT NOT NULL,
    retries TEXT NOT NULL,
    -- Since when every attempt has failed, and how many were made.
    failing_since BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- The sweep removes its deliveries, and the row last.
    deleted_at BIGINT
);
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, id);
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (id) WHERE deleted_at IS NOT NULL;

-- What the writer of an event has to know of them, as JSON; NULL where there are none. It is returned by the statement that
-- reserves positions, so that an event costs no other query.
ALTER TABLE accounts ADD COLUMN webhook_routes TEXT;

-- The deliveries to the endpoints besides the first, whose delivery is the event's own row.
CREATE TABLE endpoint_deliveries (
    event_id {blob} NOT NULL,
    endpoint_id {blob} NOT NULL,
    account_id {blob} NOT NULL,
    order_id {blob},
    position BIGINT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    attempts BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    held BIGINT NOT NULL,
    due_at BIGINT,
    PRIMARY KEY (event_id, endpoint_id)
) {keyed};
CREATE INDEX endpoint_deliveries_listed ON endpoint_deliveries (endpoint_id, position);
CREATE INDEX endpoint_deliveries_pending ON endpoint_deliveries (account_id, endpoint_id, position)
    WHERE state = 'pending';
CREATE INDEX endpoint_deliveries_late ON endpoint_deliveries (endpoint_id, due_at)
    WHERE state = 'pending' AND failures > 0;
CREATE INDEX endpoint_deliveries_of_order ON endpoint_deliveries (order_id, endpoint_id, position)
    WHERE state = 'pending' AND order_id IS NOT NULL;
CREATE INDEX endpoint_deliveries_undelivered ON endpoint_deliveries (endpoint_id, state, position)
    WHERE state IN ('failed', 'skipped');

CREATE TABLE endpoint_attempts (
    event_id {blob} NOT NULL,
    endpoint_id {blob} NOT NULL,
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
    response TEXT,
    PRIMARY KEY (event_id, endpoint_id, number)
) {keyed};

-- How the attempts of an hour went. `hour` counts hours since 1970; `times` are the numbers of attempts by duration, as JSON.
CREATE TABLE endpoint_stats (
    endpoint_id {blob} NOT NULL,
    hour BIGINT NOT NULL,
    account_id {blob} NOT NULL,
    attempts BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    total_ms BIGINT NOT NULL,
    times TEXT NOT NULL,
    last_failure_at BIGINT,
    last_failure TEXT,
    PRIMARY KEY (endpoint_id, hour)
) {keyed};
CREATE INDEX endpoint_stats_by_age ON endpoint_stats (hour);

-- A resend of one endpoint's deliveries; NULL: of the events' own.
ALTER TABLE resends ADD COLUMN endpoint_id {blob};
