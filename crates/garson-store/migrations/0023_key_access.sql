-- What a key may do: `scopes` and `restaurants` as JSON lists, NULL for all; `networks` as a JSON list, NULL for any address.
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
ALTER TABLE api_keys ADD COLUMN restaurants TEXT;
ALTER TABLE api_keys ADD COLUMN networks TEXT;
-- When it is refused from, and the key that takes its place then.
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;
ALTER TABLE api_keys ADD COLUMN replaced_by_id {blob};
ALTER TABLE api_keys ADD COLUMN last_used_from TEXT;
CREATE INDEX api_keys_by_end ON api_keys (expires_at) WHERE expires_at IS NOT NULL;
