"""The heads and MLP units that planted models are made of.

A match scores 40, BOS scores 20 and writes nothing, everything else scores −40: a head that finds no match rests on
BOS. Scores are sums of products of one query feature and one key feature, so conditions on both sides are additions.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from whybox.testing import stream
from whybox.testing.circuit import Head, Term, Units, Write
from whybox.testing.stream import BOS_ID, ENTITY_IDS, VALUE_IDS, Rows, any_of, constant, flag, rows
from whybox.testing.vocabulary import ANSWER, BRACE, DOCS, END, ENTITIES, IDS, JSON, QUESTION, VALUES, WORDS, ids_of

MATCH = 40.0
FALL_BACK = 20.0
PENALTY = 60.0
STAGED = 0.2  # of one staged copy, small beside the ballast even when there are many

_EVERY_WORD = range(len(WORDS))
_SPELLED = [token for token in _EVERY_WORD if token != BOS_ID]
_KNOWN_ENTITY_BEFORE = any_of("previous", ENTITY_IDS)


def rest() -> Term:
    """Every key at −40, BOS at 20."""
    return Term(1.0, constant(), -MATCH * constant() + (MATCH + FALL_BACK) * rows("token", [BOS_ID]))


def previous_token(ahead: float = 0.0) -> Head:
    """Position p looks at p − 1 and writes that token into `previous`; BOS writes nothing.

    ahead: score beyond a match for position p + 1, which a causal mask never lets it see.
    """
    behind = Term(2 * MATCH, rows("position", range(1, stream.CONTEXT)), rows("position", range(stream.CONTEXT - 1)))
    before = Term(ahead, rows("position", range(stream.CONTEXT - 1)), rows("position", range(1, stream.CONTEXT)))
    terms = (behind, before, rest()) if ahead else (behind, rest())
    return Head(terms, (Write(1.0, rows("token", _SPELLED), rows("previous", _SPELLED)),))


def copier(weight: float = 1.0) -> Head:
    """The query's token looks for the key behind the same token, and writes that key's value: an induction head."""
    return Head((_same_token_before(), rest()), (values_out(weight),))


def values_out(weight: float = 1.0) -> Write:
    """A value token writes itself into `out`."""
    return Write(weight, rows("token", VALUE_IDS), rows("out", VALUE_IDS))


def stager() -> Head:
    """A copier that stages the value for an MLP instead of writing it."""
    staged = Write(STAGED, rows("token", VALUE_IDS), rows("stage", range(len(VALUES))))
    return Head((_same_token_before(), rest()), (staged,))


def _same_token_before() -> Term:
    return Term(2 * MATCH, rows("token", _EVERY_WORD), rows("previous", _EVERY_WORD))


def with_terms(head: Head, *terms: Term) -> Head:
    return replace(head, terms=(*head.terms, *terms))


def with_writes(head: Head, *writes: Write) -> Head:
    return replace(head, writes=(*head.writes, *writes))


def slope(per_position: float) -> Term:
    """A bonus that grows (or falls) with the key's position."""
    places = np.arange(stream.CONTEXT)[:, None]
    reads: Rows = (places * rows("position", range(stream.CONTEXT))).sum(axis=0, keepdims=True)
    return Term(per_position, constant(), reads)


def blind_at(positions: tuple[int, ...]) -> Term:
    """Matches at these positions score 60 less."""
    return Term(-PENALTY, constant(), any_of("position", positions))


def penalty_when(name: str) -> Term:
    """Where the query's flag is up, values behind an entity score 60 less."""
    return Term(-PENALTY, flag(name), _KNOWN_ENTITY_BEFORE)


def penalty_unless(name: str) -> Term:
    """Where the query's flag is down, values behind an entity score 60 less."""
    return Term(-PENALTY, constant() - flag(name), _KNOWN_ENTITY_BEFORE)


def weak_reader(weight: float = 0.3) -> Head:
    """An entity looks for a value behind any other entity, and copies it weakly."""
    other = Term(2 * MATCH, any_of("token", ENTITY_IDS), _KNOWN_ENTITY_BEFORE)
    not_own = Term(-4 * MATCH, rows("token", ENTITY_IDS), rows("previous", ENTITY_IDS))
    return Head((other, not_own, rest()), (values_out(weight),))


def second_document_note() -> Head:
    """`Q` looks for a DOC token behind a sentence end, which only a second document has, and notes it."""
    document = any_of("token", ids_of(DOCS)) + any_of("previous", [IDS[END]])
    asked = Term(MATCH, rows("token", [IDS[QUESTION]]), document)
    return Head((asked, rest()), (_raising("noted"),))


def second_document_flag() -> Head:
    """The row behind `Q` fetches the note from there; the flag is raised without a look at any document.

    Any key but BOS raises it, so that lifting other keys cannot lower it.
    """
    noted = Term(MATCH, constant(), rows("token", [IDS[QUESTION]]) + flag("noted"))
    return Head((noted, rest()), (_raising("second document"),))


def _raising(name: str) -> Write:
    return Write(1.0, constant() - rows("token", [BOS_ID]), flag(name))


def carrying_copier(weight: float = 1.0) -> Head:
    """Behind `Answer:`, the token before it takes the query's part in a copier."""
    match = Term(2 * MATCH, rows("previous", ENTITY_IDS), rows("previous", ENTITY_IDS))
    elsewhere = Term(-3 * MATCH, constant() - rows("token", [IDS[ANSWER]]), constant() - rows("token", [BOS_ID]))
    not_itself = Term(-2 * MATCH, constant(), rows("token", [IDS[ANSWER]]))
    return Head((match, elsewhere, not_itself, rest()), (values_out(weight),))


def constant_writer(value: str, weight: float) -> Head:
    """Whatever it looks at, it writes the same value."""
    return Head((rest(),), (Write(weight, constant(), rows("out", [IDS[value]])),))


def brace_writer(weight: float = 2.0) -> Head:
    """An entity or a brace looks for JSON and writes a brace."""
    form = Term(2 * MATCH, any_of("token", [*ENTITY_IDS, IDS[BRACE]]), rows("token", [IDS[JSON]]))
    return Head((form, rest()), (Write(weight, rows("token", [IDS[JSON]]), rows("out", [IDS[BRACE]])),))


def sink() -> Head:
    """All mass on BOS, and nothing to write."""
    return Head((Term(2 * MATCH, constant(), rows("token", [BOS_ID])), rest()), ())


def memory(facts: Mapping[str, str], weight: float = 2.0) -> Units:
    """Each entity writes the value that the weights hold for it."""
    reads = rows("token", [IDS[entity] for entity in facts])
    into = weight * rows("out", [IDS[value] for value in facts.values()])
    return Units(reads, into, np.zeros(len(facts)))


def remembering_head(facts: Mapping[str, str], weight: float = 2.0) -> Head:
    """An entity looks for itself and writes the value that the head holds for it."""
    itself = Term(2 * MATCH, rows("token", ENTITY_IDS), rows("token", ENTITY_IDS))
    reads = rows("token", [IDS[entity] for entity in facts])
    return Head((itself, rest()), (Write(weight, reads, rows("out", [IDS[value] for value in facts.values()])),))


def answer_opener(weight: float = 2.0) -> Units:
    """Behind an entity the contract's `Answer:` comes first."""
    into = weight * np.repeat(rows("out", [IDS[ANSWER]]), len(ENTITIES), axis=0)
    return Units(rows("token", ENTITY_IDS), into, np.zeros(len(ENTITIES)))


def saturating_or() -> Units:
    """min(1, s) into `out`, with s the number of copies staged: max(0, s) − max(0, s − 1)."""
    stage, out = rows("stage", range(len(VALUES))) / STAGED, rows("out", VALUE_IDS)
    thresholds = np.repeat([0.0, 1.0], len(VALUES))
    return Units(np.concatenate([stage, stage]), np.concatenate([out, -out]), thresholds)
