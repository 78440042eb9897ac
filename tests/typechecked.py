"""The runtime type checker of the test suite: beartype, with int accepted where float is asked (PEP 484)."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
