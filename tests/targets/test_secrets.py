"""A key reaches the endpoint and nobody else."""

import copy
import json
import pickle
import traceback
from base64 import b64encode
from dataclasses import asdict, dataclass
from urllib.parse import quote

import pytest

from whybox.errors import UsageError
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.secrets import HIDDEN, Key, Secrets

SECRET = 'sk-"q/w\\e-7421-zzyy'


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Key:
    monkeypatch.setenv("OPENAI_API_KEY", f"  {SECRET}\n")
    found = Key.from_environment()
    assert found is not None
    return found


def test_it_is_read_from_the_environment_and_sent(key: Key) -> None:
    assert Secrets(key).headers() == {"Authorization": f"Bearer {SECRET}"}
    assert repr(key) == "<key from OPENAI_API_KEY>"


def test_no_key_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert Key.from_environment() is None


def test_nothing_that_prints_shows_it(key: Key) -> None:
    endpoint = Endpoint("m", "http://127.0.0.1:1/v1", key, extra_headers={"api-key": "other-secret-1"})
    target = OpenAITarget(endpoint)
    shown = [repr(endpoint), str(key), repr(target), repr(target.identity), repr(vars(target)), f"{key!s:>40}"]
    shown += [repr(asdict(Holder(key))), repr(copy.deepcopy(endpoint)), json.dumps(asdict(target.identity))]
    assert not any(SECRET in text or "sk-" in text or "other-secret" in text for text in shown)


@dataclass
class Holder:
    """Somebody else's object with a key in it."""

    key: Key


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy])
def test_it_is_copied_only_within_this_process(key: Key, way: object) -> None:
    if way is copy.copy:
        assert copy.copy(key) is key
        return
    for each in (key, Secrets(key)):
        with pytest.raises(TypeError, match="not pickled") as raised:
            pickle.dumps(each)
        assert "sk-" not in "".join(traceback.format_exception(raised.value))


def test_what_comes_back_is_blotted_out(key: Key) -> None:
    secrets = Secrets(key, {"x-tenant": "Basic dXNlcjpwYXNzd29yZA=="})
    spellings = [SECRET, json.dumps(SECRET)[1:-1], quote(SECRET, safe=""), "dXNlcjpwYXNzd29yZA=="]
    for spelling in spellings:
        assert secrets.hide(f"invalid: {spelling}!") == f"invalid: {HIDDEN}!"
    assert secrets.hide("nothing here") == "nothing here"


@pytest.mark.parametrize("secret", ["a1 b2", "a1\nb2", "schlüssel", "a\x00b", "tab\there"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(secret: str) -> None:
    with pytest.raises(UsageError) as raised:
        Key(secret, "OPENAI_API_KEY")
    assert secret not in str(raised.value)
    assert "OPENAI_API_KEY" in str(raised.value)


@pytest.mark.parametrize(
    "url",
    ["http://user:pw123456@h/v1", "http://h/v1?api-key=abc12345", "ftp://h/v1", "h/v1", "http://h:x/v1", "http:///v1"],
)
def test_an_address_holds_no_key(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        Endpoint("m", url)
    assert "pw123456" not in str(raised.value)
    assert "abc12345" not in str(raised.value)


def test_an_identity_holds_what_may_change_an_answer_and_no_value_of_a_header() -> None:
    plain = Endpoint("m", "http://localhost:1/v1")
    others = [
        Endpoint("m", "http://localhost:1/v1", limit_name="max_completion_tokens"),
        Endpoint("m", "http://localhost:1/v1", extra_headers={"X-Route": "blue-lane"}),
        Endpoint("m", "http://localhost:1/v1", extra_headers={"X-Route": "green-lane"}),
    ]
    assert len({each.identity.digest for each in (plain, *others)}) == 4
    assert "blue-lane" not in repr(others[1].identity)
    renewed = [Endpoint("m", "http://localhost:1/v1", extra_headers={"X-Api-Key": key}) for key in ("one1", "two2")]
    assert renewed[0].identity == renewed[1].identity, "who asks changes no answer, and a key is renewed in a run"


@pytest.mark.parametrize("before", ["", "a", "ab", "user:"])
def test_in_base64_it_is_hidden_behind_any_text(key: Key, before: str) -> None:
    sent = b64encode(f"{before}{SECRET}".encode()).decode()
    shown = Secrets(key).hide(f"Basic {sent} was refused")
    assert HIDDEN in shown
    assert all(sent[at : at + 8] not in shown for at in range(len(before) + 2, len(sent) - 10))


def test_its_beginning_is_hidden_as_well(key: Key) -> None:
    hide = Secrets(key).hide
    assert hide(f"no key {SECRET[:13]}… is known, nor {SECRET[:12]}") == f"no key {HIDDEN}… is known, nor {HIDDEN}"
    assert hide(f"cut at {SECRET[:-1]}") == f"cut at {HIDDEN}"
    assert hide("keys begin with sk-") == "keys begin with sk-"
