-- q13: Bounded Side Input Join (Not in original suite)
-- The side input is a static table: its rows are the same at any time, so FOR SYSTEM_TIME AS OF the time of
-- processing says nothing more.
SELECT
    B.auction,
    B.bidder,
    B.price,
    B.`dateTime`,
    S.`value`
FROM bid B
JOIN side_input AS S
ON mod(B.auction, 10000) = S.key;
