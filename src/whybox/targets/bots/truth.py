"""What must be recovered from each bot: computed from its settings, never fitted to a run."""

from whybox.targets.bots.kinds import (
    AlwaysFirst,
    AlwaysLast,
    BatchSensitive,
    Bluffer,
    Bot,
    Brittle,
    ClosedBook,
    ColdWarm,
    CutoffAt,
    ForgetsAt,
    ForgetsGeometric,
    ForgetsTokens,
    FormatDrift,
    Guesser,
    Gullible,
    Honest,
    IgnoresSeed,
    ItemBiased,
    KeywordDeaf,
    LabelBiased,
    LogitNoise,
    MiddleBlind,
    Misattributes,
    NoRuleObeyer,
    OverRefuser,
    PositionBiased,
    Reader,
    RecencyWeighted,
    Stubborn,
    TemplateBreaker,
    TieFlipper,
)

Truth = dict[str, float | str]
DEPTHS = (1, 5, 10, 20)


def truth(bot: Bot, k: int = 4) -> Truth:
    """The true values of a bot's row, for k units in an order; empty for those whose only trait is how they break.

    Names: F flips between orders, F0 between repeats of one order, D = F − F0; content_CR and position_CR: pairs of
    orders with the same content, the same place; L lean, Q ends against middle; P(t) compliance; code: cause to name.
    """
    match bot:
        case Honest(p):
            return {"accuracy": p, "D": 0.0, "F0": 0.0, "L": 0.0, "Q": 0.0, "shape": "flat", "drop": 0.0}
        case TieFlipper(epsilon):
            same = 2 * epsilon * (1 - epsilon)
            return {"F": same, "F0": same, "D": 0.0, "accuracy": 1 - epsilon}
        case AlwaysFirst() | AlwaysLast():
            lean = -1.0 if isinstance(bot, AlwaysFirst) else 1.0
            ends = {"L": lean, "Q": 0.5, "F0": 0.0, "D": 1.0}
            return {"content_CR": 0.0, "position_CR": 1.0, "accuracy": 1 / k, **ends}
        case PositionBiased(b):
            return {"D": b * b, "F0": 2 * b * (1 - b) * (k - 1) / k, "accuracy": 1 - b * (k - 1) / k}
        case ItemBiased(b):
            return {"D": b, "F0": 0.0, "accuracy": 1 - b * (k - 1) / k}
        case LabelBiased(b):
            return {"label_A": b + (1 - b) / k, "accuracy": 1 - b * (k - 1) / k}
        case RecencyWeighted(w):
            return _recency(w, k)
        case MiddleBlind(d):
            return {"Q": d, "L": 0.0, "shape": "U" if d > 0 else "flat"}
        case Misattributes(q):
            return {"accuracy": 1 - q * (k - 1) / k, "primacy": 1 - 1 / k}
        case _:
            return _without_order(bot)


def _without_order(bot: Bot) -> Truth:
    """The rows in which nothing stands in an order."""
    match bot:
        case ClosedBook(p):
            return {"gain": 0.0, "follow": 0.0, "PB": 1.0, "accuracy": p, "code": "knowledge · overruled"}
        case Reader(e):
            return {"closed": 0.0, "gain": 1.0, "CB": 1 - e, "accuracy": 1 - e}
        case ForgetsAt(t0, q):
            obeyed = {t: 1.0 if t <= t0 else q for t in DEPTHS}
            later = sum(t > t0 for t in DEPTHS)
            return {**_curve(obeyed), "drop": obeyed[1] - obeyed[20], "S(20)": q**later}
        case ForgetsGeometric(h):
            return {**_curve({t: 2 ** (-t / h) for t in DEPTHS}), "half_life": h}
        case ForgetsTokens(n0):
            return {"turns_versus_tokens": 0.0, "tokens": float(n0)}
        case NoRuleObeyer(c):
            return {"compliance": c, "chance_corrected": 0.0}
        case KeywordDeaf():
            return {"change_given_DIR": 0.0, "CC": 0.0}
        case Brittle(r):
            return {"CC": (1 - r) ** 4, "F_inv": r}
        case Stubborn(s):
            return {"PB": s, "CB": 1 - s}
        case Gullible(g):
            return {"CB": g, "PB": 1 - g}
        case Bluffer(b):
            return {"abstention_recall": 1 - b, "over_refusal": 0.0}
        case OverRefuser(r):
            return {"over_refusal": r, "abstention_recall": 1.0}
        case CutoffAt(c, lam, gamma):
            return {"cutoff": c, "lambda": lam, "gamma": gamma}
        case Guesser(gamma):
            return {"cutoff": "not located", "lambda": gamma, "gamma": gamma}
        case LogitNoise(sigma):
            return {"KL_over_one_minus_sum_p2": sigma**2 / 2}
        case TemplateBreaker(kind):
            return {"kind": kind, "code": "format" if kind == "fence" else "template"}
        case FormatDrift(r):
            return {"format": r, "content_accuracy": 1.0, "code": "format"}
        case IgnoresSeed(epsilon):
            return {"same_seed": epsilon, "cold": 0.0, "concurrent": 0.0}
        case ColdWarm(epsilon):
            return {"cold": epsilon, "same_seed": 0.0, "concurrent": 0.0}
        case BatchSensitive(epsilon):
            return {"concurrent": epsilon, "same_seed": 0.0, "cold": 0.0}
        case _:
            return {}


def _curve(obeyed: dict[int, float]) -> Truth:
    return {f"P({t})": share for t, share in obeyed.items()}


def _recency(w: float, k: int) -> Truth:
    weights = [w ** (k - 1 - place) for place in range(k)]
    shares = [weight / sum(weights) for weight in weights]
    lean, ends = shares[-1] - shares[0], (shares[0] + shares[-1]) / 2
    contrast = ends - sum(shares[1:-1]) / (k - 2) if k > 2 else 0.0
    places = {f"accuracy[{place + 1}]": share for place, share in enumerate(shares)}
    return {**places, "L": lean, "Q": contrast, "shape": "recency" if w < 1 else "flat"}
