-- The live board of one restaurant shows its newest open orders; those of an integration are among those of its restaurant.
DROP INDEX orders_open;
CREATE INDEX orders_open ON orders (account_id, restaurant_id, position) WHERE status < 900;
