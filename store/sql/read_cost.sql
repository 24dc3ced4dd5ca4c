-- How long the server has been at this transaction, in microseconds.
SELECT (extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000000)::bigint;
