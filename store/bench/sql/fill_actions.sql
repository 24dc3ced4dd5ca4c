-- An action on every fiftieth job that was claimed.
INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt, operator, reason, outcome, at)
SELECT md5('action' || w.i)::uuid, 'requeue', w.id, w.kind, 'review', 'pending', 'review', 3, 4, 1, (ARRAY['alice', 'bob'])[1 + w.i / 50 % 2],
       'the provider shows nothing', 'applied', w.at - interval '20 seconds'
  FROM wanted w WHERE w.i % 50 = 0 AND w.state <> 'pending';
