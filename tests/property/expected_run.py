"""What the laws say about one run: the model that a real one is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_ATTEMPTS = 3


@dataclass
class ExpectedRun:
    """What the laws say about one run."""

    run_id: str
    resumes: bool
    status: str = "pending"
    attempt: int = 0
    crashes: int = 0
    fruitful: bool = False
    expired: bool = False
    cancelled: bool = False
    log: list[tuple[int, str]] = field(default_factory=lambda: [(0, "created")])

    @property
    def terminal(self) -> bool:
        return self.status not in ("pending", "running")

    @property
    def abandoned(self) -> bool:
        return self.status == "running" and self.expired

    @property
    def strikes(self) -> int:
        """Crashes in a row without a checkpoint or a task's result, this one counted."""
        if not self.abandoned:
            return self.crashes
        return 0 if self.fruitful and self.resumes else self.crashes + 1

    def swept(self) -> None:
        if self.cancelled and (self.abandoned or self.status == "pending"):
            self.end_unowned("interrupted")
        elif self.abandoned and self.strikes >= MAX_ATTEMPTS:
            self.crashes = self.strikes
            self.end_unowned("error")

    def end_unowned(self, status: str) -> None:
        self.attempt += 1
        self.end(status)

    def end(self, status: str) -> None:
        self.status = status
        self.log.append((self.attempt, "end"))

    def claimable(self, *, idle: bool) -> bool:
        most = MAX_ATTEMPTS if idle else MAX_ATTEMPTS - 1
        due = self.status == "pending" or self.abandoned
        return due and not self.cancelled and self.strikes < most

    def claimed(self) -> None:
        self.crashes = self.strikes
        self.attempt += 1
        self.status, self.fruitful, self.expired = "running", False, False

    def handed_back(self) -> None:
        self.status = "pending"
        if self.fruitful and self.resumes:
            self.crashes = 0
