import os

import pytest
from hypothesis import HealthCheck, settings

from tests.support import Oc

settings.register_profile("default", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def oc(tmp_path):
    """The real command in an empty home."""
    return Oc(tmp_path)
