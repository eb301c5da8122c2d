-- The audit log: who did what, from where, and what it changed. The rows of an account are numbered without gaps. `hash` covers the
-- row and the hash of the row before it. `at` never falls within an account. `before` and `after` are JSON with the fields that have
-- changed; secrets are fingerprints there.
CREATE TABLE audit_log (
    account_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    actor_id {blob},
    actor_name TEXT,
    address TEXT,
    action TEXT NOT NULL,
    record_id TEXT,
    restaurant_id {blob},
    before TEXT,
    after TEXT,
    hash {blob} NOT NULL,
    PRIMARY KEY (account_id, number)
) {keyed};
CREATE INDEX audit_log_by_time ON audit_log (account_id, at, number);

-- The ends of each account's chain. `number`, `hash`, `at`: the last row. `removed`, `removed_hash`: the last row that retention has
-- removed, from which the rest of the chain is verified. The account without an id (all zeros) is the installation itself.
CREATE TABLE audit_chains (
    account_id {blob} PRIMARY KEY,
    number BIGINT NOT NULL,
    hash {blob} NOT NULL,
    at BIGINT NOT NULL,
    removed BIGINT NOT NULL,
    removed_hash {blob} NOT NULL
);

-- Counts erasures from events that are not delivered yet: the delivering node reads those in its memory again.
ALTER TABLE accounts ADD COLUMN erase_version BIGINT NOT NULL DEFAULT 0;

-- When the customer's personal data was erased from an order.
ALTER TABLE orders ADD COLUMN erased_at BIGINT;

-- Requests to erase the data of a customer. `query`: who, sealed, until it is done. The orders up to `last_position` are examined;
-- `reached` is how far that has come. `waiting` of the found orders were still open, and are erased when they end.
CREATE TABLE erasures (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    query {blob},
    last_position BIGINT NOT NULL,
    reached BIGINT NOT NULL,
    erased BIGINT NOT NULL,
    waiting BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX erasures_of_account ON erasures (account_id, id);
CREATE INDEX erasures_running ON erasures (account_id, id) WHERE finished_at IS NULL;

-- Orders that are to be erased when they have ended.
CREATE TABLE waiting_erasures (
    order_id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX waiting_erasures_of_account ON waiting_erasures (account_id);

-- After how many days an account's orders are erased by themselves, 0: as the installation is set; and up to which position they are.
CREATE TABLE privacy_settings (
    account_id {blob} PRIMARY KEY,
    anonymise_days BIGINT NOT NULL,
    reached BIGINT NOT NULL
);
