-- An integration's version grows with every change to it, to its restaurant's `config` and to its packages, so that whoever
-- remembers them can tell, when an order is written, that they are still so.
ALTER TABLE integrations ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- When its platform was last away, or did not let us in. That it refused an order is an error, and no trouble.
ALTER TABLE integrations ADD COLUMN trouble_at BIGINT;
DROP INDEX integrations_in_trouble;
CREATE INDEX integrations_in_trouble ON integrations (account_id, trouble_at) WHERE trouble_at IS NOT NULL;

-- Events that wait for an earlier one of their order: few, and looked for after every delivery.
CREATE INDEX events_held ON events (order_id) WHERE held = 1;
