-- What the page about an account's state asks: what is still to be told to platforms, what they refused, and which of their
-- messages could not be taken. Each is small, whatever has gone well before.
CREATE INDEX calls_open_of_account ON calls (account_id, due_at) WHERE state = 'open';
CREATE INDEX calls_failed ON calls (account_id, finished_at) WHERE state = 'failed';
CREATE INDEX inbox_open_of_account ON inbox (account_id, received_at) WHERE state <> 'taken';
