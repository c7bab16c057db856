"""Rows of the cookbook's pages: clickstream, finance, operations."""

from __future__ import annotations

import pyarrow as pa

from cookbook_draw import Draw, Page, changes, stream


def clickstream() -> Page:
    draw = Draw(4)
    visitors = [f"v{i}" for i in range(8)]
    products = ["pen", "ink", "book", "lamp", "desk"]
    urls = ["/", "/shop", "/shop?utm_source=mail", "/help", "/?utm_source=search"]
    page_views = stream(
        draw.times(400),
        visitor=draw.of(400, visitors, [8, 7, 6, 5, 4, 3, 2, 1]),
        url=draw.of(400, urls, [5, 5, 2, 1, 2]),
        device=draw.of(400, ["phone", "desktop"], [2, 1]),
    )
    actions = stream(
        draw.times(360),
        visitor=draw.of(360, visitors),
        action=draw.of(360, ["view", "cart", "buy"], [5, 3, 2]),
        product=draw.of(360, products[:3]),
    )
    ad_clicks = stream(
        draw.times(90),
        visitor=draw.of(90, visitors[:6]),
        campaign=draw.of(90, ["spring", "sale", "brand"]),
    )
    purchases = stream(
        draw.times(150),
        id=list(range(150)),
        visitor=draw.of(150, visitors),
        product=draw.of(150, products),
        amount=draw.numbers(150, 1, 90, 4),
    )
    ids = [*range(120), *draw.of(80, range(120))]
    draw.random.shuffle(ids)
    who, which = draw.of(120, visitors), draw.of(120, ["old", "new"])
    paid = draw.numbers(120, 1, 60, 4)
    events = stream(
        draw.times(200),
        event_id=ids,
        visitor=[who[i] for i in ids],
        variant=[which[i] for i in ids],
        amount=[paid[i] for i in ids],
    )
    known = pa.table(
        {
            "product": products,
            "category": ["office", "office", "office", "home", "home"],
            "price": [2.0, 4.5, 12.0, 30.0, 90.0],
        }
    )
    rows = {"page_views": page_views, "actions": actions, "ad_clicks": ad_clicks}
    rows |= {"purchases": purchases, "events": events}
    rows["staff"] = changes(draw, 9, visitor=visitors[:5])
    return rows, {"products": known}


def finance() -> Page:
    draw = Draw(5)
    symbols = ["AAA", "BBB", "CCC", "DDD"]
    n = 420
    traded = draw.of(n, symbols, [4, 3, 2, 1])
    last = dict.fromkeys(symbols, 100.0)
    prices = []
    for symbol, step in zip(traded, draw.numbers(n, -12, 12, 4), strict=True):
        last[symbol] = max(last[symbol] + step, 40.0)
        prices.append(last[symbol])
    trades = stream(
        draw.times(n),
        id=list(range(n)),
        account=draw.of(n, ["x1", "x2", "x3"]),
        symbol=traded,
        side=draw.of(n, ["buy", "sell"]),
        price=prices,
        qty=draw.of(n, [10, 20, 50, 100]),
    )
    bids = draw.numbers(300, 60, 120, 4)
    quotes = stream(
        draw.times(300),
        symbol=draw.of(300, symbols),
        bid=bids,
        ask=[b + s for b, s in zip(bids, draw.numbers(300, 1, 20, 4), strict=True)],
    )
    instruments = pa.table(
        {
            "symbol": symbols,
            "sector": ["tools", "tools", "food", "food"],
            "currency": ["USD", "EUR", "USD", "GBP"],
        }
    )
    rows = {"trades": trades, "quotes": quotes}
    rows["rates"] = changes(
        draw, 20, currency=["USD", "USD", "EUR", "GBP"], rate=[0.75, 0.875, 1.0, 1.125]
    )
    rows["halted"] = changes(draw, 9, symbol=symbols)
    return rows, {"instruments": instruments}
