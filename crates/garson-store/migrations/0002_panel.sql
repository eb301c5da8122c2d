-- Who is signed in to the control panel. What the browser holds is not kept, only its hash.
CREATE TABLE sessions (
    hash {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    agent TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX sessions_of_account ON sessions (account_id, created_at);
CREATE INDEX sessions_by_end ON sessions (ends_at);

-- Sign-ins that failed in a row, by the hash of the e-mail address, whether there is such an account or not.
CREATE TABLE sign_in_failures (
    hash {blob} PRIMARY KEY,
    failures BIGINT NOT NULL,
    last_at BIGINT NOT NULL
);
CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

-- The live board shows the open orders of an account, and which of its platforms are in trouble.
DROP INDEX orders_open;
CREATE INDEX orders_open ON orders (account_id, integration_id) WHERE status < 900;
CREATE INDEX integrations_in_trouble ON integrations (account_id, last_error_at) WHERE last_error_at IS NOT NULL;

-- Search. What an order is found by, as words; and each word with the places of its orders. Written behind the orders, by
-- whoever has time: `search_progress` says up to which place of an account. Words are bytes, so that both engines order them alike.
CREATE TABLE order_words (
    account_id {blob} NOT NULL,
    position BIGINT NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (account_id, position)
) {keyed};
CREATE TABLE word_places (
    account_id {blob} NOT NULL,
    word {blob} NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (account_id, word, position)
) {keyed};
CREATE TABLE search_progress (
    account_id {blob} PRIMARY KEY,
    reached BIGINT NOT NULL
);
