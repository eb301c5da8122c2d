//! Every table with its columns: the one list that reading, inserting and copying share.
//!
//! `columns!` and `insert!` accept only columns that are declared here. A test compares the declarations with the
//! migrated schema.

/// A table as the migrations leave it.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    /// How many of the first columns form the primary key.
    pub key_columns: usize,
    pub columns: &'static [&'static str],
}

macro_rules! tables {
    ($($table:ident($key_columns:literal) { $($column:ident)* })*) => {
        pub const TABLES: &[Table] = &[$(Table {
            name: stringify!($table),
            key_columns: $key_columns,
            columns: &[$(stringify!($column)),*],
        }),*];
    };
}

tables! {
    accounts(1) {
        id name email password_hash position newest_at webhook_url webhook_authorization webhook_updated_at
        deliver_node deliver_version forgotten created_at order_updates given_up_seen
        optional_events requires_two_factor webhook_routes erase_version
    }
    users(1) {
        id account_id email name language role restaurants password_hash totp totp_new totp_step is_disabled created_at
        last_sign_in_at openid_issuer openid_subject
    }
    recovery_codes(2) { user_id hash }
    user_tokens(1) { hash user_id purpose created_at ends_at }
    nodes(1) { id name beats schema_number }
    api_keys(1) { id account_id label hint hash sealed is_primary created_at last_used_at scopes restaurants networks expires_at
        replaced_by_id last_used_from }
    businesses(1) {
        id account_id name description vat_number tax_office address city country zip_code phone email created_at
        updated_at
    }
    restaurants(1) {
        id account_id business_id name description address lat lon config payment_matching_url
        payment_matching_headers payment_matches created_at updated_at deleted_at escalation
    }
    packages(1) { id restaurant_id name providers starts_at ends_at }
    integrations(1) {
        id account_id restaurant_id provider is_active remote_id credentials inbound_hash default_cancel_reason
        last_order_at last_error_at last_error created_at updated_at poll_node polled_at version trouble_at
        owns_branch branch_proven_at
    }
    orders(1) {
        id account_id restaurant_id integration_id position status reported_at line provider provider_order_id
        identity content_hash short_code provider_status provider_data sequence total currency payment_type
        payment_code placed_at accept_by scheduled_for ready_at created_at updated_at cancellation sync_state
        sync_due_at sync_message flag revision content_version changed preparation_minutes escalated_at erased_at
    }
    order_contents(1) { order_id body }
    order_timeline(2) { order_id number at from_status to_status actor why revision changes replaced_hash }
    order_notices(2) { order_id kind account_id call status message created_at }
    events(1) {
        id account_id restaurant_id order_id position sequence name body state reason attempts failures held due_at
        created_at
    }
    attempts(2) { event_id number at url status duration_ms name_us connect_us tls_us first_byte_us explanation response }
    resends(1) { id account_id since with_skipped last_place reached found requeued created_at finished_at endpoint_id }
    webhook_endpoints(1) {
        id account_id label url state state_at filter auth token secret old_secret old_secret_until body retries
        failing_since failures created_at updated_at deleted_at
    }
    endpoint_deliveries(2) {
        event_id endpoint_id account_id order_id position state reason attempts failures held due_at
    }
    endpoint_attempts(3) {
        event_id endpoint_id number at url status duration_ms name_us connect_us tls_us first_byte_us explanation
        response
    }
    endpoint_stats(2) {
        endpoint_id hour account_id attempts failures total_ms times last_failure_at last_failure
    }
    calls(1) {
        id account_id restaurant_id order_id integration_id number kind argument state attempts due_at node
        leased_until unclear not_yet_since message created_at finished_at blocked planned_at
    }
    escalation_steps(2) { order_id number account_id restaurant_id needs_platform step due_at attempts }
    channels(1) { id account_id name kind language target created_at updated_at }
    messages(1) {
        id account_id channel_id order_id content state attempts due_at node explanation created_at finished_at
    }
    notice_settings(1) { account_id kinds channels day sent updated_at }
    incidents(3) { account_id kind subject opened_at notified }
    presence(2) { node account_id body }
    inbox(1) {
        id hash account_id restaurant_id order_id provider kind params branch identity body state reason times
        received_at
    }
    payment_totals(3) { scope level span sums }
    order_stats(2) { scope span counts }
    idempotency(2) {
        account_id key_hash request_hash reserved_id acted status body leased_until created_at node run_id
    }
    order_words(2) { account_id position words }
    word_places(3) { account_id word position }
    search_progress(1) { account_id reached }
    sessions(1) { hash account_id agent created_at seen_at ends_at user_id address confirmed_at }
    sign_in_failures(1) { hash failures last_at }
    printers(1) { id account_id restaurant_id name state message waiting created_at seen_at state_at }
    print_jobs(1) { id account_id printer_id order_id kind created_at }
    products(1) {
        id account_id restaurant_id is_option name name_key is_closed is_available created_at updated_at
    }
    declined_matches(3) { restaurant_id product_id other_id account_id declined_at }
    platform_items(4) {
        restaurant_id provider is_option remote_id account_id product_id is_manual source code name category price
        currency image_url is_available available_at traits places gone_at updated_at
    }
    desired_items(4) {
        restaurant_id provider is_option remote_id account_id integration_id version is_available end_kind ends_at
        made_by requested_at state message accepted_version accepted_at confirmed_at timer attempts node sending due_at
    }
    menu_versions(3) { restaurant_id provider number account_id hash body products read_at }
    menu_reads(1) {
        integration_id account_id restaurant_id provider due_at node attempts read_at message order_position
    }
    price_pushes(1) {
        id account_id restaurant_id state made_by created_at expires_at started_at finished_at
    }
    price_items(2) {
        push_id number account_id integration_id provider is_option remote_id product_id name old_price new_price scope
        state message batch attempts node is_sending due_at
    }
    catalog_pushes(1) {
        id account_id restaurant_id integration_id source source_version provider stage products body token_hash
        import_id reported_id message report details attempts node is_sending created_at finished_at due_at
    }
    store_states(1) {
        integration_id account_id restaurant_id provider node control version started_version finished_version actual checked_at problem
        hours due_at
    }
    store_settings(1) {
        restaurant_id account_id throttle throttle_state hours hours_version schedule schedule_due_at
    }
    restaurant_history(2) {
        restaurant_id position account_id created_at provider actor key_id action detail
    }
    audit_log(2) {
        account_id number at actor actor_id actor_name address action record_id restaurant_id before after hash
    }
    audit_chains(1) { account_id number hash at removed removed_hash }
    erasures(1) { id account_id query last_position reached erased waiting created_at finished_at }
    waiting_erasures(1) { order_id account_id created_at }
    privacy_settings(1) { account_id anonymise_days reached }
    request_log(2) {
        account_id number at key_id key_name method path query status code duration_ms size request_id address
    }
    master_key_check(1) { id sealed }
    account_states(1) {
        account_id state reason changed_at max_restaurants max_keys max_endpoints max_orders_per_day
    }
    key_rotation(1) { id phase old_key new_key started_at }
    node_keys(1) { node started_with phase }
}

/// Reports whether a table has a column; evaluated at compile time.
pub(crate) const fn has_column(table: &str, column: &str) -> bool {
    let mut t = 0;
    while t < TABLES.len() {
        if is_equal(TABLES[t].name, table) {
            let mut c = 0;
            while c < TABLES[t].columns.len() {
                if is_equal(TABLES[t].columns[c], column) {
                    return true;
                }
                c += 1;
            }
        }
        t += 1;
    }
    false
}

const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
