"""`whybox replay`: a finding as one file (--pack), and the same finding asked again elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from whybox.cli.options import Shared, with_shared
from whybox.cli.threads import limit_threads

What = Annotated[Path, typer.Argument(metavar="BUNDLE|RUN", help="A bundle; with --pack the folder of a run.")]
Pack = Annotated[
    str | None,
    typer.Option(
        "--pack", metavar="PROBE[@TARGET]", help="Write what this probe asked to -o FILE.", show_default=False
    ),
]
Force = Annotated[bool, typer.Option("--force", help="With --pack: replace a file that is there.")]
Margin = Annotated[float, typer.Option("--margin", min=0.001, max=0.5, help="Share of items that may differ.")]
CODES = {"same": 0, "different": 1, "underpowered": 4}
_WORDS = {
    "en": {
        "same": "same: at least {share} % of items come again",
        "different": "different: fewer than {share} % of items come again",
        "underpowered": "underpowered: so few items cannot tell",
        "line": "{hits} of {n} items · {lost} lost · p same {same}, different {different}{needs}",
        "needs": " · about {n} more items",
        "packed": "{n} calls of {probe} → {out}",
    },
    "zh": {
        "same": "相同：至少 {share} % 的样本得到相同回答",
        "different": "不同：得到相同回答的样本不足 {share} %",
        "underpowered": "样本不足：无法判定",
        "line": "{n} 个样本中 {hits} 个相同 · 丢失 {lost} · p 相同 {same}，不同 {different}{needs}",
        "needs": " · 约需再增加 {n} 个样本",
        "packed": "{probe} 的 {n} 次调用 → {out}",
    },
}


@with_shared
def replay(what: What, pack: Pack = None, margin: Margin = 0.1, force: Force = False, *, shared: Shared) -> None:
    """Ask a finding again on the target of -m: same (0), different (1) or underpowered (4)."""
    limit_threads(shared.threads)
    if pack is not None:
        _pack(what, pack, force, shared)
        return

    import time

    from whybox.cli.doctor import Pace, target_named
    from whybox.cli.telling import print_document
    from whybox.jobs.replay import replay as asked_again
    from whybox.report.estimate_line import p_text
    from whybox.suite.bundle import read_bundle

    begun, bundle = time.perf_counter(), read_bundle(what)
    found = asked_again(bundle, target_named(shared.model, shared, Pace()), margin)
    needs = found.needs if isinstance(found.needs, int) else None
    if shared.json:
        counts = {"items": found.same.n, "same": found.same.hits, "lost": found.lost}
        numbers = {
            "interval": found.interval,
            "margin": margin,
            "p_same": found.p_same,
            "p_different": found.p_different,
        }
        told = {"answer": found.answer, "probe": bundle.probe, "target": shared.model, **counts, **numbers}
        print_document("replayed", begun, told | {"needs_n": needs})
    else:
        words = _WORDS[shared.language]
        more = words["needs"].format(n=needs) if needs is not None else ""
        values = {"hits": found.same.hits, "n": found.same.n, "lost": found.lost, "needs": more}
        print(words[found.answer].format(share=f"{100 * (1 - margin):g}"))
        print(words["line"].format(same=p_text(found.p_same), different=p_text(found.p_different), **values))
    if code := CODES[found.answer]:
        raise typer.Exit(code)


def _pack(run: Path, probe: str, force: bool, shared: Shared) -> None:
    from whybox.cli.telling import require_free, write_whole
    from whybox.jobs.run import RUN
    from whybox.suite.bundle import bundle_text, packed

    out = shared.out or Path(f"{Path(probe).name}.replay.json")
    require_free(out, force)
    bundle = packed(run / RUN, probe)
    write_whole(out, bundle_text(bundle))
    print(_WORDS[shared.language]["packed"].format(n=len(bundle.calls), probe=probe, out=out))
