-- The database's clock, for showing.
SELECT clock_timestamp();
