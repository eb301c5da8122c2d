-- When its platform was last away, or did not let us in. That it refused an order is an error, and no trouble.
ALTER TABLE integrations ADD COLUMN trouble_at BIGINT;
DROP INDEX integrations_in_trouble;
CREATE INDEX integrations_in_trouble ON integrations (account_id, trouble_at) WHERE trouble_at IS NOT NULL;

-- What an order is called by its platform is its identity as a rule. An index whose entries come in no order costs a page for
-- each of them, so there is one for all orders, and another for those of which it is not so.
DROP INDEX orders_by_identity;
CREATE UNIQUE INDEX orders_by_identity ON orders (identity, account_id, integration_id);
DROP INDEX orders_by_provider_id;
CREATE INDEX orders_by_provider_id ON orders (account_id, provider_order_id) WHERE provider_order_id <> identity;

-- For the same reason a message is known by its order, and by its hash or its restaurant alone only where it has none.
CREATE TABLE inbox_anew (
    id {blob} PRIMARY KEY,
    hash {blob} NOT NULL,
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
INSERT INTO inbox_anew
    SELECT id, hash, account_id, restaurant_id, (SELECT o.id FROM orders o WHERE o.id = order_id), provider, kind, params, branch,
           identity, body, state, reason, times, received_at
    FROM inbox;
DROP TABLE inbox;
ALTER TABLE inbox_anew RENAME TO inbox;
CREATE UNIQUE INDEX inbox_of_order ON inbox (order_id, hash) WHERE order_id IS NOT NULL;
CREATE UNIQUE INDEX inbox_without_order ON inbox (hash) WHERE order_id IS NULL;
CREATE INDEX inbox_open ON inbox (state, received_at) WHERE state <> 'taken';
CREATE INDEX inbox_open_of_account ON inbox (account_id, received_at) WHERE state <> 'taken';
CREATE INDEX inbox_of_restaurant ON inbox (restaurant_id) WHERE order_id IS NULL;
CREATE INDEX inbox_waiting ON inbox (provider, identity) WHERE state = 'unmatched' AND identity IS NOT NULL;

-- Small rows that are only ever found by their keys are kept in the order of these.
CREATE TABLE order_timeline_anew (
    order_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    from_status BIGINT,
    to_status BIGINT NOT NULL,
    actor TEXT NOT NULL,
    why TEXT,
    PRIMARY KEY (order_id, number)
) {keyed};
INSERT INTO order_timeline_anew SELECT order_id, number, at, from_status, to_status, actor, why FROM order_timeline;
DROP TABLE order_timeline;
ALTER TABLE order_timeline_anew RENAME TO order_timeline;
CREATE TABLE attempts_anew (
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
) {keyed};
INSERT INTO attempts_anew
    SELECT event_id, number, at, url, status, duration_ms, name_us, connect_us, tls_us, first_byte_us, explanation
    FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_anew RENAME TO attempts;
