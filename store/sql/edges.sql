-- The ways a job may change its state here.
SELECT e.from_state, e.to_state, e.actor FROM jobtop.edges e ORDER BY e.from_state, e.to_state, e.actor;
