from oc.workspace.load import File
from oc.workspace.report import analyse, shown_files, signature, truncation_warning, warning_lines
from oc.workspace.trim import trim


def analysis_of(*sizes, max_chars=400, total=9000):
    files = [File(f"F{n}.md", f"/ws/F{n}.md", "x" * size) for n, size in enumerate(sizes)]
    return analyse(files, trim(files, max_chars, total)[0], max_chars, total)


def test_three_files_are_named_and_the_others_counted():
    lines = warning_lines(analysis_of(800, 800, 800, 800, 800))
    assert [line.partition(":")[0] for line in lines[:3]] == ["F0.md", "F1.md", "F2.md"]
    assert lines[3] == "+2 more truncated file(s)."
    assert len(lines) == 5


def test_files_of_one_name_are_told_apart_by_path():
    files = [File("AGENTS.md", f"/ws/{place}/AGENTS.md", "x" * 800) for place in "ab"]
    lines = warning_lines(analyse(files, trim(files, 400, 9000)[0], 400, 9000))
    assert lines[0].startswith("AGENTS.md (/ws/a/AGENTS.md): 800 raw -> 464 injected (~42% removed; max/file).")


def test_the_signature_changes_with_what_is_cut_only():
    assert signature(analysis_of(10, 20)) is None
    assert signature(analysis_of(800)) == signature(analysis_of(800))
    assert signature(analysis_of(800)) != signature(analysis_of(801))
    assert signature(analysis_of(800)) != signature(analysis_of(800, max_chars=401))


def test_once_warns_again_when_something_else_is_cut():
    first = truncation_warning(analysis_of(800))
    again = truncation_warning(analysis_of(800), seen=first.seen)
    other = truncation_warning(analysis_of(900), seen=first.seen, previous=first.signature)
    assert (first.shown, again.shown, other.shown) == (True, False, True)
    assert again.lines == ()
    assert other.seen == (first.signature, other.signature)


def test_what_became_of_each_file_is_told():
    contents = ["x" * 300, "x" * 402, "\n", None, "x" * 800]
    files = [File(f"F{n}.md", f"/ws/F{n}.md", text) for n, text in enumerate(contents)]
    files.append(File("G.md", "/ws/G.md", None, "larger than 2 MiB"))
    files.append(File("H.md", "/ws/H.md", "x" * 90))
    injected, _ = trim(files, 400, 1290)
    analysis = analyse(files, injected, 400, 1290)
    told = [(s.stat.name, s.status, s.cause) for s in shown_files(files, injected, analysis)]
    assert told == [
        ("F0.md", "shown", ""),
        ("F1.md", "truncated", "per-file-limit: lines 1"),  # the markers make up for the two characters
        ("F2.md", "left out", "blank"),
        ("F3.md", "missing", ""),
        ("F4.md", "truncated", "per-file-limit: lines 1"),
        ("G.md", "refused", "larger than 2 MiB"),
        ("H.md", "left out", "total-limit"),
    ]
