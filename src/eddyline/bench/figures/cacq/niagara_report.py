"""CACQ against the plans of NiagaraCQ: figures, and the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from eddyline.bench.figures.cacq.niagara import (
    BY_ARTICLES,
    BY_QUERIES,
    BY_WANTED,
    CACQ,
    FUNCTIONS,
    PLANS,
    PULL_UP,
    PUSH_DOWN,
    PlanPoint,
    Update,
    measure,
)
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import draw_series
from eddyline.bench.figures.verdicts import Judgment, factor

#: Up to this number, queries are few.
_FEW: Final = 16
#: Times that differ by less than this factor are about the same.
_ALIKE: Final = 1.5


class _Figure(NamedTuple):
    """One figure: a field of Update over which times are drawn, and what it is called."""

    series: str
    by: str
    called: str
    file: str
    about: str


_FIGURES: Final = (
    _Figure(
        BY_QUERIES,
        "queries",
        "queries",
        "niagara-queries.png",
        "{u.stocks:,} stocks, an article each; plain selections",
    ),
    _Figure(
        BY_ARTICLES,
        "articles",
        "articles per stock",
        "niagara-articles.png",
        "{u.queries} queries, {u.stocks:,} stocks; plain selections",
    ),
    _Figure(
        BY_WANTED,
        "wanted",
        "percentage of the stocks that any query wants",
        "niagara-wanted.png",
        "{u.queries} queries, {u.stocks:,} stocks, {u.articles} articles each; plain selections",
    ),
    _Figure(
        FUNCTIONS,
        "articles",
        "articles per stock",
        "niagara-functions.png",
        "{u.queries} queries, {u.stocks:,} stocks; selections by expensive functions",
    ),
)
_VARIED: Final = {figure.series: figure.by for figure in _FIGURES}


def draw(points: Sequence[PlanPoint], out: Path) -> None:
    """``niagara-*.png``: milliseconds of each plan."""
    for figure in _FIGURES:
        mine = [p for p in points if p.update.series == figure.series]
        draw_series(
            out / figure.file,
            f"Time to complete an update, by {figure.called}",
            figure.about.format(u=mine[0].update),
            {
                plan: [p.speed.time_spot(_varied(p.update)) for p in mine if p.plan == plan]
                for plan in PLANS
            },
            figure.called,
            "milliseconds",
        )


def _varied(update: Update) -> int:
    number: int = getattr(update, _VARIED[update.series])
    return number


def table(points: Sequence[PlanPoint]) -> list[Mapping[str, Any]]:
    """A row per update."""
    return [
        {
            "selections": "functions" if update.functions else "plain",
            "queries": update.queries,
            "stocks": f"{update.stocks:,}",
            "articles per stock": update.articles,
            "stocks wanted": f"{update.wanted} %",
            **{f"{plan}, ms": f"{plans[plan].speed.ms:.1f}" for plan in PLANS},
            "of PushDown: filters": f"{plans[PUSH_DOWN].filtering:.0%}",
            "calls: CACQ, PullUp": (
                f"{plans[CACQ].calls:,}, {plans[PULL_UP].calls:,}" if update.functions else "-"
            ),
        }
        for update, plans in _by_update(points).items()
    ]


def _by_update(points: Sequence[PlanPoint], *series: str) -> dict[Update, dict[str, PlanPoint]]:
    """The plans for each update (of some series)."""
    found: dict[Update, dict[str, PlanPoint]] = {}
    for point in points:
        if not series or point.update.series in series:
            found.setdefault(point.update, {})[point.plan] = point
    return found


def _ratios(points: Sequence[PlanPoint], series: str, plan: str) -> dict[int, float]:
    """How many times as long as CACQ a plan takes, by what is varied."""
    return {
        _varied(update): plans[plan].speed.ms / plans[CACQ].speed.ms
        for update, plans in _by_update(points, series).items()
    }


def _listed(ratios: dict[int, float]) -> str:
    numbers = ", ".join(f"{ratio:.2f}" for ratio in ratios.values())
    return f"{numbers} times as long with {', '.join(map(str, ratios))}"


def _few_queries(points: Sequence[PlanPoint]) -> Judgment:
    ratios = {n: r for n, r in _ratios(points, BY_QUERIES, PULL_UP).items() if n <= _FEW}
    text = f"PullUp takes {_listed(ratios)} queries"
    slower = sum(r > 1.0 for r in ratios.values())
    return Judgment(text, "yes" if slower == len(ratios) else "in part" if slower else "no")


def _many_queries(points: Sequence[PlanPoint]) -> Judgment:
    (queries, ratio), *_ = reversed(_ratios(points, BY_QUERIES, PULL_UP).items())
    text = f"with {queries} queries PullUp takes {ratio:.2f} times as long as CACQ"
    if ratio > _ALIKE:
        return Judgment(f"{text}: CACQ is faster", "in part")
    return Judgment(text, "yes" if ratio >= 1 / _ALIKE else "no")


def _push_down_is_slowest(points: Sequence[PlanPoint]) -> Judgment:
    """Without the time of its filters, which the paper's PushDown groups."""
    slower, least, total = 0, 1.0, 0
    for plans in _by_update(points, BY_QUERIES, BY_ARTICLES).values():
        ms = plans[PUSH_DOWN].speed.ms * (1.0 - plans[PUSH_DOWN].filtering)
        ratio = ms / max(plans[CACQ].speed.ms, plans[PULL_UP].speed.ms)
        slower, least, total = slower + (ratio > 1.0), min(least, ratio), total + 1
    most = max(_ratios(points, BY_QUERIES, PUSH_DOWN).values())
    text = (
        f"slower than both others in {slower} of {total} cases, its filters not counted; up to "
        f"{most:.1f} times as long as CACQ"
    )
    if slower < total:
        text += f"; at least {least:.2f} times as long as the slower of them"
    return Judgment(text, "yes" if slower == total else "in part" if 2 * slower > total else "no")


def _few_wanted(points: Sequence[PlanPoint]) -> Judgment:
    ratios = _ratios(points, BY_WANTED, PULL_UP)
    text = f"PullUp takes {_listed(ratios)} % of the stocks wanted"
    return Judgment(text, factor(ratios[min(ratios)], 1.2))


def _functions(points: Sequence[PlanPoint]) -> Judgment:
    ratios = _ratios(points, FUNCTIONS, PULL_UP)
    text = f"PullUp takes {_listed(ratios)} articles per stock"
    values = list(ratios.values())
    grows = values[-1] > 1.5 * values[0]
    return Judgment(text, factor(values[-1], 2.0) if grows else "no")


def _one_article(points: Sequence[PlanPoint]) -> Judgment:
    ratio = _ratios(points, FUNCTIONS, PULL_UP)[1]
    return Judgment(f"PullUp takes {ratio:.2f} times as long as CACQ", factor(ratio, 1.05))


def _functions_pushed_down(points: Sequence[PlanPoint]) -> Judgment:
    ratios = _ratios(points, FUNCTIONS, PUSH_DOWN)
    slower = sum(r > 1.0 for r in ratios.values())
    text = f"PushDown takes {_listed(ratios)} articles per stock"
    return Judgment(text, "yes" if slower == len(ratios) else "in part" if slower else "no")


def _calls(points: Sequence[PlanPoint]) -> Judgment:
    """Each function once per quote, or once per pair of a quote and an article."""
    found = _by_update(points, FUNCTIONS)
    exact = all(
        plans[plan].calls == update.queries * update.stocks * per_stock
        for update, plans in found.items()
        for plan, per_stock in ((CACQ, 1), (PULL_UP, update.articles))
    )
    update, plans = list(found.items())[-1]
    text = (
        f"{plans[CACQ].calls:,} calls, PullUp {plans[PULL_UP].calls:,}, with {update.articles} "
        "articles per stock"
    )
    return Judgment(text, "yes" if exact else "no")


EXPERIMENT: Final = Experiment(
    "niagara",
    "CACQ against NiagaraCQ's plans (section 4)",
    measure,
    draw,
    table,
    (
        Claim(
            "section 4",
            f"few queries (to {_FEW}): CACQ is faster than PullUp",
            "PullUp takes longer at each of these",
            _few_queries,
        ),
        Claim(
            "section 4",
            "many queries: CACQ is somewhat slower than PullUp (here: within a factor of "
            f"{_ALIKE})",
            f"between 1 / {_ALIKE} and {_ALIKE} times its time",
            _many_queries,
        ),
        Claim(
            "section 4",
            "PushDown is slower in all cases",
            "slower than both others in each, its filters not counted",
            _push_down_is_slowest,
        ),
        Claim(
            "section 4",
            "expensive functions: CACQ is faster than PullUp, the more so the more articles",
            "2x with the most articles, and growing by half",
            _functions,
        ),
        Claim(
            "section 4",
            "expensive functions, a single article: PullUp still pays for larger tuples",
            "1.05x",
            _one_article,
        ),
        Claim(
            "section 4",
            "expensive functions: PushDown is slower than CACQ",
            "slower at each number of articles",
            _functions_pushed_down,
        ),
        Claim(
            "this project",
            "where the queries want few of the stocks, CACQ is faster than PullUp",
            "1.2x with the fewest wanted",
            _few_wanted,
        ),
        Claim(
            "this project",
            "CACQ calls a function once per quote, PullUp once per quote and article",
            "exactly",
            _calls,
        ),
    ),
)
