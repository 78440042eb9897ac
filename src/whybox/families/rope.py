"""Rotary settings from a configuration: one reader for config.json (old and new keys), one for GGUF metadata."""

from whybox.errors import UnsupportedError
from whybox.families.config import Config
from whybox.formats import WeightFile
from whybox.parts.rope import longrope_magnitude, yarn_magnitude
from whybox.spec import (
    DividedRope,
    LinearRope,
    Llama3Rope,
    LongRope,
    NtkRope,
    PlainRope,
    Rope,
    YarnRope,
)


def rope_from_config(config: Config, head_width: int, base: float = 10000.0) -> Rope:
    """`rope_parameters` (new) or `rope_theta` + `rope_scaling` (old); partial width by `partial_rotary_factor`."""
    key = "rope_parameters" if config.has("rope_parameters") else "rope_scaling"
    config.used |= {"rope_parameters", "rope_scaling"}
    if not config.has(key):
        theta = config.get("rope_theta", float, base)
        return PlainRope(theta, _rotated(config, head_width))
    inner = config.part(key)
    theta = inner.optional("rope_theta", float) or config.optional("rope_theta", float) or base
    config.used.add("rope_theta")
    width = _rotated(inner if inner.has("partial_rotary_factor") else config, head_width)
    rope = scaled_rope(inner, config, PlainRope(theta, width))
    config.notes.extend(inner.finish(("rope_theta", "partial_rotary_factor")))
    return rope


def _rotated(config: Config, head_width: int) -> int:
    factor = config.optional("partial_rotary_factor", float)
    return head_width if factor is None else int(head_width * factor)


def scaled_rope(inner: Config, config: Config, plain: PlainRope) -> Rope:
    """The variant that `rope_type` (or `type`) names. UnsupportedError for others, by name."""
    kind = inner.optional("rope_type", str) or inner.optional("type", str) or "default"
    inner.used |= {"rope_type", "type"}
    trained = config.need("max_position_embeddings", int)
    original = inner.optional("original_max_position_embeddings", int) or config.optional(
        "original_max_position_embeddings", int
    )
    match kind:
        case "default":
            return plain
        case "linear":
            return LinearRope(plain, inner.need("factor", float))
        case "dynamic":
            return NtkRope(plain, inner.need("factor", float), original or trained)
        case "llama3":
            return Llama3Rope(
                plain,
                inner.need("factor", float),
                inner.need("low_freq_factor", float),
                inner.need("high_freq_factor", float),
                original or trained,
            )
        case "yarn":
            return _yarn(inner, plain, original, trained)
        case "longrope" | "su":
            return _longrope(inner, plain, original or trained, trained)
        case _:
            raise UnsupportedError(
                f"{inner.path}: rope_type {kind!r} is not implemented",
                "implemented: default, linear, dynamic, llama3, yarn, longrope",
            )


def _yarn(inner: Config, plain: PlainRope, original: int | None, trained: int) -> Rope:
    factor = inner.optional("factor", float) or trained / (original or trained)
    given = (inner.optional(key, float) for key in ("attention_factor", "mscale", "mscale_all_dim"))
    magnitude, rule = yarn_magnitude(factor, *given)
    truncate = inner.optional("truncate", bool)
    inner.note(f"YaRN magnitude {magnitude:.6g} by the rule: {rule}")
    return YarnRope(
        plain,
        factor,
        original or trained,
        inner.optional("beta_fast", float) or 32.0,
        inner.optional("beta_slow", float) or 1.0,
        magnitude,
        rule,
        truncate is not False,
    )


def _longrope(inner: Config, plain: PlainRope, original: int, trained: int) -> Rope:
    inner.used |= {"factor"}
    magnitude, rule = longrope_magnitude(trained, original, inner.optional("attention_factor", float))
    inner.note(f"LongRoPE magnitude {magnitude:.6g} by the rule: {rule}")
    return LongRope(plain, inner.floats("short_factor"), inner.floats("long_factor"), original, magnitude)


def rope_from_gguf(config: Config, architecture: str, head_width: int, file: WeightFile, base: float = 10000.0) -> Rope:
    """`*.rope.*` keys; divisors from `rope_freqs.weight` when the file carries it."""
    prefix = f"{architecture}.rope."
    plain = PlainRope(
        config.get(prefix + "freq_base", float, base), config.optional(prefix + "dimension_count", int) or head_width
    )
    if "rope_freqs.weight" in file.tensors:
        return DividedRope(plain, tuple(file.read("rope_freqs.weight").ravel().tolist()))
    kind = config.optional(prefix + "scaling.type", str) or "none"
    factor = config.optional(prefix + "scaling.factor", float) or config.optional(prefix + "scale_linear", float)
    match kind:
        case "none":
            return plain if factor in (None, 1.0) else LinearRope(plain, factor or 1.0)
        case "linear":
            return LinearRope(plain, factor or 1.0)
        case "yarn":
            original = config.need(prefix + "scaling.original_context_length", int)
            magnitude, rule = yarn_magnitude(factor or 1.0, config.optional(prefix + "scaling.attn_factor", float))
            config.note(f"YaRN magnitude {magnitude:.6g} by the rule: {rule}")
            return YarnRope(plain, factor or 1.0, original, 32.0, 1.0, magnitude, rule)
        case _:
            raise UnsupportedError(
                f"{config.path}: {prefix}scaling.type {kind!r} is not implemented", "implemented: none, linear, yarn"
            )
