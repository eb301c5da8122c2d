-- What happens when an order is not accepted in time: the restaurant's steps, as JSON, and when an order's boards were made to ring.
ALTER TABLE restaurants ADD COLUMN escalation TEXT;
ALTER TABLE orders ADD COLUMN escalated_at BIGINT;

-- The steps that are still to be taken for an order. A step is removed in the transaction that takes it, so it is taken once.
-- `needs_platform`: the platform is read before the step can be taken, so it must not hold up the others.
CREATE TABLE escalation_steps (
    order_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    needs_platform BIGINT NOT NULL,
    step TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    PRIMARY KEY (order_id, number)
) {keyed};
CREATE INDEX escalation_steps_due ON escalation_steps (needs_platform, account_id, due_at);
CREATE INDEX escalation_steps_next ON escalation_steps (due_at);

-- The ways by which an account's people receive messages. `target` is sealed: recipients, URL, headers, body.
CREATE TABLE channels (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    language TEXT NOT NULL,
    target {blob} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX channels_of_account ON channels (account_id, id);

-- Messages to people. `state`: open, sending, sent, failed, unclear (the node died while it sent), dropped (no longer needed).
CREATE TABLE messages (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    channel_id {blob} NOT NULL,
    order_id {blob},
    content TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    node {blob},
    explanation TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX messages_open ON messages (channel_id, due_at) WHERE state = 'open';
CREATE INDEX messages_sending ON messages (node) WHERE state = 'sending';
CREATE INDEX messages_of_account ON messages (account_id, id);
CREATE INDEX messages_of_order ON messages (order_id) WHERE order_id IS NOT NULL;

-- Operational notices: what an account wants to be informed of, by which channels, and how many it got on its last day.
CREATE TABLE notice_settings (
    account_id {blob} PRIMARY KEY,
    kinds TEXT NOT NULL,
    channels TEXT NOT NULL,
    day TEXT NOT NULL,
    sent BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
-- What is wrong now. `notified`: a notice was sent, so its end is worth another.
CREATE TABLE incidents (
    account_id {blob} NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    opened_at BIGINT NOT NULL,
    notified BIGINT NOT NULL,
    PRIMARY KEY (account_id, kind, subject)
) {keyed};
