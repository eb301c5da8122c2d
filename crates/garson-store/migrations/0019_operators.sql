-- What the operator has decided about an account. Without a row it is active and has the quotas of the settings.
-- `state`: active, disabled, deleting or importing. While it is importing there is no row in `accounts` yet.
-- Quotas: NULL is that of the settings, -1 none.
CREATE TABLE account_states (
    account_id {blob} PRIMARY KEY,
    state TEXT NOT NULL,
    reason TEXT,
    changed_at BIGINT NOT NULL,
    max_restaurants BIGINT,
    max_keys BIGINT,
    max_endpoints BIGINT,
    max_orders_per_day BIGINT
);

-- The rotation of the master key, while there is one. Each key is sealed with the other, so that either opens everything.
CREATE TABLE key_rotation (
    id BIGINT PRIMARY KEY,
    phase TEXT NOT NULL,
    old_key {blob} NOT NULL,
    new_key {blob} NOT NULL,
    started_at BIGINT NOT NULL
);

-- Which master key each node was started with, and up to which phase of a rotation it acts.
CREATE TABLE node_keys (
    node {blob} PRIMARY KEY,
    started_with {blob} NOT NULL,
    phase TEXT NOT NULL
);
