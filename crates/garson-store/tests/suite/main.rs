//! The storage suite: every case on both engines, so that a difference between them shows as the name of a test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backup;
mod batches;
mod bell;
mod bench;
mod board;
mod branches;
mod calls;
mod cursors;
mod deadlines;
mod deletes;
mod derived;
mod dump;
mod filters;
mod idempotency;
mod inbox;
mod integrations;
mod keys;
mod lost;
mod moving;
mod news;
mod nodes;
mod opening;
mod orders;
mod paging;
mod plans;
mod pooler;
mod questions;
mod resends;
mod retention;
mod revisions;
mod search;
mod sessions;
mod settling;
mod sharing;
mod shop;
mod status;
mod texts;
mod totals;
mod withdrawn;

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
                crate::bench::run(crate::bench::Kind::Sqlite, crate::$module::$case);
            })*)*
            $($(#[test]
            fn $sqlite_case() {
                crate::bench::run(crate::bench::Kind::Sqlite, crate::$sqlite_module::$sqlite_case);
            })*)*
        }
        mod postgres {
            $($(#[test]
            fn $case() {
                crate::bench::run(crate::bench::Kind::Postgres, crate::$module::$case);
            })*)*
            $($(#[test]
            fn $postgres_case() {
                crate::bench::run(crate::bench::Kind::Postgres, crate::$postgres_module::$postgres_case);
            })*)*
        }
    };
}

cases! {
    both {
        batches:
            one_failure_among_64_writers_is_undone_alone
            every_commit_is_counted_and_timed
            free_running_writers_share_commits
            a_panic_costs_only_its_own_job
            a_write_whose_caller_has_gone_is_committed
            an_error_undoes_the_writes_before_it
            a_broken_rule_does_not_hurt_the_neighbours
            a_job_that_overlooks_an_error_is_not_acknowledged
            readers_do_not_wait_for_a_long_write
            jobs_that_lock_in_opposite_order_both_succeed
            two_nodes_do_not_block_each_other_over_orders;
        board:
            a_board_is_made_of_open_and_newest_orders
            platforms_in_trouble_are_found;
        branches:
            a_branch_is_owned_by_the_first_that_proves_it
            a_branch_is_given_and_taken_by_the_operator
            another_branch_has_to_be_proven_anew
            a_deleted_integration_owns_nothing
            of_many_that_prove_at_once_one_owns_the_branch
            branches_are_listed_in_parts;
        status:
            calls_of_an_account_are_counted
            messages_and_deliveries_of_an_account_are_counted;
        calls:
            eight_leasers_get_every_call_once
            a_call_is_its_nodes_while_that_lives
            ends_and_delays_of_calls_are_kept
            open_calls_are_counted_up_to_a_limit
            queues_show_what_can_be_made_of_each_integration
            a_damaged_call_is_set_aside_and_stops_nobody
            calls_that_a_clock_ahead_has_planned_are_brought_forward
            what_was_not_sent_is_no_attempt
            a_process_goes_on_with_what_it_has_under_way;
        cursors:
            a_walk_while_orders_arrive_is_complete
            nothing_appears_behind_a_cursor;
        deadlines:
            a_job_whose_caller_was_told_so_is_not_run;
        deletes:
            a_deleted_restaurant_leaves_no_trace
            a_deleted_business_takes_its_restaurants_along
            two_nodes_that_sweep_together_take_sums_out_once
            nothing_of_a_deleted_restaurant_is_due;
        derived:
            what_cannot_be_derived_fails_its_own_job
            what_cannot_be_written_at_the_end_fails_its_own_job
            a_sum_that_is_too_large_fails_its_own_job
            an_error_that_a_job_ignores_fails_it;
        revisions:
            a_later_version_is_seen_everywhere
            sums_follow_versions_of_new_reported_and_finished_orders
            versions_of_one_transaction_count_each
            an_account_says_whether_it_wants_events_of_versions;
        filters:
            every_filter_of_a_list_agrees_with_a_plain_look
            what_changes_comes_behind_every_cursor
            what_the_platform_knows_is_a_change
            a_page_of_changes_looks_at_a_bounded_number_of_orders;
        settling:
            a_result_that_is_written_twice_counts_once
            a_result_that_was_written_before_does_not_hide_the_others_of_its_batch
            an_attempt_by_hand_meanwhile_hides_no_result;
        sharing:
            orders_of_one_transaction_count_each
            a_job_sees_what_those_before_it_have_left_to_be_written
            an_order_that_is_known_after_all_is_found
            what_came_before_an_order_is_found_in_the_same_transaction_and_in_a_later_one
            large_rows_of_one_transaction_are_all_there
            rows_that_are_written_together_break_rules_each_alone
            a_row_that_is_found_wrong_at_the_end_costs_only_its_own_job
            what_was_delivered_is_written_together_and_what_is_gone_is_left_out;
        idempotency:
            a_key_is_free_as_soon_as_its_run_is_dead
            a_request_is_run_once_and_answered_for_a_day
            empty_answers_are_answers
            old_answers_are_swept_in_chunks
            of_32_at_once_exactly_one_runs;
        questions:
            a_call_whose_maker_died_is_unclear
            calls_of_an_order_never_run_beside_each_other
            a_cancellation_overtakes_what_waits
            a_question_that_waits_is_hurried_or_dropped
            questions_remember_who_asks_and_why
            calls_are_held_back_and_hastened
            a_failed_step_stays_until_a_later_one_is_done
            an_early_message_waits_for_its_order
            a_post_is_held_by_one_node
            unreadable_credentials_do_not_hide_the_other_polled_integrations
            open_orders_are_found_by_their_platforms_names;
        inbox:
            a_repeated_message_is_one_row
            open_messages_are_listed_newest_first
            open_messages_are_counted_up_to_a_limit
            the_same_message_at_once_is_counted
            a_message_that_is_taken_when_it_comes_again_is_one_row
            a_message_that_could_not_be_taken_for_a_while_is_one_row
            messages_are_found_by_their_order;
        integrations:
            a_branch_is_named_once_in_an_account
            a_secret_leads_to_all_that_share_it
            one_that_cannot_be_read_hides_none_that_share_its_secret
            secrets_are_hashed_under_the_master_key_and_former_hashes_are_found
            what_a_restaurant_has_decided_comes_with_its_integration
            credentials_are_sealed_and_recovered_exactly
            health_and_switch_are_kept
            the_last_order_stays_when_the_clock_goes_back
            only_what_no_package_covers_is_ended;
        keys:
            a_key_is_found_by_its_hash_and_can_be_recovered
            one_key_is_primary_and_the_newest_inherits
            two_revocations_at_once_leave_one_key
            two_first_keys_at_once_make_one_primary;
        moving:
            everything_moves_to_the_other_engine
            a_target_with_anything_in_it_is_refused
            an_interrupted_copy_is_refused_and_starts_over
            a_copy_is_of_one_moment
            a_copy_beside_a_server_is_not_finished
            the_list_of_tables_is_the_schema;
        news:
            a_commit_wakes_those_who_watch_its_account
            the_places_of_many_accounts_are_read_together;
        nodes:
            a_commit_makes_its_node_deliver_if_nobody_does
            a_node_that_was_given_up_gets_nothing
            a_successor_and_a_settlement_do_not_pass_each_other
            accounts_are_handed_on_one_by_one;
        opening:
            opening_again_applies_nothing_twice
            a_database_of_the_future_is_refused
            a_migration_of_another_form_is_refused
            what_an_older_program_wrote_is_kept
            two_that_open_an_empty_database_at_once_both_succeed
            an_email_has_one_account
            another_master_key_is_refused;
        orders:
            the_same_order_again_changes_nothing
            an_order_is_found_by_either_id
            several_orders_under_one_platform_id_are_all_found
            a_change_is_kept_with_all_its_parts
            an_event_number_of_an_order_is_used_once
            attempts_are_counted;
        paging:
            an_empty_list_has_nowhere_to_go_but_up
            pages_end_where_the_list_ends
            walks_down_and_up_meet_the_same_orders
            filters_of_pending_orders_agree_with_a_plain_look
            times_become_places;
        resends:
            a_resend_goes_through_what_has_failed_once
            a_resend_begins_at_its_moment
            order_within_an_order_is_kept
            two_nodes_share_a_resend
            a_resend_leaves_out_what_is_gone
            open_ones_are_found_by_account;
        retention:
            old_events_are_forgotten_oldest_first
            a_successor_does_not_wait_for_what_is_forgotten
            finished_resends_are_forgotten;
        search:
            orders_are_found_by_the_beginnings_of_words
            every_filter_agrees_with_a_plain_look
            a_walk_through_results_is_complete_while_orders_arrive
            a_page_looks_no_further_than_it_may
            two_nodes_index_each_order_once
            what_is_deleted_is_not_found_and_leaves_no_word;
        sessions:
            a_session_is_found_until_it_ends
            sessions_are_ended_one_by_one_and_together
            failures_are_counted_and_forgotten
            what_has_ended_is_swept_in_chunks;
        texts:
            text_comes_back_as_it_was
            nothing_and_emptiness_are_two_things
            json_is_kept_byte_for_byte
            moments_follow_places_when_the_clock_steps_back
            a_webhook_is_kept_and_removed;
        totals:
            totals_agree_with_a_plain_sum
            totals_forget_a_deleted_restaurant_at_once_and_for_good
            totals_follow_whatever_happens
            two_nodes_that_write_together_keep_one_sum;
        withdrawn:
            a_question_that_was_not_put_is_withdrawn
            a_question_that_was_taken_up_is_not_withdrawn;
    }
    sqlite {
        backup:
            a_backup_holds_all_that_was_acknowledged
            a_backup_overwrites_nothing
            a_backup_has_its_name_when_it_is_whole
            a_backup_that_fails_leaves_nothing
            a_log_is_brought_over_while_others_write
            a_log_is_brought_over_while_others_read
            a_log_is_brought_over_while_readers_overlap
            what_is_deleted_is_not_left_in_the_file
            the_library_is_new_enough;
        deadlines:
            job_that_waited_too_long_for_the_write_lock_is_not_run;
        moving:
            a_nul_in_text_does_not_hinder_a_copy;
        opening:
            a_data_folder_has_one_server;
    }
    postgres {
        bell:
            what_one_node_commits_wakes_those_who_watch_at_another
            whoever_delivers_for_an_account_hears_of_it
            a_bell_whose_connection_broke_is_hung_again
            a_bell_goes_with_its_engine;
        lost:
            a_connection_that_broke_while_idle_is_replaced
            what_was_acknowledged_survives_broken_connections
            one_that_is_stopped_within_a_transaction_is_not_waited_for;
        deadlines:
            commits_are_durable_whatever_the_server_is_set_to;
        pooler:
            a_pooler_that_shares_connections_is_refused;
        plans:
            what_nobody_has_is_not_looked_for_among_all
            what_is_swept_is_not_looked_for_among_all
            calls_that_are_blocked_or_of_others_are_not_looked_at;
    }
}
