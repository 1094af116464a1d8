"""A page that waits for a job: progress, cancelling, and the result."""

from streamlit.testing.v1 import AppTest

from study.base.errors import NotNow
from tests.page_runs import button


class FakeJob:
    """A job that ends after a number of checks."""

    def __init__(self, n_checks: int) -> None:
        self.checks_left = n_checks
        self.is_cancelled = False

    def is_done(self, _: float) -> bool:
        """Count a check; return whether the job has ended."""
        self.checks_left -= 1
        return self.checks_left < 0 or self.is_cancelled

    def cancel(self) -> None:
        """End the job."""
        self.is_cancelled = True

    def outcome(self) -> str:
        """Return the result."""
        if self.is_cancelled:
            raise NotNow("Cancelled. Nothing was saved.")
        return "read"


def _page(job: object) -> None:
    from ui.parts import actions
    from ui.server.job_view import outcome_of

    actions.button(
        "Read",
        lambda: outcome_of("read", lambda: job, "Reading x.csv"),  # type: ignore[arg-type, return-value]
        key="read",
    )


def _read(job: FakeJob, left: FakeJob | None = None) -> AppTest:
    app = AppTest.from_function(_page, args=(job,), default_timeout=20).run()
    if left is not None:
        app.session_state["job-read"] = left
    button(app, "read").click().run()
    assert not app.exception
    assert "job-read" not in app.session_state
    return app


def test_a_page_shows_the_result_of_a_job_and_forgets_the_job() -> None:
    """The job ends at once or after some time."""
    for n_checks in (0, 3):
        assert [element.value for element in _read(FakeJob(n_checks)).success] == ["read"]


def test_the_job_of_an_interrupted_page_is_cancelled() -> None:
    """An example is another file that is chosen while the first is read."""
    left = FakeJob(99)
    assert [element.value for element in _read(FakeJob(0), left).success] == ["read"]
    assert left.is_cancelled


def test_a_cancelled_job_reports_that_nothing_was_saved() -> None:
    """The report is next to the button that started it."""
    job = FakeJob(5)
    job.cancel()
    assert "Nothing was saved" in _read(job).error[0].value
