"""What a call may touch beyond what it named, once it may run."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from hrns.permissions import Access, Verdict

__all__ = ["Grant"]


@frozen
class Grant:
    """The permission of a call that runs, for what it finds on its way.

    Parameters:
        judge: what the permission policies say of one more access.
        given: what they said of the access that the call named. If that was to ask, somebody said
            yes.
    """

    judge: Callable[[Access], Verdict]
    given: Verdict

    @classmethod
    def of(cls, judge: Callable[[Access], Verdict], named: Access) -> Grant:
        """The permission of a call that named this access."""
        return cls(judge, judge(named))

    def refusal(self, access: Access) -> Verdict | None:
        """Why the call may not touch this, or None if it may.

        What would be asked about it for the same reason was answered with the first question.
        """
        verdict = self.judge(access)
        if verdict.decision == "allow":
            return None
        asked = verdict.decision == self.given.decision == "ask"
        alike = verdict.source == self.given.source
        if access.kind != "read":  # what is below a directory is asked about with it
            alike = alike and verdict.rule == self.given.rule
            alike = alike and bool(verdict.rule or verdict.reason == self.given.reason)
        return None if asked and alike else verdict
