-- A page in the order of its scan.
SELECT s.*, (extract(epoch FROM s.at) * 1000000)::bigint AS key FROM scanned s;
