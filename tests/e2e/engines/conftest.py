"""The projects of `faultwire run`, played on several engines."""

from tests.e2e.play.conftest import project as project
