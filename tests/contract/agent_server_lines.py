"""Which tests show that this server does what an agent server for the Responses API has to do.

``LINES`` is all of that, ``MISTAKES`` what such servers were seen to do wrong.
"""

from __future__ import annotations

HERE = "contract/test_replaces_agent_server.py"

LINES: dict[str, tuple[str, ...]] = {
    "1 four modes, the invocations path, health and info": (
        "contract/test_openai_client.py::test_a_plain_response",
        "contract/test_openai_client.py::test_a_streamed_response",
        "contract/test_openai_client.py::test_a_background_response",
        "contract/test_openai_client.py::test_a_streamed_background_response",
        "contract/test_invocations.py::test_a_body_of_the_responses_protocol_gets_a_response",
        "contract/test_invocations.py::test_it_says_that_it_is_healthy_and_what_it_is",
    ),
    "2 every kind of input; a body that is no object is refused": (
        "protocol_adapter/responses/test_request.py::test_input_becomes_messages",
        "contract/test_openai_requests.py::test_images_and_files_reach_the_graph_as_content_blocks",
        "contract/test_bad_input_responses.py::test_a_body_that_is_no_json_object_is_refused",
        f"{HERE}::test_every_kind_of_input_is_taken",
    ),
    "3 a background response is whole at once": (
        f"{HERE}::test_a_background_response_is_whole_at_once",
    ),
    "4 its id is known before the agent begins": (
        f"{HERE}::test_the_id_is_told_before_the_agent_has_said_anything",
    ),
    "5 one beginning, one end, and every item's whole life": (
        "protocol_adapter/responses/test_laws.py::test_the_stock_stream_helper_follows_every_log",
        "protocol_adapter/responses/test_transcripts.py::test_text_is_told_with_its_whole_life",
        "protocol_adapter/responses/test_golden.py::"
        "test_recorded_frames_keep_the_laws_of_the_stream",
        "contract/test_openai_client.py::test_the_helper_rebuilds_a_response_behind_a_cursor",
    ),
    "6 numbers without gap or double, over attempts and reconnects": (
        "crash/test_kill_openai.py::"
        "test_agent_session_goes_on_in_the_same_thread_without_a_second_call",
        "property/test_replay_law.py::test_responses_sends_the_rest_after_every_cursor",
        f"{HERE}::test_a_cursor_means_what_it_says",
    ),
    "7 every stream has an end": (f"{HERE}::test_every_stream_ends_with_the_end_of_its_run",),
    "8 silence is filled, nothing is buffered, and hanging up stops nothing": (
        f"{HERE}::test_silence_is_filled_and_nothing_is_buffered",
        "contract/test_openai_client.py::test_a_reader_that_leaves_does_not_stop_a_response",
    ),
    "9 a poll has one shape in all states, and the output of the final attempt": (
        f"{HERE}::test_a_poll_has_one_shape_in_all_states",
        "crash/test_kill_responses.py::"
        "test_a_rotated_response_tells_only_its_last_attempt_and_both_ids_go_on",
    ),
    "10 cancel from any process, delete, input items": (
        "langgraph_durable/test_cancel.py::test_a_cancel_asked_of_another_process_reaches_the_owner",
        "contract/test_openai_client.py::test_a_deleted_response_is_not_found",
        "contract/test_responses_kept.py::test_input_items_are_what_was_sent_with_ids",
    ),
    "11 one trace over all attempts": (
        "crash/test_tracing.py::test_an_attempt_after_a_kill_adds_its_span_to_the_same_trace",
    ),
    "12 stored before it is acknowledged, claimed by one": (
        "crash/test_kill_langgraph.py::"
        "test_an_acknowledged_run_survives_a_kill_one_instruction_later",
        "property/test_claim.py::test_many_workers_share_many_threads",
    ),
    "13 the database's clock, and a fence around every write": (
        "crash/test_clock.py::test_a_worker_whose_clock_is_off_robs_nobody_takes_over_and_loses_nothing",
        "crash/test_two_processes.py::test_a_frozen_owner_that_wakes_up_writes_nothing",
        "property/test_log_machine.py::test_a_long_life_keeps_the_laws",
    ),
    "14 a killed run goes on elsewhere; a stopped server hands over at once": (
        "crash/test_two_processes.py::"
        "test_the_survivor_goes_on_within_three_seconds_and_its_reader_does_not_notice",
        "crash/test_deploy.py::test_a_deploy_never_rotates_and_never_strikes",
    ),
    "15 by session: the same thread, no second call, no hook": (
        "crash/test_kill_openai.py::"
        "test_agent_session_goes_on_in_the_same_thread_without_a_second_call",
    ),
    "16 by log: a rotated thread that every id reaches": (
        "crash/test_kill_openai.py::"
        "test_event_log_rotates_in_the_third_turn_and_every_id_remembers",
        "crash/test_kill_people.py::test_a_response_in_front_of_a_rotation_is_forked",
    ),
    "17 a recovery of one's own, checked when it is registered": (
        "langgraph_durable/test_recovery_hook.py::"
        "test_the_hook_decides_what_a_crashed_run_is_given",
        "langgraph_durable/test_recovery_hook.py::"
        "test_a_hook_with_another_signature_is_refused_at_registration",
    ),
    "18 an end to attempts": (
        "crash/test_kill_langgraph.py::"
        "test_a_graph_that_kills_its_process_is_given_up_after_max_attempts",
    ),
    "19 later attempts know for whom they work": (
        "crash/test_headers.py::"
        "test_every_attempt_has_the_allowed_headers_and_nothing_else_shows_them",
    ),
    "20 the end is stored once and read": (
        "protocol_adapter/responses/test_routes.py::"
        "test_the_terminal_response_is_folded_once_and_stored",
    ),
    "21 a question holds nothing and is answered at either door": (
        "crash/test_kill_invocations.py::test_a_question_holds_nothing_and_outlives_the_server",
        "crash/test_kill_people.py::test_an_approval_survives_a_crash_between_question_and_answer",
        "contract/test_people_again.py::"
        "test_an_answer_given_at_the_other_door_settles_the_question",
        "cookbooks/test_hitl.py::test_what_was_proposed_at_one_door_is_answered_at_the_other",
    ),
    "22 errors tell nothing of the inside": (
        "protocol_adapter/responses/test_routes.py::"
        "test_an_engines_error_tells_nothing_of_its_inside",
    ),
    "23 what is old goes, the tables follow the release, and a server owns nothing": (
        "langgraph_durable/test_expiry.py::test_expired_threads_are_deleted_or_pruned",
        "langgraph_durable/test_expiry.py::test_a_thread_that_expires_leaves_nothing_in_any_table",
        "langgraph_durable/test_cli.py::test_migrate_says_what_it_did",
        "contract/test_plain_role.py::test_a_role_that_owns_nothing_serves_all_that_the_owner_does",
    ),
    "24 the other protocol sees the same run": (
        "crash/test_kill_openai.py::test_a_run_of_one_door_is_followed_at_the_other",
        "contract/test_openai_conversations.py::"
        "test_the_thread_of_a_conversation_is_a_thread_of_the_other_door",
    ),
    "25 no account anywhere, any database": (
        "langgraph_durable/test_cli.py::test_dev_serves_and_a_signal_leaves_nothing_behind",
        "langgraph_durable/test_settings.py::"
        "test_the_variables_of_libpq_make_an_address_without_the_password",
    ),
}

MISTAKES: dict[str, tuple[str, ...]] = {
    "a woken zombie ends the attempt that replaced it": (
        "crash/test_two_processes.py::test_a_frozen_owner_that_wakes_up_writes_nothing",
    ),
    "looking at a run that was recovered ends it as overdue": (
        "crash/test_deadline.py::"
        "test_a_recovered_run_is_not_ended_by_its_age_however_often_it_is_looked_at",
        "crash/test_deadline.py::test_a_recovered_run_that_is_overdue_ends_once_for_everybody",
    ),
    "a second crash loses what the first attempt did": (
        "crash/test_kill_openai.py::"
        "test_a_second_crash_gives_a_new_name_and_the_evidence_of_all_attempts",
    ),
    "headers are lost in a recovery": (
        "crash/test_headers.py::"
        "test_every_attempt_has_the_allowed_headers_and_nothing_else_shows_them",
    ),
    "the result mixes attempts": (
        "crash/test_kill_responses.py::"
        "test_a_rotated_response_tells_only_its_last_attempt_and_both_ids_go_on",
    ),
    "the first event is sent again and again": (f"{HERE}::test_a_cursor_means_what_it_says",),
    "a poll delays every event": (f"{HERE}::test_a_short_run_is_told_without_waiting_for_a_poll",),
    "a deploy costs the time after which a server counts as dead": (
        "crash/test_deploy.py::test_running_queued_and_streaming_runs_all_succeed_after_a_deploy",
    ),
    "a run that nobody watches waits for a scan": (
        "crash/test_two_processes.py::"
        "test_the_survivor_goes_on_within_three_seconds_and_its_reader_does_not_notice",
    ),
    "a run that kills its worker is tried for ever": (
        "crash/test_kill_langgraph.py::"
        "test_a_graph_that_kills_its_process_is_given_up_after_max_attempts",
    ),
    "there is no cancel, and a request that comes again runs again": (
        "contract/test_openai_client.py::test_a_cancelled_response_stays_cancelled",
        "contract/test_idempotency_key.py::test_requests_at_the_same_time_are_one_response",
    ),
    "whoever lost its lease works on": (
        "crash/test_two_processes.py::"
        "test_an_owner_frozen_inside_its_fenced_transaction_writes_nothing",
    ),
    "a node that blocks stops heartbeats and the server": (
        "crash/test_blocking.py::test_a_node_that_outlasts_its_lease_three_times_is_executed_once",
        "crash/test_blocking.py::"
        "test_the_api_replays_joins_and_other_runs_go_on_while_a_node_blocks",
    ),
    "one run begins and ends several times": (
        "protocol_adapter/responses/test_transcripts.py::"
        "test_there_is_one_created_and_one_terminal_event_over_many_attempts",
    ),
    "a whole log is read into memory": (
        "contract/test_reports_streams.py::"
        "test_readers_that_stop_reading_cost_little_and_harm_nobody",
    ),
    "nothing is ever deleted": (
        "langgraph_durable/test_expiry.py::test_expired_threads_are_deleted_or_pruned",
    ),
    "one process serves one agent": (
        "langgraph_durable/test_server.py::test_several_graphs_are_served_by_name",
    ),
    "a crash right behind a claim costs an attempt": (
        "langgraph_durable/test_adversity_database.py::"
        "test_a_start_whose_answer_was_lost_is_given_back_at_once",
    ),
    "numbers are shared by all runs, and errors have no detail": (
        "contract/test_invocations.py::test_every_cursor_gives_the_rest",
        "contract/test_invocations.py::test_a_failure_is_told_and_ends_the_stream",
    ),
}
