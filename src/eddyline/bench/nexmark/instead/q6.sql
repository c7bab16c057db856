-- q6: Average Selling Price by Seller
-- The published text is not SQL (WHERE reads a column of its own select list), and Flink does not run it.
-- The winning bid of an auction changes, so the last ten before a row are read by LAG. Ties are in the order
-- of auctions.
SELECT
    seller,
    (price + COALESCE(p1, 0) + COALESCE(p2, 0) + COALESCE(p3, 0) + COALESCE(p4, 0) + COALESCE(p5, 0)
        + COALESCE(p6, 0) + COALESCE(p7, 0) + COALESCE(p8, 0) + COALESCE(p9, 0) + COALESCE(p10, 0))
      / CAST(CASE WHEN place > 11 THEN 11 ELSE place END AS DOUBLE) AS average
FROM (
    SELECT seller, price,
        ROW_NUMBER() OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS place,
        LAG(price, 1) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p1,
        LAG(price, 2) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p2,
        LAG(price, 3) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p3,
        LAG(price, 4) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p4,
        LAG(price, 5) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p5,
        LAG(price, 6) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p6,
        LAG(price, 7) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p7,
        LAG(price, 8) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p8,
        LAG(price, 9) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p9,
        LAG(price, 10) OVER (PARTITION BY seller ORDER BY `dateTime`, id) AS p10
    FROM (
        SELECT id, seller, price, `dateTime`
        FROM (
            SELECT A.id, A.seller, B.price, B.`dateTime`,
                ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime`) AS rownum
            FROM auction AS A, bid AS B
            WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
        )
        WHERE rownum <= 1
    )
);
