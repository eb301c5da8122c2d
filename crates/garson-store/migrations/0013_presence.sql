-- Which boards, streams and pollers of an account are connected to a node, as JSON. A row counts only while its node is a member.
CREATE TABLE presence (
    node {blob} NOT NULL,
    account_id {blob} NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (node, account_id)
) {keyed};
CREATE INDEX presence_of_account ON presence (account_id);
