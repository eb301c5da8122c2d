-- Printers that a print agent serves, with what it reported last.
CREATE TABLE printers (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    -- Only orders of this restaurant are printed; those of all without one.
    restaurant_id {blob},
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    waiting BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    state_at BIGINT NOT NULL
);
CREATE INDEX printers_of_account ON printers (account_id, name);
CREATE INDEX printers_of_restaurant ON printers (restaurant_id) WHERE restaurant_id IS NOT NULL;

-- Tickets that people want printed, until the agent reports that they are, or they are too old.
CREATE TABLE print_jobs (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    printer_id {blob} NOT NULL,
    order_id {blob} NOT NULL,
    kind TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX print_jobs_of_printer ON print_jobs (printer_id, id);
CREATE INDEX print_jobs_of_order ON print_jobs (order_id);
CREATE INDEX print_jobs_by_age ON print_jobs (created_at);
