-- People who sign in to the panel of an account. `email` is in lower case. `restaurants`: a JSON list of ids, NULL for all.
-- `totp`: the sealed secret of the second factor; `totp_new`: one that is not confirmed yet; `totp_step`: the last time step
-- whose code was used.
CREATE TABLE users (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    role TEXT NOT NULL,
    restaurants TEXT,
    password_hash TEXT,
    totp {blob},
    totp_new {blob},
    totp_step BIGINT NOT NULL DEFAULT 0,
    is_disabled BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    last_sign_in_at BIGINT
);
CREATE UNIQUE INDEX users_by_email ON users (email);
CREATE INDEX users_of_account ON users (account_id, id);

-- One-use codes for users without their second factor. Only hashes are stored.
CREATE TABLE recovery_codes (
    user_id {blob} NOT NULL,
    hash {blob} NOT NULL,
    PRIMARY KEY (user_id, hash)
) {keyed};

-- Links that work once: invitations and new passwords. Only hashes are stored.
CREATE TABLE user_tokens (
    hash {blob} PRIMARY KEY,
    user_id {blob} NOT NULL,
    purpose TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX user_tokens_of_user ON user_tokens (user_id);
CREATE INDEX user_tokens_by_end ON user_tokens (ends_at);

-- The user of a session, the client's address, and when the password or a code was last given. Sessions without a user were
-- written by a node of the previous version: they are the first user's.
ALTER TABLE sessions ADD COLUMN user_id {blob};
ALTER TABLE sessions ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT;

ALTER TABLE accounts ADD COLUMN requires_two_factor BIGINT NOT NULL DEFAULT 0;

-- Each account's e-mail address and password become its first user, who has the account's id. `accounts.password_hash` is not
-- used any more; a later migration removes it.
INSERT INTO users (id, account_id, email, name, language, role, password_hash, created_at)
    SELECT id, id, email, '', 'tr', 'owner', password_hash, created_at FROM accounts;
UPDATE sessions SET user_id = account_id;
