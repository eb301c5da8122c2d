-- An integration's version grows with every change to it, to its restaurant's `config` and to its packages, so that whoever
-- remembers them can tell, when an order is written, that they are still so.
ALTER TABLE integrations ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- Events that wait for an earlier one of their order: few, and looked for after every delivery.
CREATE INDEX events_held ON events (order_id) WHERE held = 1;
