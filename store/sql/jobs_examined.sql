-- How many open jobs in some states there are, as far as one beyond a bound.
SELECT count(*)
  FROM (SELECT FROM jobtop.jobs j WHERE j.state <> 'done' AND j.state = ANY (@states::text[]) LIMIT @bound::bigint + 1) counted;
