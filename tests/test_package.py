import whybox


def test_version_is_the_projects() -> None:
    assert whybox.__version__ == "0.1.0"
