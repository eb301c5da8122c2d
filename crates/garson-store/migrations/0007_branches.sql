-- Anybody can write down any branch, so several integrations may name the same one. At most one of them owns it: the one whose
-- own credentials have worked on the platform, or that the operator has chosen. `branch_proven_at` without `owns_branch` means
-- that its credentials have worked while another one owned the branch.
ALTER TABLE integrations ADD COLUMN owns_branch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE integrations ADD COLUMN branch_proven_at BIGINT;

-- Until now a branch could be named only once, so whoever names it goes on receiving its orders.
UPDATE integrations SET owns_branch = 1, branch_proven_at = updated_at WHERE remote_id IS NOT NULL;

DROP INDEX integrations_by_branch;
CREATE INDEX integrations_by_branch ON integrations (provider, remote_id);
CREATE UNIQUE INDEX integrations_owning_branch ON integrations (provider, remote_id) WHERE owns_branch = 1;
-- Within an account a branch has one integration.
CREATE UNIQUE INDEX integrations_of_account_by_branch ON integrations (account_id, provider, remote_id);
