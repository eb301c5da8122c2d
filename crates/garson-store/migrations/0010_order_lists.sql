-- Orders are listed by status and platform too. Every order is in one of two indexes, by whether it is reported: a new order is
-- written to as many indexes as before, and all lists of either kind are ranges of them.
DROP INDEX orders_pending_by_status;
CREATE INDEX orders_pending_by_status ON orders (account_id, status, provider, position) WHERE reported_at IS NULL;
DROP INDEX orders_pending_of_restaurant_by_status;
CREATE INDEX orders_pending_of_restaurant_by_status ON orders (restaurant_id, status, provider, position)
    WHERE reported_at IS NULL;
CREATE INDEX orders_reported_by_status ON orders (account_id, status, provider, position) WHERE reported_at IS NOT NULL;
CREATE INDEX orders_reported_of_restaurant_by_status ON orders (restaurant_id, status, provider, position)
    WHERE reported_at IS NOT NULL;

-- The place at which an order was changed last, for lists of what has changed since a moment. Places are unique within an account
-- and follow the order of commits, which moments alone do not: two changes may have the same. Orders of earlier programs are
-- numbered in the order of their moments; each of them has taken a place, so these numbers lie before all places to come.
ALTER TABLE orders ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
UPDATE orders SET changed = ranked.place
FROM (SELECT id, row_number() OVER (PARTITION BY account_id ORDER BY updated_at, position) AS place FROM orders) AS ranked
WHERE ranked.id = orders.id;
CREATE INDEX orders_by_change ON orders (account_id, changed);
