-- Later migrations can run beside earlier programs. `needs`: the oldest migration that a program must know to use the database after
-- this one; NULL: this one.
ALTER TABLE schema_migrations ADD COLUMN needs BIGINT;

-- The newest migration that the program of a node knows; 0: one before this.
ALTER TABLE nodes ADD COLUMN schema_number BIGINT NOT NULL DEFAULT 0;

-- What is left of migrations while nodes run: indexes to be made, rows to be filled. `place`: the last key of the current pass.
-- `found`: rows that the pass has changed.
CREATE TABLE schema_steps (
    number BIGINT NOT NULL,
    step BIGINT NOT NULL,
    place {blob},
    visited BIGINT NOT NULL DEFAULT 0,
    found BIGINT NOT NULL DEFAULT 0,
    passes BIGINT NOT NULL DEFAULT 0,
    is_done BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (number, step)
) {keyed};
