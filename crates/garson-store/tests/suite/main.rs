//! The storage suite: every case on both engines, so that a difference between them shows as the name of a test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod account_moves;
mod account_watch;
mod audit;
mod backup;
mod batches;
mod board;
mod branches;
mod broken_connections;
mod calls;
mod catalogs;
mod client_calls;
mod copy;
mod cursors;
mod database;
mod deadlines;
mod deferred_writes;
mod deletes;
mod desired_items;
mod dump;
mod endpoints;
mod escalation;
mod fixtures;
mod idempotency;
mod inbox;
mod integrations;
mod keys;
mod menus_and_prices;
#[path = "../../../../tests/src/next_schema.rs"]
mod next_schema;
mod nodes;
mod notify;
mod opening;
mod order_filters;
mod order_notices;
mod order_stats;
mod orders;
mod paging;
mod pooler;
#[path = "../../../../tests/suite/support/postgres_template.rs"]
mod postgres_template;
mod printers;
mod products;
mod query_plans;
mod request_log;
mod resends;
mod retention;
mod revisions;
mod schema_changes;
mod search;
mod sessions;
mod settlements;
mod shared_transactions;
mod status;
mod stored_values;
mod stores;
mod totals;
mod users;
mod withdrawn_calls;

/// Names a test for each case and engine.
macro_rules! cases {
    (
        both { $($module:ident: $($case:ident)*;)* }
        sqlite { $($sqlite_module:ident: $($sqlite_case:ident)*;)* }
        postgres { $($postgres_module:ident: $($postgres_case:ident)*;)* }
    ) => {
        mod sqlite {
            $($(#[test]
            fn $case() {
                crate::database::run(crate::database::Kind::Sqlite, crate::$module::$case);
            })*)*
            $($(#[test]
            fn $sqlite_case() {
                crate::database::run(crate::database::Kind::Sqlite, crate::$sqlite_module::$sqlite_case);
            })*)*
        }
        mod postgres {
            $($(#[test]
            fn $case() {
                crate::database::run(crate::database::Kind::Postgres, crate::$module::$case);
            })*)*
            $($(#[test]
            fn $postgres_case() {
                crate::database::run(crate::database::Kind::Postgres, crate::$postgres_module::$postgres_case);
            })*)*
        }
    };
}

cases! {
    both {
        account_moves:
            exported_account_is_imported_completely
            import_refuses_what_is_there_and_is_undone
            interrupted_import_starts_over
            removed_account_leaves_no_row
            everything_is_sealed_again;
        audit:
            entries_of_concurrent_jobs_form_one_chain
            changed_removed_and_inserted_rows_are_found
            chain_is_verified_after_old_rows_are_removed
            audit_log_is_filtered_and_paged;
        batches:
            failed_job_among_64_is_rolled_back_alone
            every_commit_is_counted_and_timed
            concurrent_writers_share_commits
            panic_fails_only_its_own_job
            write_of_dropped_caller_is_committed
            jobs_beyond_a_batch_are_a_standing_queue
            jobs_behind_a_blocked_batch_are_no_standing_queue
            error_rolls_back_the_writes_before_it
            constraint_violation_fails_only_its_own_job
            job_that_ignores_an_error_is_not_acknowledged
            readers_do_not_wait_for_a_long_write
            jobs_with_opposite_lock_order_both_succeed
            two_nodes_do_not_block_each_other_over_orders;
        board:
            board_has_open_and_newest_orders
            platforms_in_trouble_are_found;
        branches:
            first_integration_with_proof_owns_the_branch
            operator_assigns_and_releases_a_branch
            changed_branch_loses_its_proof
            deleted_integration_owns_no_branch
            concurrent_proofs_make_one_owner
            branches_are_listed_in_chunks;
        endpoints:
            secrets_of_an_endpoint_are_sealed
            event_is_written_for_the_endpoints_that_want_it
            later_event_waits_at_each_endpoint_by_itself
            filtered_event_does_not_let_a_later_one_overtake
            results_of_an_endpoint_are_counted_once
            endpoint_that_keeps_failing_is_disabled
            skipped_deliveries_of_an_endpoint_are_requeued_in_order
            removed_events_leave_no_deliveries
            statistics_are_added_by_the_hour;
        order_notices:
            notices_are_kept_by_kind_and_account
            notice_lasts_a_day
            given_up_events_are_acknowledged;
        products:
            product_has_one_item_of_each_platform
            stored_item_keeps_its_product_and_newer_availability
            products_are_paged_and_searched_by_name
            deleted_restaurant_leaves_no_products
            disconnected_platform_leaves_products_of_others
            declined_pairs_are_kept_once_and_end_with_their_products;
        desired_items:
            later_version_survives_the_end_of_an_earlier_one
            item_of_a_dead_node_is_claimed_as_interrupted
            due_integrations_are_found_by_time;
        menus_and_prices:
            menu_versions_are_kept_when_they_change
            menus_of_a_restaurant_are_read_by_one_node
            prices_are_sent_once_and_the_change_ends_with_the_last;
        catalogs:
            catalog_is_claimed_by_one_node_and_remembers_that_it_was_sent
            progress_of_a_catalog_is_stored
            newer_catalog_replaces_those_that_wait;
        status:
            calls_of_an_account_are_counted
            messages_and_deliveries_of_an_account_are_counted;
        calls:
            eight_nodes_lease_every_call_once
            leased_call_belongs_to_its_node_while_it_is_a_member
            ends_and_delays_of_calls_are_stored
            open_calls_are_counted_up_to_a_limit
            queues_contain_runnable_calls_of_each_integration
            unreadable_call_fails_and_blocks_no_other
            calls_scheduled_by_a_fast_clock_are_brought_forward
            unsent_call_counts_no_attempt
            node_keeps_its_calls_in_flight_after_suspension;
        cursors:
            paging_is_complete_while_orders_arrive
            no_order_appears_behind_a_cursor;
        deadlines:
            job_reported_as_timed_out_is_not_run;
        deletes:
            sweep_removes_every_row_of_a_deleted_restaurant
            deleting_a_business_deletes_its_restaurants
            concurrent_sweeps_subtract_sums_once
            deliveries_of_a_deleted_restaurant_are_not_due;
        deferred_writes:
            failed_deferred_value_fails_its_own_job
            failed_deferred_write_fails_its_own_job
            overflowing_sum_fails_its_own_job
            ignored_error_fails_its_job;
        revisions:
            revision_is_visible_in_order_lists_and_timeline
            revisions_update_totals_in_every_status
            several_revisions_in_one_transaction_all_count
            account_opts_into_revision_events;
        order_filters:
            order_list_filters_agree_with_a_full_scan
            changed_order_appears_after_every_cursor
            sync_progress_is_listed_as_a_change
            page_of_changes_examines_a_bounded_number_of_orders;
        settlements:
            settlement_written_twice_counts_once
            repeated_settlement_does_not_hide_others_in_its_batch
            manual_attempt_in_between_keeps_the_settlement;
        shared_transactions:
            orders_of_one_transaction_all_count
            job_sees_deferred_writes_of_earlier_jobs
            order_assumed_new_is_found_if_it_exists
            early_message_is_found_in_the_same_and_in_a_later_transaction
            large_rows_of_one_transaction_are_all_stored
            constraint_violation_in_a_batch_fails_one_job
            failed_check_before_commit_fails_only_its_own_job
            delivered_batch_skips_removed_events;
        idempotency:
            idempotency_key_is_free_when_its_run_is_dead
            keyed_request_runs_once_and_is_answered_for_a_day
            empty_response_is_stored
            old_responses_are_swept_in_chunks
            one_of_32_concurrent_requests_runs;
        client_calls:
            call_of_a_dead_node_is_unclear
            calls_of_an_order_run_one_at_a_time
            cancellation_overtakes_waiting_calls
            waiting_question_can_be_made_due_or_abandoned
            question_stores_its_actor_and_reason
            open_calls_can_be_delayed_and_made_due
            failed_step_remains_until_a_later_one_succeeds
            an_early_message_waits_for_its_order
            integration_is_polled_by_one_node
            unreadable_credentials_do_not_hide_the_other_polled_integrations
            open_orders_are_found_by_identity;
        inbox:
            repeated_message_is_one_row
            open_messages_are_listed_newest_first
            open_messages_are_counted_up_to_a_limit
            concurrent_copies_of_a_message_are_counted
            message_processed_on_repetition_is_one_row
            message_unprocessed_in_between_is_one_row
            messages_are_found_by_their_order;
        integrations:
            a_branch_is_named_once_in_an_account
            shared_secret_finds_all_its_integrations
            unreadable_integration_does_not_hide_others_with_its_secret
            secrets_are_hashed_under_the_master_key_and_former_hashes_are_found
            inbound_integration_has_its_restaurants_settings
            credentials_are_sealed_and_recovered_unchanged
            health_and_active_state_are_stored
            last_order_time_never_decreases
            only_uncovered_restaurants_have_an_ended_package;
        keys:
            key_is_found_by_hash_and_can_be_recovered
            newest_key_becomes_primary_after_a_revocation
            concurrent_revocations_leave_one_key
            concurrent_first_keys_make_one_primary
            limits_of_a_key_are_stored
            key_that_expires_does_not_become_primary
            replaced_primary_key_ends_or_stays;
        copy:
            copy_to_the_other_engine_is_complete
            non_empty_target_is_refused
            an_interrupted_copy_is_refused_and_starts_over
            copy_is_a_consistent_snapshot
            copy_while_a_server_runs_is_not_finished
            declared_tables_match_the_schema;
        account_watch:
            commit_wakes_watchers_of_its_account
            last_positions_of_many_accounts_are_read_together;
        nodes:
            commit_assigns_unowned_account_to_its_node
            removed_node_gets_no_accounts
            new_event_and_settlement_of_its_predecessor_are_serialised
            accounts_are_released_one_by_one;
        opening:
            opening_again_applies_nothing_twice
            database_of_a_newer_release_is_refused
            changed_migration_is_refused
            data_of_an_older_release_is_kept
            concurrent_opens_of_an_empty_database_both_succeed
            email_address_has_one_account
            another_master_key_is_refused;
        schema_changes:
            earlier_program_runs_beside_a_later_schema
            rows_of_earlier_programs_are_filled_too
            interrupted_filling_goes_on_where_it_was
            two_nodes_fill_together
            new_database_has_everything_at_once;
        orders:
            the_same_order_again_changes_nothing
            an_order_is_found_by_either_id
            several_orders_under_one_platform_id_are_all_found
            order_change_is_stored_completely
            an_event_number_of_an_order_is_used_once
            attempts_are_counted;
        paging:
            empty_list_has_only_a_newer_cursor
            pages_end_where_the_list_ends
            paging_down_and_up_returns_the_same_orders
            pending_order_filters_agree_with_a_full_scan
            timestamps_become_positions;
        resends:
            resend_requeues_each_failed_delivery_once
            resend_starts_at_its_timestamp
            resend_keeps_the_sequence_of_an_order
            two_nodes_can_run_one_resend
            resend_skips_deleted_restaurants
            open_resends_are_found_by_account;
        retention:
            old_events_are_removed_oldest_first
            held_event_is_released_when_its_predecessor_is_removed
            finished_resends_are_removed;
        search:
            search_matches_prefixes_of_words
            search_filters_agree_with_a_full_scan
            paging_through_results_is_complete_while_orders_arrive
            search_page_examines_a_bounded_number_of_orders
            two_nodes_index_each_order_once
            deleted_orders_are_removed_from_the_search_index;
        printers:
            a_report_changes_the_printer_and_removes_printed_jobs
            notes_of_an_agent_are_read_back
            printers_are_deleted_with_their_restaurant
            old_print_jobs_are_swept_in_chunks;
        request_log:
            calls_are_read_as_they_were_written
            calls_are_filtered_and_paged
            only_the_last_calls_are_kept
            accounts_that_are_removed_do_not_stay;
        sessions:
            a_session_is_found_until_it_ends
            sessions_are_ended_one_by_one_and_together
            sign_in_failures_are_counted_and_cleared
            ended_sessions_are_swept_in_chunks;
        users:
            user_is_stored_and_changed
            email_address_has_one_user
            user_is_found_by_the_identity_until_the_address_changes
            removed_user_leaves_nothing_that_signs_in
            token_works_once_and_for_its_time
            second_factor_is_confirmed_before_it_counts
            recovery_code_works_once;
        stored_values:
            text_is_stored_unchanged
            null_and_empty_text_are_distinct
            json_is_kept_byte_for_byte
            timestamps_follow_positions_when_the_clock_goes_back
            webhook_is_stored_and_removed;
        stores:
            store_is_read_as_it_was_written
            store_belongs_to_one_live_node
            settings_are_found_by_restaurant_and_by_time
            orders_are_counted_up_to_a_limit
            history_is_paged_newest_first_and_swept
            stores_are_deleted_with_their_restaurant
            stores_with_problems_are_found_by_account;
        order_stats:
            counts_agree_with_a_full_scan
            times_are_measured_from_arrival_and_acceptance
            counts_of_older_releases_are_filled_in
            concurrent_writers_keep_correct_counts;
        totals:
            totals_agree_with_a_full_scan
            totals_exclude_a_deleted_restaurant
            totals_agree_after_random_changes
            concurrent_writers_keep_correct_totals;
        escalation:
            steps_are_due_by_account_and_taken_once
            messages_of_each_channel_are_a_queue
            message_of_a_dead_node_is_ended_and_not_sent_again
            presence_counts_only_for_member_nodes
            channels_are_sealed_and_belong_to_their_account
            incidents_are_opened_once;
        withdrawn_calls:
            call_without_confirmed_commit_is_withdrawn
            leased_call_is_not_withdrawn;
    }
    sqlite {
        account_moves:
            every_table_and_secret_is_classified;
        backup:
            a_backup_holds_all_that_was_acknowledged
            a_backup_overwrites_nothing
            backup_is_renamed_when_complete
            failed_backup_leaves_no_file
            wal_is_checkpointed_while_others_write
            wal_is_checkpointed_while_others_read
            wal_is_checkpointed_while_readers_overlap
            deleted_data_is_overwritten_in_the_file
            the_library_is_new_enough;
        deadlines:
            job_that_waited_too_long_for_the_write_lock_is_not_run;
        copy:
            nul_in_text_is_replaced_by_a_copy;
        opening:
            a_data_folder_has_one_server;
    }
    postgres {
        notify:
            commit_wakes_watchers_on_another_node
            delivering_node_is_notified
            broken_listener_reconnects
            listener_stops_with_its_engine;
        broken_connections:
            idle_connection_that_broke_is_replaced
            acknowledged_writes_survive_broken_connections
            suspended_node_in_a_transaction_blocks_no_other;
        deadlines:
            commits_are_durable_whatever_the_server_is_set_to;
        pooler:
            a_pooler_that_shares_connections_is_refused;
        schema_changes:
            migration_that_waits_for_a_lock_blocks_nobody
            migration_waits_for_a_vacuum_without_blocking_anybody
            unfinished_index_is_made_again
            offline_migration_is_refused_while_nodes_run;
        query_plans:
            filter_without_matches_reads_few_rows
            rows_to_be_swept_are_not_read
            blocked_calls_and_other_queues_are_not_read
            summary_of_a_day_reads_the_rows_of_that_day;
    }
}
