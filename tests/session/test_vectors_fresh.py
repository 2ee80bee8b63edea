from zoneinfo import ZoneInfo

from oc.session.fresh import evaluate, policy
from oc.session_key import reset_type
from tests.support import vectors


@vectors("sessions-freshness")
def test_freshness(case):
    given = case.input
    kind = "group" if given.get("isGroup") else "thread" if given.get("isThread") else reset_type(given["sessionKey"])
    rules = policy(given.get("session", {}), given["sessionKey"], channel=given.get("channel"), kind=kind)
    found = evaluate(rules, given.get("updatedAt"), given["now"], ZoneInfo(given["tz"]))
    actual = {
        "resetType": kind,
        "policy": {"mode": rules.mode, "atHour": rules.at_hour, "idleMinutes": rules.idle_minutes},
        "fresh": found.fresh,
        "dailyResetAt": found.daily_reset_at,
        "idleExpiresAt": found.idle_expires_at,
    }
    actual["policy"] = {k: v for k, v in actual["policy"].items() if v is not None}
    assert case.expected == {k: v for k, v in actual.items() if v is not None}
