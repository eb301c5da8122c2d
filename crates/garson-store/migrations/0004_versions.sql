-- An integration's version grows with every change to it, to its restaurant's `config` and to its packages, so that whoever
-- remembers them can tell, when an order is written, that they are still so.
ALTER TABLE integrations ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
