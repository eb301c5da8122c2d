-- Products and options of a restaurant, across all platforms. `is_closed`: a user has separated it, so items are no longer matched to
-- it automatically. `name_key` is the normalised name used for comparison. `is_available`: it can be ordered on every platform that
-- has it.
CREATE TABLE products (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    is_option BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    is_closed BIGINT NOT NULL,
    is_available BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX products_of_restaurant ON products (restaurant_id, is_option, name_key, id);

-- Pairs of products that a user has declared to be different, so that they are not suggested as the same again. `product_id` is the
-- lower id of the two.
CREATE TABLE declined_matches (
    restaurant_id {blob} NOT NULL,
    product_id {blob} NOT NULL,
    other_id {blob} NOT NULL,
    account_id {blob} NOT NULL,
    declined_at BIGINT NOT NULL,
    PRIMARY KEY (restaurant_id, product_id, other_id)
) {keyed};

-- The items of platforms, by the platform's own id. `source`: menu, order or manual. `is_manual`: a user has linked it to its product.
-- `gone_at`: the platform's menu no longer has it. `is_available`: the state on the platform; NULL if unknown.
CREATE TABLE platform_items (
    restaurant_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    is_option BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    account_id {blob} NOT NULL,
    product_id {blob} NOT NULL,
    is_manual BIGINT NOT NULL,
    source TEXT NOT NULL,
    code TEXT,
    name TEXT NOT NULL,
    category TEXT,
    price BIGINT,
    currency TEXT NOT NULL,
    image_url TEXT,
    is_available BIGINT,
    available_at BIGINT NOT NULL,
    traits TEXT NOT NULL,
    places TEXT NOT NULL,
    gone_at BIGINT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (restaurant_id, provider, is_option, remote_id)
) {keyed};
CREATE UNIQUE INDEX platform_items_of_product ON platform_items (product_id, provider);

-- The desired availability of an item. `version` increases with every change; `accepted_version` is the last one that the platform has
-- accepted, at `accepted_at`. `state`: pending, done, refused, unsupported. `timer`: whether the platform or Garson makes the item
-- available again. `node` is the node that sends it, `sending` the version being sent, so that an interrupted request is detected.
-- `due_at`: when the row needs work again, NULL if it does not.
CREATE TABLE desired_items (
    restaurant_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    is_option BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    account_id {blob} NOT NULL,
    integration_id {blob} NOT NULL,
    version BIGINT NOT NULL,
    is_available BIGINT NOT NULL,
    end_kind TEXT NOT NULL,
    ends_at BIGINT,
    made_by TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    accepted_version BIGINT NOT NULL,
    accepted_at BIGINT,
    confirmed_at BIGINT,
    timer TEXT,
    attempts BIGINT NOT NULL,
    node {blob},
    sending BIGINT,
    due_at BIGINT,
    PRIMARY KEY (restaurant_id, provider, is_option, remote_id)
) {keyed};
CREATE INDEX desired_items_due ON desired_items (integration_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX desired_items_next ON desired_items (due_at) WHERE due_at IS NOT NULL;

-- Versions of the platforms' menus, compressed; a version is written only when the menu has changed.
CREATE TABLE menu_versions (
    restaurant_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    number BIGINT NOT NULL,
    account_id {blob} NOT NULL,
    hash {blob} NOT NULL,
    body {blob} NOT NULL,
    products BIGINT NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (restaurant_id, provider, number)
) {keyed};

-- When the menu of an integration is read next, and the result of the last read. While `node` reads it, `due_at` is the time of the
-- next read. A platform without menus has a row too: its products are collected from orders, up to `order_position`.
CREATE TABLE menu_reads (
    integration_id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    node {blob},
    attempts BIGINT NOT NULL,
    read_at BIGINT,
    message TEXT,
    order_position BIGINT NOT NULL
);
CREATE INDEX menu_reads_due ON menu_reads (due_at);
CREATE INDEX menu_reads_running ON menu_reads (node) WHERE node IS NOT NULL;
CREATE INDEX menu_reads_of_restaurant ON menu_reads (restaurant_id);

-- Price changes: first a preview that expires, then a push to the platforms. `state`: preview, running, done.
CREATE TABLE price_pushes (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    state TEXT NOT NULL,
    made_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
);
CREATE INDEX price_pushes_of_restaurant ON price_pushes (restaurant_id, id);
CREATE INDEX price_pushes_by_age ON price_pushes (created_at);

-- The prices of a push. `state`: preview, pending, queued (the platform is processing `batch`), done, failed, unsupported.
CREATE TABLE price_items (
    push_id {blob} NOT NULL,
    number BIGINT NOT NULL,
    account_id {blob} NOT NULL,
    integration_id {blob} NOT NULL,
    provider TEXT NOT NULL,
    is_option BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    product_id {blob} NOT NULL,
    name TEXT NOT NULL,
    old_price BIGINT,
    new_price BIGINT NOT NULL,
    scope TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    batch TEXT,
    attempts BIGINT NOT NULL,
    node {blob},
    is_sending BIGINT NOT NULL,
    due_at BIGINT,
    PRIMARY KEY (push_id, number)
) {keyed};
CREATE INDEX price_items_due ON price_items (integration_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX price_items_next ON price_items (due_at) WHERE due_at IS NOT NULL;

-- Whole menus sent to platforms: the menu of `source`, for the branch of `integration_id` on `provider`. `stage`: pending, submitted,
-- in_progress, done, done_with_errors, failed, unclear. `body` is the request body, compressed, kept while it is needed. `token_hash`
-- is the hash of the token in the callback URL; `import_id` is the platform's id from its response, `reported_id` the id from a callback
-- that arrived before the response. `message` is our own error, `report` and `details` are the platform's.
CREATE TABLE catalog_pushes (
    id {blob} PRIMARY KEY,
    account_id {blob} NOT NULL,
    restaurant_id {blob} NOT NULL,
    integration_id {blob} NOT NULL,
    source TEXT NOT NULL,
    source_version BIGINT NOT NULL,
    provider TEXT NOT NULL,
    stage TEXT NOT NULL,
    products BIGINT NOT NULL,
    body {blob},
    token_hash {blob},
    import_id TEXT,
    reported_id TEXT,
    message TEXT,
    report TEXT,
    details TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    node {blob},
    is_sending BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    due_at BIGINT
);
CREATE INDEX catalog_pushes_of_restaurant ON catalog_pushes (restaurant_id, id);
CREATE INDEX catalog_pushes_by_age ON catalog_pushes (created_at);
CREATE INDEX catalog_pushes_due ON catalog_pushes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX catalog_pushes_of_integration ON catalog_pushes (integration_id, id);
