-- Which process runs a request under its key, and which of its runs it is: a key whose run is known to be dead is free at
-- once.
ALTER TABLE idempotency ADD COLUMN node {blob};
ALTER TABLE idempotency ADD COLUMN run_id {blob};
