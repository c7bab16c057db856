-- The streams, and the names that the published queries read. An answer that has no window of its own is
-- over all rows so far: that is what [UNBOUNDED] says once, here, instead of in each query. Embedded, rows
-- are supplied, and the sources are not read.

CREATE STREAM persons (
    id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
    dateTime TIMESTAMP, extra STRING
  ) TIMESTAMP BY dateTime
  WITH (source = 'parquet', path = 'nexmark/persons', maxFilesPerTrigger = 1);

CREATE STREAM auctions (
    id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
    dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING
  ) TIMESTAMP BY dateTime
  WITH (source = 'parquet', path = 'nexmark/auctions', maxFilesPerTrigger = 1);

CREATE STREAM bids (
    auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
    dateTime TIMESTAMP, extra STRING
  ) TIMESTAMP BY dateTime
  WITH (source = 'parquet', path = 'nexmark/bids', maxFilesPerTrigger = 1);

CREATE VIEW person AS SELECT * FROM persons [UNBOUNDED];
CREATE VIEW auction AS SELECT * FROM auctions [UNBOUNDED];
CREATE VIEW bid AS SELECT * FROM bids [UNBOUNDED];

-- q13 joins bids with it; its rows are (i, i).
CREATE TABLE side_input (key BIGINT, value BIGINT)
  WITH (source = 'parquet', path = 'nexmark/side_input');

-- q14 counts characters with a function of the user.
CREATE FUNCTION count_char(text STRING, character STRING) RETURNS BIGINT LANGUAGE PYTHON AS $$
    import pyarrow as pa
    import pyarrow.compute as pc

    def count_char(text, character):
        counts = pa.nulls(len(text), pa.int64())
        for one in character.unique().drop_null().to_pylist():
            found = pc.count_substring(text, one).cast(pa.int64())
            counts = pc.if_else(pc.equal(character, one).fill_null(False), found, counts)
        return counts
$$;
