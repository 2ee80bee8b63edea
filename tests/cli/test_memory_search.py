import json
import os

import pytest

NOTES = {
    "MEMORY.md": "# Memory\n\n- Prefers short answers\n",
    "memory/deploy.md": "# Deploy\n\n- 数据库 moved by Müller on 2026-05-04\n  see C:\\temp\n- 部署 with sqlite-vec\n",
    "memory/host.md": "- staging is pg-b\n",
}


@pytest.fixture
def noted(oc):
    for name, text in NOTES.items():
        path = oc.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return oc


def test_a_hit_is_one_line(noted):
    done = noted("memory", "search", "数据库")
    snippet = "- 数据库 moved by Müller on 2026-05-04 see C:\\\\temp"
    assert (0, f"memory/deploy.md#L3-L4\t1.000\t{snippet}\n", "") == (done.status, done.out, done.err)


@pytest.mark.parametrize("query", ["部署", "数据库", "Müller", "sqlite-vec", "2026-05-04"])
def test_words_of_every_script_are_found(noted, query):
    done = noted("memory", "search", query)
    assert (0, "memory/deploy.md") == (done.status, done.out.partition("#")[0])


@pytest.mark.parametrize("query", ["ZXQ_UNRELATED", "", "?!", "-"])
def test_nothing_found_is_status_1(noted, query):
    done = noted("memory", "search", "--", query)
    assert (1, "", "") == (done.status, done.out, done.err)


def test_json_is_one_document(noted):
    done = noted("memory", "search", "staging", "--json")
    hit = {
        "path": "memory/host.md",
        "startLine": 1,
        "endLine": 1,
        "score": 1.0,
        "snippet": "- staging is pg-b",
        "source": "memory",
        "place": "memory/host.md#L1",
        "chunk": {"startLine": 1, "endLine": 2},
    }
    assert {"hits": [hit], "mode": "keyword"} == done.json()
    assert [hit] == noted("memory", "search", "staging", "--jsonl").jsonl()
    none = noted("memory", "search", "ZXQ", "--json")
    assert (1, {"hits": [], "mode": "keyword"}) == (none.status, none.json())


def test_tsv_has_a_header_and_escapes_line_feeds(noted):
    done = noted("memory", "search", "Müller", "--tsv")
    header, row = done.out.splitlines()
    assert "path\tstartLine\tendLine\tscore\tsource\tsnippet" == header
    assert "memory/deploy.md\t3\t4\t1.000\tmemory\t- 数据库 moved by Müller on 2026-05-04\\n  see C:\\\\temp" == row


def test_paths_and_counts(noted):
    assert "memory/deploy.md\n" == noted("memory", "search", "-l", "部署", "Müller").out
    assert "memory/deploy.md\0" == noted("memory", "search", "-l0", "部署").out
    assert "1\n" == noted("memory", "search", "-c", "staging").out
    assert 2 == noted("memory", "search", "-0", "staging").status
    none = noted("memory", "search", "-c", "ZXQ")
    assert (1, "0\n") == (none.status, none.out)
    assert {"paths": [{"path": "memory/host.md"}]} == noted("memory", "search", "-l", "staging", "--json").json()


def test_limit_and_minimum_score(noted):
    assert 1 == len(noted("memory", "search", "-n", "1", "staging 部署").out.splitlines())
    assert 1 == noted("memory", "search", "--min-score", "0.9", "staging quux frob").status
    assert 2 == noted("memory", "search", "--min-score", "2", "x").status


def test_explain_says_how_a_score_came_about(noted):
    done = noted("memory", "search", "staging", "quux", "--explain", "--json")
    told = done.json()
    assert ["staging", "quux"] == [unit["text"] for unit in told["explain"]["units"]]
    assert ["staging"] == told["hits"][0]["why"]["words"]
    text = noted("memory", "search", "staging", "--explain")
    assert "coverage" in text.out
    assert "staging: word in 1 chunks" in text.err


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_modes_without_vectors_are_unavailable(noted, mode):
    done = noted("memory", "search", "x", "--mode", mode, "--json")
    assert (69, "unavailable") == (done.status, done.json()["error"]["code"])
    assert done.err.startswith(f"oc: no {mode} search: ")


def test_no_query_is_an_error_of_usage(oc):
    assert 2 == oc("memory", "search").status


def test_no_notes_are_said_and_nothing_is_made(oc):
    done = oc("memory", "search", "x")
    assert (1, "") == (done.status, done.out)
    assert f"oc: warning: there are no notes in {oc.workspace}\n" == done.err
    assert not oc.state.exists()


def test_a_folder_that_cannot_be_read_is_named_and_is_not_no_notes(oc):
    oc.workspace.mkdir(parents=True)
    (oc.workspace / "memory").write_text("where a folder should be")
    done = oc("memory", "search", "x")
    assert (1, "") == (done.status, done.out)
    assert "oc: warning: memory: not a directory, not read\n" == done.err
    (oc.workspace / "MEMORY.md").write_text("- staging is pg-b\n")
    for _ in range(2):
        done = oc("memory", "search", "staging", "-l")
        assert (0, "MEMORY.md\n") == (done.status, done.out)
        assert "oc: warning: memory: not a directory, not read\n" == done.err


def test_notes_without_permission_are_named_and_are_not_no_notes(noted):
    folder = noted.workspace / "memory"
    note = folder / "host.md"
    for path, name in ((note, f"memory/{note.name}"), (folder, "memory")):
        mode = path.stat().st_mode
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("root reads everything")
        try:
            done = noted("memory", "search", "nothingofthekind")
            get = noted("memory", "get", note.name)
        finally:
            path.chmod(mode)
        assert (1, f"oc: warning: {name}: permission denied, not read\n") == (done.status, done.err)
        assert 74 == get.status


def test_no_sync_searches_the_index_as_it_is(noted):
    missing = noted("memory", "search", "--no-sync", "staging")
    assert (69, True) == (missing.status, "oc memory index" in missing.err)
    noted("memory", "index")
    (noted.workspace / "memory" / "new.md").write_text("a new fact\n")
    assert 1 == noted("memory", "search", "--no-sync", "fact").status
    assert 0 == noted("memory", "search", "fact").status


def test_turned_off_is_not_nothing_found(noted):
    (noted.state / "oc.json").write_text(json.dumps({"agents": {"defaults": {"memorySearch": {"enabled": False}}}}))
    done = noted("memory", "search", "staging", "--json")
    assert (69, "unavailable") == (done.status, done.json()["error"]["code"])
