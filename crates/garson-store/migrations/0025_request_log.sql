-- The last API calls of each account. `number` grows with time; nodes never share one. `query` are the names of the parameters, without
-- their values; `size` is NULL for an answer whose length was not known.
CREATE TABLE request_log (
    account_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    key_id {blob} NOT NULL,
    key_name TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    query TEXT,
    status BIGINT NOT NULL,
    code TEXT,
    duration_ms BIGINT NOT NULL,
    size BIGINT,
    request_id TEXT NOT NULL,
    address TEXT,
    PRIMARY KEY (account_id, number)
) {keyed};
