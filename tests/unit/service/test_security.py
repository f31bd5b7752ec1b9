"""What a ``Security`` means: where its answers come from, what it lacks, and where a server may be bound."""

from __future__ import annotations

import pytest

from tfsvc.errors import InvalidArgumentError
from tfsvc.service.security import Limits, Security, check_host, is_loopback

TOKEN = "0123456789abcdef"
TLS = {"TFSVC_TLS_CA": "ca", "TFSVC_TLS_CERT": "crt", "TFSVC_TLS_KEY": "key"}


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in (*TLS, "TFSVC_TOKEN_FILE", "TFSVC_TOKEN", "TFSVC_INSECURE"):
        monkeypatch.delenv(name, raising=False)


def test_what_is_left_open_comes_from_the_environment():
    assert Security().resolved({}) == Security(insecure=False)
    found = Security(key_file="mine").resolved({**TLS, "TFSVC_TOKEN_FILE": "t", "TFSVC_INSECURE": "1"})
    assert found == Security("ca", "crt", "mine", "t", insecure=True)
    assert found.resolved({}) == found
    assert Security("", "", "", "").resolved(TLS) == Security("", "", "", "", insecure=False)


@pytest.mark.parametrize(
    ("text", "insecure"), [("", False), ("0", False), ("false", False), ("1", True), ("yes", True)]
)
def test_a_switch_in_the_environment(text, insecure):
    assert Security().resolved({"TFSVC_INSECURE": text}).insecure is insecure


def test_a_child_process_comes_to_the_same():
    made = Security("ca", "crt", "key", "t", insecure=False)
    assert Security().resolved(made.environment()) == made
    assert Security(token_file="").environment() == {"TFSVC_TOKEN_FILE": ""}


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (Security(certificate_file="crt", ca_file="ca"), "go together"),
        (Security(key_file="key", ca_file="ca"), "go together"),
        (Security(certificate_file="crt", key_file="key"), "without the authority"),
    ],
)
def test_what_does_not_go_together_is_refused(made, complaint):
    with pytest.raises(InvalidArgumentError, match=complaint):
        made.resolved({})


def test_a_token_is_read_from_its_file_or_the_environment(tmp_path, monkeypatch):
    assert Security().token() is None
    monkeypatch.setenv("TFSVC_TOKEN", f" {TOKEN}\n")
    assert Security().token() == TOKEN
    assert Security(token_file="").token() is None
    (tmp_path / "token").write_text("f" * 32)
    assert Security(token_file=str(tmp_path / "token")).token() == "f" * 32
    monkeypatch.setenv("TFSVC_TOKEN_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidArgumentError, match=r"cannot read token_file=.*nowhere"):
        Security().token()


NO_TOKENS = ["", "\n", "short", "two lines of it\n0123456789", "é" * 20, "0123456789 abcdef", "\0" * 20]


@pytest.mark.parametrize("text", NO_TOKENS)
def test_what_is_no_token_is_refused(text, tmp_path):
    (tmp_path / "token").write_text(text)
    with pytest.raises(InvalidArgumentError, match="holds no token"):
        Security(token_file=str(tmp_path / "token")).token()


def test_nothing_shows_the_token(monkeypatch):
    monkeypatch.setenv("TFSVC_TOKEN", TOKEN)
    assert TOKEN not in repr(Security().resolved())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.2.1", "::1", "[::1]"])
def test_this_machine_alone(host):
    assert is_loopback(host)
    check_host(host, Security())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "", "worker7", "10.0.0.1", "localhost.example"])
def test_others_are_let_in_with_credentials_or_on_demand(host, monkeypatch):
    monkeypatch.setenv("TFSVC_TOKEN", TOKEN)
    unguarded = Security("ca", "crt", "key", "", mutual=False)
    for made, lacks in (
        (Security(token_file=""), "nothing is encrypted.* and nobody has to show"),
        (Security(), r"and nothing is encrypted \(certificate_file, key_file\)\. Bind"),
        (unguarded, r"and nobody has to show who they are.*\. Bind"),
    ):
        with pytest.raises(InvalidArgumentError, match=lacks):
            check_host(host, made)
    for made in (
        Security("ca", "crt", "key", ""),
        Security("ca", "crt", "key", mutual=False),
        Security(token_file="", insecure=True),
    ):
        check_host(host, made)
    monkeypatch.setenv("TFSVC_INSECURE", "1")
    check_host(host, Security(token_file=""))


@pytest.mark.parametrize("name", sorted(vars(Limits())))
@pytest.mark.parametrize("value", [-1, 2**40, 1.5, True, "7", None])
def test_a_limit_is_a_number(name, value):
    with pytest.raises(InvalidArgumentError, match=name):
        Limits(**{name: value})


def test_only_the_pace_may_be_without_limit():
    assert Limits(calls_per_second=0)
    with pytest.raises(InvalidArgumentError, match="connections"):
        Limits(connections=0)
