import pytest

from oc.message.secrets import Suspect, find_secrets

HEX = "0123456789abcdef"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("OPENAI_API_KEY=sk-abcdefgh1jklmnopqrst", "API key"),
        ("- GitHub: ghp_" + "a1" * 12, "GitHub or GitLab token"),
        ("github_pat_11" + "A" * 22, "GitHub or GitLab token"),
        ("xoxb-123456789012-abcdefghij", "Slack token"),
        ("AKIA" + "ABCD" * 4, "AWS access key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "private key"),
        ("Authorization: Bearer abc.def-ghi_jkl+mno=123456", "bearer token"),
        ("telegram 123456789:" + "ABCdef" * 5, "bot token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "JSON web token"),
        ("postgres://app:hunter2secret@db:5432/x", "password in a URL"),
        ("PASSWORD=hunter", "password or key"),
        ("- password: hunter2", "password or key"),
        ("- **Password:** `hunter2`", "password or key"),
        ("DB_ROOT_PASSWORD = correcthorse", "password or key"),
        ('{"apiKey": "' + HEX + '"}', "password or key"),
        ("SIGNING_KEY=" + HEX, "password or key"),
        ("密码：abc12345", "password or key"),
        ("数据库密码是 abc12345。", "password or key"),
    ],
)
def test_lines_that_hold_a_secret(line, kind):
    assert find_secrets(f"# Notes\n\n{line}\n") == [Suspect(3, kind)]


@pytest.mark.parametrize(
    "line",
    [
        "- Password: in 1Password, entry staging",
        "- The token is in ~/.config/app/token2",
        "token: /run/secrets/token2",
        "API_KEY=$API_KEY",
        "API_KEY=${API_KEY2}",
        "API_KEY=<your key 1>",
        "PASSWORD=***",
        "token=op://vault/item/field2",
        "- Primary key: user_id2",
        "primary_key: user_id2",
        "- cache key: sessions:v2:main",
        "No passwords, keys or tokens in any file here.",
        "keepRecentTokens: 20000",
        "maxTokens=200000",
        "max_tokens=200000",
        "postgres://app:$PASSWORD@db:5432/x",
        "task-1234567890abcdefghij",
        "任何文件里都不写密码、密钥和令牌，只写它们保存在哪里。",
        "",
    ],
)
def test_lines_that_do_not(line):
    assert find_secrets(line) == []


def test_one_suspect_a_line():
    assert find_secrets("PASSWORD=hunter2 TOKEN=abcdef1234\nx\nTOKEN=abcdef1234") == [
        Suspect(1, "password or key"),
        Suspect(3, "password or key"),
    ]


@pytest.mark.parametrize("unit", ["a_", "a.", "token_", "password", "sk-", "http://a:", "Bearer ", "eyJ.", "1:"])
def test_a_line_of_half_a_megabyte_is_no_trap(unit):
    """Each pattern would need minutes for such a line if it tried every start against every end."""
    assert len(find_secrets(unit * (500_000 // len(unit)))) <= 1
