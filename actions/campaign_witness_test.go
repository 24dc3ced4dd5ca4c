package actions

import (
	"context"
	"time"
)

// witnessSQL has a witness written of every step that a job takes, in the transaction
// that takes it, by nobody whom the console or the workers know: the judge's own record.
// It also makes acts slow whose reason asks for it: while they act, and at their commit.
const witnessSQL = `
CREATE SCHEMA witness;
CREATE TABLE witness.steps (
  n bigserial PRIMARY KEY, job_id text NOT NULL, from_version bigint NOT NULL, to_version bigint NOT NULL,
  from_state text NOT NULL, to_state text NOT NULL, application text NOT NULL, via text NOT NULL);
CREATE INDEX ON witness.steps (job_id, from_version);
CREATE FUNCTION witness.step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
  INSERT INTO witness.steps (job_id, from_version, to_version, from_state, to_state, application, via)
  VALUES (OLD.id, OLD.version, NEW.version, OLD.state, NEW.state, current_setting('application_name'), coalesce(current_setting('jobtop.via', true), ''));
  RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER UPDATE ON jobtop.jobs FOR EACH ROW
  WHEN (OLD.version <> NEW.version OR OLD.state <> NEW.state OR OLD.attempt <> NEW.attempt) EXECUTE FUNCTION witness.step();
CREATE FUNCTION witness.sleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$;
CREATE TRIGGER a_slow BEFORE INSERT ON jobtop.actions FOR EACH ROW WHEN (NEW.reason = '` + slowAct + `') EXECUTE FUNCTION witness.sleep();
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON jobtop.actions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.reason = '` + slowCommit + `') EXECUTE FUNCTION witness.sleep();
DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'jobtop'::regnamespace AND p.proname = 'act' LOOP
    EXECUTE format('ALTER FUNCTION %s SET lock_timeout = ''150ms''', f);
  END LOOP;
END $$;`

// The reasons that make an act slow.
const (
	slowAct    = "slow: the act"
	slowCommit = "slow: the commit"
)

// step is what the witness saw. key is what it shares with all that its transaction
// wrote: with the action's row, and the receipt's.
type step struct {
	job                    string
	fromVersion, toVersion int64
	from, to               State
	application, via, key  string
}

// persist tries until it can, over restarts of the server.
func (c *campaign) persist(what string, try func(ctx context.Context) error) {
	deadline := time.Now().Add(5 * time.Minute)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := try(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			panic(what + ": " + err.Error())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// read reads one row over the judge's own connections.
func (c *campaign) read(into []any, sql string, arguments ...any) {
	c.persist(sql, func(ctx context.Context) error { return c.direct.QueryRow(ctx, sql, arguments...).Scan(into...) })
}

// steps reads all that the witness saw, in order.
func (c *campaign) steps() []step {
	var steps []step
	c.persist("reading the steps", func(ctx context.Context) error {
		steps = nil
		rows, err := c.direct.Query(ctx, `SELECT job_id, from_version, to_version, from_state, to_state, application, via, xmin::text FROM witness.steps ORDER BY n`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s step
			if err := rows.Scan(&s.job, &s.fromVersion, &s.toVersion, &s.from, &s.to, &s.application, &s.via, &s.key); err != nil {
				return err
			}
			steps = append(steps, s)
		}
		return rows.Err()
	})
	return steps
}
