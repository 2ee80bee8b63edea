import json
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.memory.sqlite.driver import connect
from tests.memory.store import Store
from tests.support import ROOT, testdata

NOTES = {
    "MEMORY.md": "# Memory\n\n- Prefers short answers\n- 偏好：简洁回答\n",
    "memory/2026-05-04.md": "# 2026-05-04\n\n- 数据库 moved by Müller, 部署 done\n- sqlite-vec pinned, see foo_bar-1\n",
    "memory/ids.md": "commit a828e60\nkey memorySearch.query.hybrid\nmail ada@example.org\n"
    "file report-final_v2.tar.gz\n",
    "memory/ja.md": "昨日の会議でルーターの設定を変更しました。\nデータベースの移行は来週です。\n",
    "memory/ko.md": "어제 배포 전략을 논의했다. 데이터베이스를 이전한다.\n",
    "memory/ru.md": "Встреча с Сергеем перенесена, Сергей придёт позже.\n",
    "memory/gr.md": "Ο Γιώργος έφυγε.\n",
    "memory/network.md": "Router: Omada ER605\nAdGuard: 192.168.10.2\nVLAN 10: IoT, cafe naive resume\n",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = Store(tmp_path_factory.mktemp("search"), NOTES)
    made.backend.sync()
    return made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("部署", "memory/2026-05-04.md"),
        ("数据库", "memory/2026-05-04.md"),
        ("库", "memory/2026-05-04.md"),
        ("数", "memory/2026-05-04.md"),
        ("简洁", "MEMORY.md"),
        ("回答", "MEMORY.md"),
        ("Müller", "memory/2026-05-04.md"),
        ("muller", "memory/2026-05-04.md"),
        ("Mu\u0308ller", "memory/2026-05-04.md"),
        ("sqlite-vec", "memory/2026-05-04.md"),
        ("sqlite vec", "memory/2026-05-04.md"),
        ("2026-05-04", "memory/2026-05-04.md"),
        ("foo_bar-1", "memory/2026-05-04.md"),
        ("a828e60", "memory/ids.md"),
        ("a828", "memory/ids.md"),
        ("memorySearch.query.hybrid", "memory/ids.md"),
        ("hybrid", "memory/ids.md"),
        ("ada@example.org", "memory/ids.md"),
        ("report-final_v2.tar.gz", "memory/ids.md"),
        ("report-final", "memory/ids.md"),
        ("設定", "memory/ja.md"),
        ("ルーター", "memory/ja.md"),
        ("データベースの移行", "memory/ja.md"),
        ("데이터베이스", "memory/ko.md"),
        ("배포 전략", "memory/ko.md"),
        ("Сергей", "memory/ru.md"),
        ("сергей", "memory/ru.md"),
        ("Γιώργος", "memory/gr.md"),
        ("192.168.10.2", "memory/network.md"),
        ("VLAN 10", "memory/network.md"),
        ("café naïve résumé", "memory/network.md"),
        ("ＶＬＡＮ", "memory/network.md"),
        ("network", "memory/network.md"),
        ("preferring answers", "MEMORY.md"),
        ('"router" (NEAR) * ^', "memory/network.md"),
    ],
)
def test_a_word_finds_its_note(store, query, path):
    assert path == store.found(query)[0]


@pytest.mark.parametrize(
    "query",
    [
        "ZXQ_UNRELATED",
        "qqqq wwww",
        "量子纠缠",
        "foo_bar-2",
        "2027-01-01",
        "",
        "   ",
        "?!",
        "™",
        "\0",
        "who is that",
        "薪",
    ],
)
def test_nonsense_finds_nothing(store, query):
    assert [] == store.found(query)


def test_a_hit_says_where_it_stands_and_how_its_score_came_about(store):
    (hit,) = store.backend.search("pinned").hits
    assert ("memory/2026-05-04.md", 4, 4, "- sqlite-vec pinned, see foo_bar-1", "memory", (1, 5)) == (
        *hit[:3],
        hit.snippet,
        hit.source,
        hit.chunk,
    )
    assert {"coverage": 1.0, "bm25": 1.0, "closeness": 1.0, "words": ["pinned"]} == hit.why
    assert 1.0 == hit.score


def test_an_identifier_is_no_match_for_another_that_shares_its_parts(tmp_path):
    notes = {f"memory/{n}.md": f"ticket INC-{n} about unrelated things\n" for n in range(10, 30)}
    store = Store(tmp_path, notes)
    assert ["memory/17.md"] == store.found("INC-17")
    assert [] == store.found("INC-99")
    assert [] == store.found("ZXQ_UNRELATED")


def test_what_stands_together_comes_before_what_is_scattered(tmp_path):
    filler = "".join(f"- {word} nothing to see here at all\n" for word in ("alpha", "beta", "gamma", "delta", "zeta"))
    store = Store(
        tmp_path,
        {
            "memory/a.md": f"- the staging host\n{filler}- a database elsewhere\n",
            "memory/b.md": f"- the staging database\n{filler}- a host elsewhere\n",
        },
    )
    assert ["memory/b.md", "memory/a.md"] == store.found("staging database")


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_in_a_small_store_the_rarest_word_of_a_note_finds_it(tmp_path, count):
    words = ["staging", "部署", "Müller", "a828e60", "Сергей"]
    notes = {f"memory/{n}.md": f"# Note\n\nThis is about {words[n]} and the rest.\n" for n in range(count)}
    store = Store(tmp_path, notes)
    for n in range(count):
        assert [f"memory/{n}.md"] == store.found(words[n])
        assert f"memory/{n}.md" == store.found(f"what do we know about {words[n]}?")[0]
    assert count == len(store.found("note"))
    assert [] == store.found("ZXQ_UNRELATED")


def test_order_is_total_and_scores_fall(tmp_path):
    store = Store(tmp_path, {f"memory/{n}.md": "same words here\n" for n in "bca"})
    hits = store.backend.search("same words").hits
    assert ["memory/a.md", "memory/b.md", "memory/c.md"] == [hit.path for hit in hits]
    assert 1 == len({hit.score for hit in hits})


def test_neighbouring_chunks_do_not_show_the_same_lines_twice(tmp_path):
    text = "".join(f"- item {n} of a list that is long enough to fill its chunk\n" for n in range(100))
    store = Store(tmp_path, {"memory/x.md": text})
    hits = store.backend.search("item list", limit=50).hits
    spans = sorted((hit.start_line, hit.end_line) for hit in hits)
    assert all(a[1] < b[0] for a, b in pairwise(spans))


def test_limit_and_minimum_score_hold(store):
    assert 1 == len(store.found("commit key mail file", limit=1))
    assert [] == store.found("commit", limit=0)
    assert all(hit.score >= 0.9 for hit in store.backend.search("router setting omada", min_score=0.9).hits)
    weak = store.backend.search("omada quux frob baz", min_score=0.0)
    assert ["memory/network.md"] == [hit.path for hit in weak.hits]
    told = store.backend.search("omada quux frob baz corge grault", explain=True)
    assert ([], ["below the minimum score"]) == (list(told.hits), [hit.why["dropped"] for hit in told.dropped])
    assert ["omada", "quux"] == [unit["text"] for unit in told.explain["units"]][:2]


def test_a_very_long_query_is_answered(store):
    assert [] == store.found("x" * 100_000)
    assert ["memory/network.md"] == store.found("Omada " * 20_000)
    assert "memory/network.md" in store.found("Omada router VLAN " + "数" * 100_000, min_score=0)


@settings(max_examples=100)
@given(query=st.text(st.sampled_from("ab数据é-_.*\"'^:() ORNEAR\n") | st.characters(), max_size=30))
def test_a_snippet_stands_in_the_lines_of_its_hit(store, query):
    """Any query is legal; what is shown is what the note says there."""
    for hit in store.backend.search(query, sync=False, min_score=0).hits:
        lines = NOTES[hit.path].split("\n")
        assert hit.snippet in "\n".join(lines[hit.start_line - 1 : hit.end_line])
        assert hit.chunk[0] <= hit.start_line <= hit.end_line <= hit.chunk[1]
        assert 0 <= hit.score <= 1


@pytest.mark.parametrize(("name", "recall1"), [("xquad-zh", 0.93), ("xquad-en", 0.93)])
def test_questions_find_the_note_that_answers_them(name, recall1):
    folder = testdata("bench", name)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "retrieval", folder, "--json", "--floor", ".985"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    got = json.loads(done.stdout)
    assert (1190, True) == (got["n"], got["recallAt1"] >= recall1)


def test_an_index_of_another_version_of_sqlite_is_read():
    """Contentless FTS5 with explicit deletes works on every SQLite that has FTS5."""
    connection = connect(":memory:", "memory")
    options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    assert "ENABLE_FTS5" in options
