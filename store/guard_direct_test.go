package store_test

import (
	"context"
	"testing"

	"jobtop/store"
)

// TestGuardRecordsChangesByHand: a change of state past the functions gets the whole of
// its transition, and an action in the name of the session's role, whoever makes it.
func TestGuardRecordsChangesByHand(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"superuser":              nil,
		"as the owner":           {"SET ROLE jobtop_owner"},
		"as the owner, claiming": {"SET ROLE jobtop_owner", "SET jobtop.via = ''"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			ctx := context.Background()
			token := l.take("job", true)
			conn := l.session()
			for _, sql := range append(before, `UPDATE jobtop.jobs SET state = 'review' WHERE id = 'job'`) {
				if _, err := conn.Exec(ctx, sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			l.is("review 3 1 nobody", `SELECT concat_ws(' ', state, version, attempt, coalesce(lock_token::text, 'nobody')) FROM jobtop.jobs`)
			l.is("direct job running review 2 3 1 "+token+" jobtop jobtop applied",
				`SELECT concat_ws(' ', verb, job_id, from_state, to_state, seen_version, version, attempt, lock_token, operator, db_role, outcome) FROM jobtop.actions`)
			l.is("fenced review t", `SELECT concat_ws(' ', outcome, to_state, heartbeat_at IS NOT NULL) FROM jobtop.attempts`)

			// A requeue by hand is a whole one.
			if _, err := conn.Exec(ctx, `UPDATE jobtop.jobs SET state = 'pending', version = 99, attempt = 0, max_attempts = 1 WHERE id = 'job'`); err != nil {
				t.Fatal(err)
			}
			l.is("pending 4 1 2 t", `SELECT concat_ws(' ', state, version, attempt, max_attempts, run_at <= clock_timestamp()) FROM jobtop.jobs`)
			l.is("2", `SELECT count(*) FROM jobtop.actions WHERE verb = 'direct'`)

			// A claim by hand is one that nothing is known of.
			if _, err := conn.Exec(ctx, `UPDATE jobtop.jobs SET state = 'running', lock_token = gen_random_uuid() WHERE id = 'job'`); err != nil {
				t.Fatal(err)
			}
			l.is("2 jobtop f pending", `SELECT concat_ws(' ', attempt, worker, records_intent, claimed_from) FROM jobtop.attempts WHERE finished_at IS NULL`)
		})
	}
}

// TestGuardWantsAReceiptForDone: done only with a receipt, receipts only beside done, in
// one transaction, whoever does it.
func TestGuardWantsAReceiptForDone(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.take("job", true)
	const receipt = `INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) VALUES ('job', 'charge', 'r', 1, 'ada')`
	for _, role := range []string{"RESET ROLE", "SET ROLE jobtop_owner"} {
		conn := l.session()
		try := func(want string, statements ...string) {
			t.Helper()
			var err error
			for _, sql := range append([]string{role, "BEGIN"}, statements...) {
				if _, err = conn.Exec(ctx, sql); err != nil {
					break
				}
			}
			if err == nil {
				_, err = conn.Exec(ctx, "COMMIT")
			} else {
				_, _ = conn.Exec(ctx, "ROLLBACK")
			}
			if sqlstate(err) != want {
				t.Errorf("%s, %q ended with %v, not with %q", role, statements, err, want)
			}
		}
		try("JT002", `UPDATE jobtop.jobs SET state = 'done' WHERE id = 'job'`)
		try("JT002", receipt)
		try("JT002", receipt, `UPDATE jobtop.jobs SET state = 'review' WHERE id = 'job'`)
		try("JT002", `INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) VALUES ('job', 'mail', 'r', 1, 'ada')`,
			`UPDATE jobtop.jobs SET state = 'done' WHERE id = 'job'`)
		try("23503", `INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) VALUES ('nowhere', 'charge', 'r', 1, 'ada')`)
		for _, bad := range []string{"''", "' r'", "E'r\\n'", "repeat('r', 201)"} {
			try("23514", `INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) VALUES ('job', 'charge', `+bad+`, 1, 'ada')`)
		}
	}
	l.job("job", "running", 1, "may_have_happened")
	conn := l.session()
	for _, sql := range []string{"BEGIN", receipt, `UPDATE jobtop.jobs SET state = 'done' WHERE id = 'job'`, "COMMIT"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	l.job("job", "done", 1, "happened")
	l.is("direct r", `SELECT verb || ' ' || receipt_id FROM jobtop.actions`)

	// And from done there is no way, for nobody.
	for _, state := range []string{"pending", "running", "failed", "review", "dead"} {
		l.refused("JT001", `UPDATE jobtop.jobs SET state = $1::text, lock_token = CASE $1::text WHEN 'running' THEN gen_random_uuid() END WHERE id = 'job'`, state)
		l.refused("JT001", `SET ROLE jobtop_owner; UPDATE jobtop.jobs SET state = '`+state+`', lock_token = CASE WHEN '`+state+`' = 'running' THEN gen_random_uuid() END`)
	}
}

// TestGuardInsert: a job begins as pending, untouched, however it is inserted.
func TestGuardInsert(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for _, columns := range []string{
		"state) VALUES ('a', 'charge', 'a', 'done'", "state) VALUES ('a', 'charge', 'a', 'review'", "state) VALUES ('a', 'charge', 'a', 'dead'",
		"state, lock_token, claimed_at, heartbeat_at) VALUES ('a', 'charge', 'a', 'running', gen_random_uuid(), now(), now()",
		"version) VALUES ('a', 'charge', 'a', 7", "attempt) VALUES ('a', 'charge', 'a', 1", "worker) VALUES ('a', 'charge', 'a', 'w'",
		"effect_at) VALUES ('a', 'charge', 'a', now()", "heartbeat_at) VALUES ('a', 'charge', 'a', now()", "claimed_at) VALUES ('a', 'charge', 'a', now()",
		"progress_at) VALUES ('a', 'charge', 'a', now()",
	} {
		l.refused("JT004", `INSERT INTO jobtop.jobs (id, kind, effect_key, `+columns+`)`)
	}
	l.refused("JT004", `SET ROLE jobtop_owner; INSERT INTO jobtop.jobs (id, kind, effect_key, state) VALUES ('a', 'charge', 'a', 'review')`)
	l.exec(`INSERT INTO jobtop.jobs (id, kind, effect_key, payload) VALUES ('a', 'charge', 'a', '{}') ON CONFLICT (id) DO UPDATE SET payload = excluded.payload`)
	l.refused("JT001", `INSERT INTO jobtop.jobs AS j (id, kind, effect_key) VALUES ('a', 'charge', 'a') ON CONFLICT (id) DO UPDATE SET state = 'failed'`)
	l.job("a", "pending", 0, "never_started")
}

// TestGuardFacts: what only a change of state, a claim or a heartbeat may move cannot be
// moved by hand; what a person may want to mend can.
func TestGuardFacts(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.take("job", true)
	for _, set := range []string{
		"version = 9", "attempt = 2", "lock_token = gen_random_uuid()", "worker = 'me'", "claimed_at = now()", "heartbeat_at = now()", "progress = 5",
		"progress_at = now()", "effect_at = NULL", "effect_key = 'k'", "kind = 'mail'", "id = 'other'", "created_at = now()", "state_changed_at = now()",
	} {
		l.refused("JT003", `UPDATE jobtop.jobs SET `+set+` WHERE id = 'job'`)
		l.refused("JT003", `SET ROLE jobtop_owner; UPDATE jobtop.jobs SET `+set)
	}
	for _, set := range []string{"id = 'other'", "kind = 'mail'", "effect_key = 'k'", "created_at = now()"} {
		l.refused("JT003", `UPDATE jobtop.jobs SET state = 'review', `+set+` WHERE id = 'job'`)
	}
	l.exec(`UPDATE jobtop.jobs SET payload = '1', run_at = now(), max_attempts = 9, heartbeat_timeout = '1 hour', progress_timeout = '1 hour',
		source_version = 'v', error_category = 'c', error_detail = 'd' WHERE id = 'job'`)
	l.job("job", "running", 1, "may_have_happened")
	l.is("0", `SELECT count(*) FROM jobtop.actions`)
}

// TestDirectClaimBeginsNothing: whoever takes a job by hand starts an attempt without the
// intent of the one before, whatever stands in the row or is written into it.
func TestDirectClaimBeginsNothing(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]string{"left as it was": "", "written": ", effect_at = now()"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			token := l.take("job", true)
			l.fail("job", token, store.EffectRefused, true)
			l.is("true", `SELECT effect_at IS NOT NULL FROM jobtop.jobs WHERE id = 'job'`)
			l.exec(`UPDATE jobtop.jobs SET state = 'running', lock_token = gen_random_uuid()` + set + ` WHERE id = 'job'`)
			l.is("running 2", `SELECT state || ' ' || attempt FROM jobtop.jobs WHERE id = 'job' AND effect_at IS NULL`)
		})
	}
}
