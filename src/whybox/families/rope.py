"""Rotary settings from a configuration: one reader for config.json (old and new keys), one for GGUF metadata."""

from whybox.errors import FormatError, UnsupportedError
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


def rope_from_config(config: Config, head_width: int, base: float = 1e4, partial: float = 1.0) -> Rope:
    """`rope_parameters` (new) or `rope_theta` + `rope_scaling` (old).

    base, partial: the family's theta and rotated share of the head where the file states none (noted).
    """
    key = "rope_parameters" if config.has("rope_parameters") else "rope_scaling"
    config.used |= {"rope_parameters", "rope_scaling"}
    if not config.has(key):
        width = int(head_width * _share(config, config, partial))
        return _plain(config, config.get("rope_theta", float, base), width)
    inner = config.part(key)
    stated = inner.optional("rope_theta", float) or config.optional("rope_theta", float)
    theta = stated or config.get("rope_theta", float, base)
    return rope_of_part(config, inner, _plain(config, theta, int(head_width * _share(inner, config, partial))))


def _plain(config: Config, base: float, width: int) -> PlainRope:
    if width < 2 or width % 2:
        raise FormatError(config.path, "rotary width", "an even number of dimensions", str(width))
    return PlainRope(base, width)


def rope_of_part(config: Config, inner: Config, plain: PlainRope) -> Rope:
    """The rope that one nested mapping describes; its own `rope_theta` wins over that of `plain`."""
    theta = inner.optional("rope_theta", float)
    base = plain.base if theta is None else theta
    rope = scaled_rope(inner, config, PlainRope(base, plain.width, plain.pairing))
    config.notes.extend(inner.finish(("rope_theta", "partial_rotary_factor")))
    return rope


def _share(inner: Config, config: Config, default: float) -> float:
    """Which share of the head turns: all of it where nothing is said, unless the family has a default."""
    key = "partial_rotary_factor"
    beside, within = config.optional(key, float), inner.optional(key, float)
    if within is None and beside is None and default != 1.0:
        return config.get(key, float, default)
    return within or beside or 1.0


def scaled_rope(inner: Config, config: Config, plain: PlainRope) -> Rope:
    """The variant that `rope_type` (or `type`) names. UnsupportedError for others, by name."""
    kind = inner.optional("rope_type", str) or inner.optional("type", str) or "default"
    inner.used |= {"rope_type", "type"}
    trained = config.need("max_position_embeddings", int)
    original = _original(inner, config)
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
        case "longrope" | "su":
            return _longrope(inner, plain, original or trained, trained)
        case "yarn" if inner.has("long_factor"):
            return _longrope(inner, plain, original or trained, trained)
        case "yarn":
            return _yarn(inner, plain, original, trained)
        case _:
            raise UnsupportedError(
                f"{inner.path}: rope_type {kind!r} is not implemented",
                "implemented: default, linear, dynamic, llama3, yarn, longrope",
            )


def _original(inner: Config, config: Config) -> int | None:
    """The context before its extension; the key beside the mapping wins over the one within."""
    key = "original_max_position_embeddings"
    within = inner.optional(key, int)
    return config.optional(key, int) or within


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
    factor = inner.optional("factor", float)
    extended = trained if factor is None else round(factor * original)
    magnitude, rule = longrope_magnitude(extended, original, inner.optional("attention_factor", float))
    inner.note(f"LongRoPE magnitude {magnitude:.6g} by the rule: {rule}")
    return LongRope(plain, inner.floats("short_factor"), inner.floats("long_factor"), original, magnitude)


def rope_from_gguf(config: Config, architecture: str, head_width: int, file: WeightFile, base: float = 10000.0) -> Rope:
    """`*.rope.*` keys; divisors from `rope_freqs.weight` or `rope_factors_*.weight` when the file carries them."""
    prefix = f"{architecture}.rope."
    plain = PlainRope(
        config.get(prefix + "freq_base", float, base), config.optional(prefix + "dimension_count", int) or head_width
    )
    if "rope_freqs.weight" in file.tensors:
        return DividedRope(plain, _divisors(file, "rope_freqs.weight"))
    if "rope_factors_long.weight" in file.tensors:
        return _longrope_from_gguf(config, architecture, plain, file)
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


def _longrope_from_gguf(config: Config, architecture: str, plain: PlainRope, file: WeightFile) -> Rope:
    prefix = f"{architecture}.rope.scaling."
    config.must_be(prefix + "type", "longrope")
    original = config.need(prefix + "original_context_length", int)
    trained = config.need(f"{architecture}.context_length", int)
    magnitude, rule = longrope_magnitude(trained, original, config.optional(prefix + "attn_factor", float))
    config.note(f"LongRoPE magnitude {magnitude:.6g} by the rule: {rule}")
    short, long = (_divisors(file, f"rope_factors_{kind}.weight") for kind in ("short", "long"))
    return LongRope(plain, short, long, original, magnitude)


def _divisors(file: WeightFile, name: str) -> tuple[float, ...]:
    return tuple(file.read(name).ravel().tolist())
