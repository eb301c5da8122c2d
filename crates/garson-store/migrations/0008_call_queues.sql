-- Of an order's open calls only the first can be made; the others are blocked until it has ended. What can be made stands in one
-- index by its integration, so that finding it does not walk past what waits, nor past what other integrations have due.
ALTER TABLE calls ADD COLUMN blocked BIGINT NOT NULL DEFAULT 0;
UPDATE calls SET blocked = 1
WHERE state = 'open' AND kind <> 'cancel'
  AND EXISTS (SELECT 1 FROM calls e WHERE e.order_id = calls.order_id AND e.state = 'open' AND e.number < calls.number);
CREATE INDEX calls_ready ON calls (integration_id, due_at) WHERE state = 'open' AND blocked = 0;

-- When `due_at` was decided, by the clock that decided it: if that moment lies in the future, the clock was set back since.
ALTER TABLE calls ADD COLUMN planned_at BIGINT NOT NULL DEFAULT 0;
UPDATE calls SET planned_at = created_at WHERE state = 'open';
