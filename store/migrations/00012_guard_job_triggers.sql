-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- The owner is who our functions run as; each of them also names itself in jobtop.via, so that somebody
-- who merely became the owner's role still counts as a direct change. A condition is read anew for each
-- statement, which costs more than to call the function: so there is but one, and it is short.
CREATE TRIGGER guard_ours
  BEFORE UPDATE OF state, id, kind, version, attempt, lock_token, worker, claimed_at, heartbeat_at, progress, progress_at, effect_key, effect_at, created_at, state_changed_at
  ON jobtop.jobs FOR EACH ROW EXECUTE FUNCTION jobtop.guard_ours();
CREATE TRIGGER guard_direct
  BEFORE UPDATE OF state, id, kind, version, attempt, lock_token, worker, claimed_at, heartbeat_at, progress, progress_at, effect_key, effect_at, created_at, state_changed_at
  ON jobtop.jobs FOR EACH ROW
  WHEN (current_user <> 'jobtop_owner'::text) EXECUTE FUNCTION jobtop.guard_direct();

RESET ROLE;
