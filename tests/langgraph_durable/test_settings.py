from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from langgraph_durable.errors import SettingsError
from langgraph_durable.model import RecoveryStrategy
from langgraph_durable.settings import Settings


def test_an_empty_environment_means_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()
    assert Settings().database_url is None


@pytest.mark.parametrize("name", ["DATABASE_URL", "DATABASE_URI", "POSTGRES_URI"])
def test_the_database_is_found_under_each_of_its_names(name: str) -> None:
    settings = Settings.from_environment({name: "postgresql://u@h/d"})
    assert settings.database_url == "postgresql://u@h/d"


def test_the_own_name_of_a_knob_wins_over_its_aliases() -> None:
    env = {"LANGGRAPH_DURABLE_JOBS_PER_WORKER": "4", "N_JOBS_PER_WORKER": "7"}
    assert Settings.from_environment(env).jobs_per_worker == 4


def test_an_override_wins_over_the_environment_and_none_is_no_override() -> None:
    env = {"N_JOBS_PER_WORKER": "7"}
    assert Settings.from_environment(env, jobs_per_worker=2).jobs_per_worker == 2
    assert Settings.from_environment(env, jobs_per_worker=None).jobs_per_worker == 7


def test_the_official_names_are_understood() -> None:
    settings = Settings.from_environment(
        {
            "N_JOBS_PER_WORKER": "3",
            "BG_JOB_MAX_RETRIES": "5",
            "BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS": "7.5",
            "MOUNT_PREFIX": "/agents",
        }
    )
    assert (settings.jobs_per_worker, settings.max_attempts) == (3, 5)
    assert (settings.shutdown_grace_seconds, settings.mount_prefix) == (7.5, "/agents")


def test_every_knob_has_a_variable() -> None:
    env = {
        "LANGGRAPH_DURABLE_RECOVERY": "EVENT_LOG",
        "LANGGRAPH_DURABLE_RECOVERY_BY_GRAPH": "a=event_log, b=agent-session",
        "LANGGRAPH_DURABLE_LEASE_SECONDS": "9",
        "LANGGRAPH_DURABLE_SEND_RESUMED": "no",
        "LANGGRAPH_DURABLE_HOME": "/data",
        "LANGGRAPH_DURABLE_POOL_SIZE": "3",
    }
    settings = Settings.from_environment(env)
    assert settings.recovery is RecoveryStrategy.EVENT_LOG
    assert settings.recovery_of("b") is RecoveryStrategy.AGENT_SESSION
    assert settings.recovery_of("c") is RecoveryStrategy.EVENT_LOG
    assert (settings.lease_seconds, settings.pool_size) == (9.0, 3)
    assert (settings.send_resumed, settings.home) == (False, Path("/data"))


def test_the_variables_of_libpq_make_an_address_without_the_password() -> None:
    env = {
        "PGHOST": "db.example",
        "PGPORT": "5433",
        "PGUSER": "o'neil",
        "PGDATABASE": "agents",
        "PGPASSWORD": "s3cret",
    }
    url = Settings.from_environment(env).database_url
    assert url is not None
    assert conninfo_to_dict(url) == {
        "host": "db.example",
        "port": "5433",
        "user": "o'neil",
        "dbname": "agents",
    }


def test_a_user_name_alone_names_no_database() -> None:
    assert Settings.from_environment({"PGUSER": "me"}).database_url is None


def test_every_problem_is_reported_at_once() -> None:
    env = {
        "DATABASE_URL": "mysql://u:hidden@h/d",
        "N_JOBS_PER_WORKER": "many",
        "LANGGRAPH_DURABLE_RECOVERY": "pray",
        "LANGGRAPH_DURABLE_HEARTBEAT_SECONDS": "15",
        "LANGGRAPH_DURABLE_POOL_SIZE": "0",
        "MOUNT_PREFIX": "agents/",
    }
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(env)
    problems = caught.value.message.split("\n")
    assert sorted(line.partition(":")[0] for line in problems) == [
        "LANGGRAPH_DURABLE_RECOVERY",
        "N_JOBS_PER_WORKER",
        "database_url",
        "heartbeat_seconds",
        "mount_prefix",
        "pool_size",
    ]


def test_a_misspelt_variable_is_a_problem_that_says_what_was_meant() -> None:
    with pytest.raises(SettingsError, match="did you mean LANGGRAPH_DURABLE_LEASE_SECONDS"):
        Settings.from_environment({"LANGGRAPH_DURABLE_LEASE_SECOND": "5"})


@pytest.mark.parametrize(
    "url", ["postgresql://u:hidden%zz@h/d", "hidden", "mysql://u:hidden@h/d", "hidden\ud800=1"]
)
def test_a_wrong_address_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings(database_url=url)
    assert "hidden" not in caught.value.message


def test_no_address_is_shown_by_repr() -> None:
    url = "postgresql://u:s3cret@h/d"
    assert "s3cret" not in repr(Settings(database_url=url, direct_database_url=url))


def test_settings_cannot_be_changed() -> None:
    settings = Settings(recovery_by_graph={"a": RecoveryStrategy.EVENT_LOG})
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.pool_size = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        settings.recovery_by_graph["b"] = RecoveryStrategy.EVENT_LOG  # type: ignore[index]


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "0"])
def test_a_lease_must_be_a_real_time(number: str) -> None:
    with pytest.raises(SettingsError, match="lease_seconds"):
        Settings.from_environment({"LANGGRAPH_DURABLE_LEASE_SECONDS": number})


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1))
def test_any_user_name_survives_the_address_made_for_libpq(user: str) -> None:
    url = Settings.from_environment({"PGHOST": "h", "PGUSER": user}).database_url
    assert conninfo_to_dict(url or "")["user"] == user


def test_the_real_environment_is_accepted() -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "DATABASE"))}
    assert Settings.from_environment(kept).pool_size >= 1
