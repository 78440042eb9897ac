"""Behaviour probes, one file each. To add one: a `Design` with `plan` and `read`, named in this list."""

from whybox.probes.design import Design
from whybox.probes.order import OrderProbe

PROBES: dict[str, type[Design]] = {probe.NAME: probe for probe in (OrderProbe,)}
