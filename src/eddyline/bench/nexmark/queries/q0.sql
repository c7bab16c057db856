-- q0: Pass through (Not in original suite)
SELECT auction, bidder, price, `dateTime`, extra FROM bid;
