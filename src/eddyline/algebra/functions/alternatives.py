"""Functions of other systems that Eddyline lacks: what to write instead."""

from __future__ import annotations

from typing import Final

_TUMBLING: Final = (
    "write FROM s [TUMBLE 1 MINUTE] and GROUP BY window_start, window_end, or the function in "
    "FROM, TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)); date_trunc('minute', ts) "
    "is a key per calendar unit"
)
_GROUPED: Final = (
    "it is a key of GROUP BY, as in GROUP BY k, window(ts, '1 minute'), and the select list reads "
    "it then; for each row in its windows write FROM s [TUMBLE 1 MINUTE]"
)
_HOPPING: Final = (
    "write FROM s [HOP 5 MINUTES EVERY 1 MINUTE] and GROUP BY window_start, window_end, or the "
    "function in FROM, TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' "
    "MINUTE)); FROM s [RANGE 5 MINUTES] slides with every row"
)
_SESSION: Final = (
    "write FROM s [SESSION 30 SECONDS BY k] and GROUP BY k, window_start, window_end, the function "
    "in FROM, SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND), or GROUP BY "
    "k, session_window(ts, '30 seconds')"
)
_OVER: Final = "write OVER (PARTITION BY k ORDER BY ts) behind it"
_UNNEST: Final = "write FROM s, UNNEST(list) AS t (x), or LATERAL VIEW explode(list) t AS x"
_JSON_LISTS: Final = "write to_json(array_agg(x))"
_JSON: Final = "write json_value(text, '$.field') or text ->> 'field'"

#: Functions of the query's clock, and where they can be written.
CLOCKS: Final = frozenset(("now", "current_timestamp", "mz_now"))
CLOCK: Final = (
    "it is the query's clock, which WHERE compares with the event time of a stream, as in "
    "ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts"
)

_ADVICE: Final[dict[str, str]] = {
    "tumble tumbling tumble_start tumble_end tumble_rowtime tumble_proctime": _TUMBLING,
    "window": _GROUPED,
    "window_time": _TUMBLING,
    "hop hop_start hop_end hop_rowtime hop_proctime cumulate sliding hopping": _HOPPING,
    "session session_start session_end session_rowtime session_proctime session_window": _SESSION,
    "lag lead row_number rank dense_rank percent_rank cume_dist ntile nth_value": _OVER,
    "latest_by_offset": "write last(value)",
    "earliest_by_offset": "write first(value)",
    "all_match": "write bool_and(condition)",
    "any_match": "write bool_or(condition)",
    "quantile approx_quantiles quantile_cont": "write percentile(x, 0.5)",
    "quantile_disc": "write percentile_disc(0.5) WITHIN GROUP (ORDER BY x)",
    "entropy": "",
    "list list_agg array_concat_agg": "write array_agg(x)",
    "group_concat": "write string_agg(x, ',')",
    "json_agg jsonb_agg json_arrayagg": _JSON_LISTS,
    "map_agg json_object_agg jsonb_object_agg": "write map_from_entries(array_agg(struct(k, v)))",
    "histogram_numeric": "write COUNT(*) with GROUP BY a bucket, as in floor(x / 10)",
    "explode explode_outer unnest inline inline_outer stack": _UNNEST,
    "posexplode posexplode_outer": "write FROM s, UNNEST(list) WITH ORDINALITY AS t (x, n)",
    "row": "write struct(a, b), or named_struct('name', value, ...)",
    "extractjsonfield json_extract json_tuple": _JSON,
    "json_extract_path_text parse_json variant_get": _JSON,
    "timediff age date_part_diff": (
        "write b - a for an INTERVAL, or timestampdiff(SECOND, a, b) for a number"
    ),
    "date_add_interval adddate": "write ts + INTERVAL 5 MINUTES, or date_add(date, days)",
    "subdate": "write ts - INTERVAL 5 MINUTES, or date_sub(date, days)",
    "timestamp_from_unix epoch_ms": (
        "write timestamp_seconds(n), timestamp_millis(n) or timestamp_micros(n)"
    ),
    "epoch to_unixtime": "write unix_seconds(ts) or unix_millis(ts)",
    "strftime timestamptostring datetostring": "write date_format(ts, 'pattern')",
    "str_to_date strptime stringtotimestamp stringtodate": (
        "write to_timestamp(text, 'pattern') or to_date(text, 'pattern')"
    ),
    "convert": "write CAST(x AS type)",
    "current_watermark": "Engine.stats has the watermarks; the time of a result is its _ts",
    "jsonb_build_object json_build_object json_object": "write named_struct('name', value, ...)",
    "rowtime": "the event time is the stream's column behind TIMESTAMP BY",
    "istream rstream dstream": "write EMIT INSERTS, EMIT SNAPSHOT EVERY ... or EMIT CHANGES",
    "monotonically_increasing_id spark_partition_id input_file_name": (
        "rows are not numbered: add a column with a number in the source"
    ),
    "topk topkdistinct": "write slice(array_agg(x ORDER BY x DESC), 1, 3)",
    "as_value": "a column of GROUP BY is a value, too: leave AS_VALUE out",
    "collect": "write array_agg(x), or histogram(x) for the number of each value",
    "is_json": "write json_exists(x, '$.name') for a field that it must have",
    "jsonb_array_elements json_array_elements jsonb_array_elements_text": (
        "write UNNEST(from_json(x, 'ARRAY<STRING>')) AS t (value) in FROM"
    ),
    "sha224 sha256 sha384 sha512": "write sha2(text, 256)",
    "from_hex": "write unhex(text)",
    "to_base64": "write base64(x)",
    "from_base64": "write CAST(unbase64(text) AS STRING)",
    "format": "write format_string('%s: %d', a, b), or a || b",
    "format_number": "write CAST(round(x, 2) AS STRING)",
    "to_number try_to_number": "write CAST(text AS DECIMAL(10, 2)), or try_cast",
    "raise_error assert_true": "rows for which an expression fails are bad rows by themselves",
    "make_ym_interval": (
        "write INTERVAL 5 MINUTES, or timestampadd(MONTH, n, ts) for a number of months"
    ),
    "array_insert": "write concat(slice(list, 1, 2), array(x), slice(list, 3, size(list)))",
    "current_user user session_user version current_database": "it is not a property of rows",
    "soundex luhn_check conv bround sentences": (
        "write a function of your own, CREATE FUNCTION ... LANGUAGE PYTHON"
    ),
}

#: What to write instead, by name; empty without advice.
ALTERNATIVES: Final = {name: text for names, text in _ADVICE.items() for name in names.split()}

#: The functions that form groups by time.
GROUP_WINDOWS: Final = frozenset(
    name for name, text in ALTERNATIVES.items() if text in (_HOPPING, _TUMBLING, _GROUPED, _SESSION)
)
