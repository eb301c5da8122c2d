-- Every store on a platform. `control`: the desired state of each source, the one in effect and its progress, as JSON. `version`
-- numbers the desired states in effect; `started_version` is the last one whose sending was started, `finished_version` the last one
-- that was finished. `actual`: the state that the platform reports. `due_at`: when the store needs work besides regular reads.
CREATE TABLE store_states (
    integration_id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    node {blob},
    control TEXT NOT NULL,
    version BIGINT NOT NULL,
    started_version BIGINT NOT NULL,
    finished_version BIGINT NOT NULL,
    actual TEXT NOT NULL,
    checked_at BIGINT,
    problem TEXT,
    hours TEXT NOT NULL,
    due_at BIGINT
);
CREATE INDEX store_states_of_node ON store_states (node);
CREATE INDEX store_states_due ON store_states (node, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX store_states_of_restaurant ON store_states (restaurant_id);
CREATE INDEX store_states_with_problem ON store_states (account_id) WHERE problem IS NOT NULL;

-- The throttle and the opening hours of a restaurant, as JSON. `schedule`: the state that the hours currently require of its stores;
-- `schedule_due_at`: when to evaluate the hours again.
CREATE TABLE store_settings (
    restaurant_id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    throttle TEXT,
    throttle_state TEXT NOT NULL,
    hours TEXT,
    hours_version BIGINT NOT NULL,
    schedule TEXT,
    schedule_due_at BIGINT
);
CREATE INDEX store_settings_throttled ON store_settings (account_id) WHERE throttle IS NOT NULL;
CREATE INDEX store_settings_due ON store_settings (schedule_due_at) WHERE schedule_due_at IS NOT NULL;

-- Who changed what on a restaurant's platforms, and the results.
CREATE TABLE restaurant_history (
    restaurant_id {blob} NOT NULL,
    position BIGINT NOT NULL,
    account_id {blob} NOT NULL,
    created_at BIGINT NOT NULL,
    provider TEXT,
    actor TEXT NOT NULL,
    key_id {blob},
    action TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (restaurant_id, position)
) {keyed};
CREATE INDEX restaurant_history_by_age ON restaurant_history (created_at);

-- The optional events that an account has opted in to, as bits.
ALTER TABLE accounts ADD COLUMN optional_events BIGINT NOT NULL DEFAULT 0;
