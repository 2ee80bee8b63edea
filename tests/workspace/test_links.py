import pytest

from oc.workspace.links import dead_link, relative_links


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[a](b.md)", ["b.md"]),
        ("[a](b.md 'title') and ![i](img/x.png)", ["b.md", "img/x.png"]),
        ("[a](<b c.md>) [d](e%20f.md#part)", ["b c.md", "e%20f.md#part"]),
        ("[a](b(1).md)", ["b(1).md"]),
        ("[id]: ref.md", ["ref.md"]),
        ("[id]: <ref.md> 'title'", ["ref.md"]),
        ("[a](https://x.y/z) [b](mailto:x@y) [c](#part) [d](//host/x) [e](/abs.md)", []),
        ("`[a](b.md)` and ``[c](`d.md)``", []),
        ("```\n[a](b.md)\n```", []),
        ("[a] (b.md) plain", []),
        ("[a]()", []),
    ],
)
def test_links_to_files_are_found(text, targets):
    assert targets == [target for _, target in relative_links(text)]


def test_a_link_is_told_with_its_line():
    assert list(relative_links("x\n\n[a](b.md)\n[c](d.md)")) == [(3, "b.md"), (4, "d.md")]


def test_a_link_leads_somewhere_or_not(tmp_path):
    root = tmp_path / "ws"
    (root / "memory").mkdir(parents=True)
    (root / "a b.md").write_text("")
    (tmp_path / "out.md").write_text("")

    def look(target, folder=root):
        return dead_link(str(root), str(folder), target)

    assert look("a%20b.md#part") is None
    assert look("memory/") is None
    assert look("../a b.md", root / "memory") is None
    assert look("memory/YYYY-MM-DD.md") is None
    assert look("?query") is None
    assert look("gone.md") == "the link gone.md leads nowhere"
    assert look("../out.md") == "the link ../out.md leads out of the workspace"
    assert look("%00.md") is None
