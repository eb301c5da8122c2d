-- What the staff of a restaurant must see on an order's card until they acknowledge it, or until it is settled: that the order was
-- cancelled while it was being prepared (`cancelled`, with the status it had), or that its platform refused an action or could not
-- be asked (`refused`, with the call).
CREATE TABLE order_notices (
    order_id {blob} NOT NULL,
    kind TEXT NOT NULL,
    account_id {blob} NOT NULL,
    call TEXT,
    status BIGINT NOT NULL,
    message TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (order_id, kind)
);
CREATE INDEX order_notices_of_account ON order_notices (account_id, created_at);

-- The time that the kitchen needs for an order, as it was chosen when the order was accepted.
ALTER TABLE orders ADD COLUMN preparation_minutes BIGINT;

-- Up to which position the account has acknowledged that events were given up.
ALTER TABLE accounts ADD COLUMN given_up_seen BIGINT NOT NULL DEFAULT 0;
