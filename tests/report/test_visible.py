from whybox.report.visible import calm, ended, one_line, shortened, visible


def test_every_character_can_be_seen() -> None:
    assert visible(" a\n\t\r") == "·a⏎⇥␍"
    assert visible("\x1b[31m") == "␛[31m"
    assert visible("\u202eabc\u2066\x9b\u200b") == "\\u202eabc\\u2066\\u009b\\u200b"
    assert visible("天氣 好") == "天氣·好"


def test_prose_keeps_its_spaces_lines_and_joined_emoji() -> None:
    assert calm("a b\nc\x1b\u202e") == "a b\nc␛\\u202e"
    assert calm("👩\u200d🔬") == "👩\u200d🔬"
    assert one_line("a\nb c") == "a⏎b c"


def test_what_is_cut_is_marked() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


def test_a_character_that_was_begun_and_an_escape_are_never_shown_in_halves() -> None:
    assert ended("30天。\\xE5\\xB0") == "30天。…"
    assert ended("\\xE5\\xB0天") == "\\xE5\\xB0天"
    assert shortened("abcd\\xE5ef", 6) == "abcd…"
    assert shortened("abcd\\u200eef", 9) == "abcd…"
    assert shortened("abcd\\xE5efgh", 11) == "abcd\\xE5ef…"
