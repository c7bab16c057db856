SELECT ~ qty FROM trades
=>
no error
----------
SELECT regexp_match(symbol, 'a') FROM trades
=>
SqlError: line 1, column 8: regexp_match gives a list of groups: write (regexp_match(text, pattern))[1]
  SELECT regexp_match(symbol, 'a') FROM trades
         ^
----------
SELECT (regexp_match(symbol, '(a)'))[0] FROM trades
=>
SqlError: line 1, column 9: the groups of regexp_match are numbered from 1
  SELECT (regexp_match(symbol, '(a)'))[0] FROM trades
          ^
----------
SELECT (regexp_match(symbol, '(a)'))[2] FROM trades
=>
SqlError: line 1, column 9: the pattern '(a)' has 1 groups; there is no group 2
  SELECT (regexp_match(symbol, '(a)'))[2] FROM trades
          ^
----------
SELECT symbol ~* symbol FROM trades
=>
SqlError: line 1, column 15: ~* takes a constant regular expression
  SELECT symbol ~* symbol FROM trades
                ^
----------
SELECT symbol ~ qty FROM trades
=>
SqlError: line 1, column 15: rlike does not take (STRING, BIGINT); valid: text RLIKE pattern
  SELECT symbol ~ qty FROM trades
                ^
----------
SELECT symbol SIMILAR TO '(a' FROM trades
=>
SqlError: line 1, column 8: '\A(?s:(a)\z' is not a regular expression of RE2: Invalid regular expression: missing ): \A(?s:(a)\z
  SELECT symbol SIMILAR TO '(a' FROM trades
         ^
----------
SELECT sha2(symbol, 128) FROM trades
=>
SqlError: line 1, column 8: sha2 takes 224, 256, 384 or 512 bits, a constant, not 128
  SELECT sha2(symbol, 128) FROM trades
         ^
----------
SELECT hash(array(qty)) FROM trades
=>
SqlError: line 1, column 8: hash of ARRAY<BIGINT> is not supported
  SELECT hash(array(qty)) FROM trades
         ^
----------
SELECT next_day(ts, 'noday') FROM trades
=>
SqlError: line 1, column 8: next_day has no day 'noday'; valid: monday, tuesday, wednesday, thursday, friday, saturday, sunday
  SELECT next_day(ts, 'noday') FROM trades
         ^
----------
SELECT hash() FROM trades
=>
SqlError: line 1, column 8: hash does not take (); valid: hash(value, ...)
  SELECT hash() FROM trades
         ^
----------
