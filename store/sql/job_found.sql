-- One job, as a page of one.
SELECT 1::bigint AS n, 0::bigint AS key, j.state_changed_at AS at, j.id, true AS listed, false AS last
  FROM jobtop.jobs j WHERE j.id = @id::text;
