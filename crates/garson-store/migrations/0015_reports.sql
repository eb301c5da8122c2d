-- What a receiver answered to an attempt that failed: the head and the beginning of the body.
ALTER TABLE attempts ADD COLUMN response TEXT;

-- Counts of orders by half hour of their arrival, for summaries of a day. `scope` is an account or a restaurant, `span` three hours
-- since 1970. `counts` has a line `kind|slot|number|amount|label` for each count, where the slot is one of the six half hours:
--   sale     label = platform|payment type|currency       number of orders, sum of their totals; cancelled ones do not count
--   cancel   label = platform|currency|actor|reason       number of cancelled orders, sum of their totals; the reason is JSON
--   accept   label = start of a range of seconds          number of accepted orders, sum of the milliseconds that it took
--   prepare  label = start of a range of seconds          the same from acceptance until the order was ready
CREATE TABLE order_stats (
    scope {blob} NOT NULL,
    span BIGINT NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (scope, span)
) {keyed};

CREATE TABLE backfill_facts (
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    slot BIGINT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    amount BIGINT NOT NULL
);
INSERT INTO backfill_facts
SELECT account_id, restaurant_id, created_at / 1800000, 'sale', provider || '|' || payment_type || '|' || currency, total
FROM orders WHERE status < 1500;
INSERT INTO backfill_facts
SELECT account_id, restaurant_id, created_at / 1800000, 'cancel',
       provider || '|' || currency || '|' ||
       COALESCE(CAST(cancellation AS {json}) ->> 'by', CASE WHEN status = 1500 THEN 'platform' ELSE 'account' END) || '|' ||
       COALESCE(CAST(CAST(cancellation AS {json}) -> 'reason' -> 'name' AS TEXT), ''),
       total
FROM orders WHERE status >= 1500;

-- How long each order took, in milliseconds; the range that it falls into is found below.
CREATE TABLE backfill_times (
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    slot BIGINT NOT NULL,
    kind TEXT NOT NULL,
    took BIGINT NOT NULL
);
INSERT INTO backfill_times
SELECT o.account_id, o.restaurant_id, o.created_at / 1800000, 'accept', t.at - o.created_at
FROM orders o JOIN (SELECT order_id, MIN(at) AS at FROM order_timeline WHERE from_status = 400 AND to_status = 500 GROUP BY order_id) t
     ON t.order_id = o.id
WHERE t.at > o.created_at AND o.scheduled_for IS NULL;
INSERT INTO backfill_times
SELECT o.account_id, o.restaurant_id, o.created_at / 1800000, 'prepare', o.ready_at - t.at
FROM orders o JOIN (SELECT order_id, MIN(at) AS at FROM order_timeline WHERE to_status = 500 GROUP BY order_id) t ON t.order_id = o.id
WHERE o.ready_at > t.at;
INSERT INTO backfill_facts
SELECT account_id, restaurant_id, slot, kind,
       CASE WHEN took < 15000 THEN '0' WHEN took < 30000 THEN '15' WHEN took < 45000 THEN '30' WHEN took < 60000 THEN '45'
            WHEN took < 90000 THEN '60' WHEN took < 120000 THEN '90' WHEN took < 180000 THEN '120' WHEN took < 240000 THEN '180'
            WHEN took < 300000 THEN '240' WHEN took < 420000 THEN '300' WHEN took < 600000 THEN '420' WHEN took < 900000 THEN '600'
            WHEN took < 1200000 THEN '900' WHEN took < 1500000 THEN '1200' WHEN took < 1800000 THEN '1500'
            WHEN took < 2700000 THEN '1800' WHEN took < 3600000 THEN '2700' WHEN took < 5400000 THEN '3600'
            WHEN took < 7200000 THEN '5400' ELSE '7200' END,
       took
FROM backfill_times;

CREATE TABLE backfill_counts (
    scope {blob} NOT NULL,
    slot BIGINT NOT NULL,
    line TEXT NOT NULL
);
INSERT INTO backfill_counts
SELECT account_id, slot, kind || '|' || CAST(slot % 6 AS TEXT) || '|' || CAST(COUNT(*) AS TEXT) || '|' || CAST(CAST(SUM(amount) AS BIGINT) AS TEXT) || '|' || label
FROM backfill_facts GROUP BY account_id, slot, kind, label;
INSERT INTO backfill_counts
SELECT restaurant_id, slot, kind || '|' || CAST(slot % 6 AS TEXT) || '|' || CAST(COUNT(*) AS TEXT) || '|' || CAST(CAST(SUM(amount) AS BIGINT) AS TEXT) || '|' || label
FROM backfill_facts GROUP BY restaurant_id, slot, kind, label;
INSERT INTO order_stats (scope, span, counts)
SELECT scope, slot / 6, string_agg(line, '
') FROM backfill_counts GROUP BY scope, slot / 6;
DROP TABLE backfill_counts;
DROP TABLE backfill_facts;
DROP TABLE backfill_times;
