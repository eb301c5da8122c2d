-- A platform may change an order after it has arrived: `revision` counts the versions of its content, `content_version` is the
-- platform's own number of the one that is stored, where it gives one.
ALTER TABLE orders ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE orders ADD COLUMN content_version BIGINT;

-- What a version has changed, and the fingerprint of the content that it replaced.
ALTER TABLE order_timeline ADD COLUMN revision BIGINT;
ALTER TABLE order_timeline ADD COLUMN changes TEXT;
ALTER TABLE order_timeline ADD COLUMN replaced_hash {blob};

-- Whether the account is told of versions by an event.
ALTER TABLE accounts ADD COLUMN order_updates BIGINT NOT NULL DEFAULT 0;
