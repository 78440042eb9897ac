"""From the stream that entered a layer, on through a few layers, to see what one of them computes."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from whybox.engine.fast.block import Block
from whybox.engine.fast.engine import Array, FastEngine
from whybox.engine.fast.keys import Alone, LayerKeys
from whybox.engine.fast.pieces import chunks
from whybox.engine.fast.slots import own
from whybox.engine.fast.tap import BatchTap
from whybox.engine.memory import Run
from whybox.engine.needs import need_of_layers


def onward(engine: FastEngine, entry: Array, layers: range, sites: Sequence[str], length: int) -> Mapping[str, Array]:
    """Sites of the last of these layers, from the stream [q c] that entered the first one; rows in chunks."""
    engine.require_room(Run(len(entry), see=tuple(sites)), lambda spec, run: need_of_layers(spec, run, layers))
    cache, found = engine.fresh_cache(length).layers, []
    keys: dict[int, LayerKeys] = {index: Alone(own(cache[index])) for index in layers}
    with torch.inference_mode():
        for part in chunks(range(len(entry)), engine.chunk):
            tap = BatchTap(engine.spec, [(site, layers[-1]) for site in sites], ((),))
            batch = engine.batch(np.array(part)[None], (len(part),), tap, length)
            x = torch.tensor(entry[part.start : part.stop])[None]
            x = x.to(engine.packed.device, engine.packed.precision.compute)
            for index in layers:
                x, keys[index] = Block(engine.packed.layers[index], index, batch).run(x, keys[index])
            found.append(tap.kept[0])
    return {site: np.concatenate([kept[site, layers[-1]] for kept in found]) for site in sites}
