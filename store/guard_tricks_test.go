package store_test

import (
	"context"
	"testing"

	"jobtop/store"
)

// TestTricksAgainstTheFunctions: somebody who may call the functions, and make objects of
// his own, puts his in their way: temporary tables of the same names, functions and
// operators that come first in his search_path, settings. The functions use their own.
func TestTricksAgainstTheFunctions(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	for _, id := range []string{"paused", "mine", "other", "reset"} {
		kind := "charge"
		if id == "paused" {
			kind = "paused"
		}
		l.enqueue(store.NewJob{ID: id, Kind: kind})
	}
	l.is("true", `SELECT jobtop.pause($1, 'paused', 'ada', 'a test')`, newToken())
	victim := newToken()
	if ids := l.claimAs(victim, 1); ids != "mine" {
		t.Fatal(ids)
	}

	conn, _ := l.login("jobtop_worker", "jobtop_operator")
	run := func(sql string, arguments ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, arguments...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	var user string
	if err := conn.QueryRow(ctx, "SELECT current_user").Scan(&user); err != nil {
		t.Fatal(err)
	}
	l.exec(`CREATE SCHEMA evil AUTHORIZATION ` + user)
	t.Cleanup(func() { l.exec(`DROP SCHEMA evil CASCADE`) })

	run(`CREATE TEMP TABLE jobs AS SELECT 'fake'::text AS id, 'charge'::text AS kind, 'pending'::text AS state, now() - interval '1 year' AS run_at`)
	run(`CREATE TEMP TABLE edges AS SELECT 'done'::text AS from_state, 'pending'::text AS to_state, 'operator'::text AS actor`)
	for _, table := range []string{"paused", "attempts", "receipts", "late_reports", "actions", "once"} {
		run(`CREATE TEMP TABLE ` + table + ` (kind text, key text, job_id text, until timestamptz)`)
	}
	// Names that the functions use, in his schema and in the temporary one.
	for _, schema := range []string{"evil", "pg_temp"} {
		run(`CREATE FUNCTION ` + schema + `.yes(uuid, uuid) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'`)
		run(`CREATE FUNCTION ` + schema + `.yes(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'`)
		for _, operator := range []string{"=", "<>", "~"} {
			run(`CREATE OPERATOR ` + schema + `.` + operator + ` (LEFTARG = text, RIGHTARG = text, FUNCTION = ` + schema + `.yes)`)
		}
		run(`CREATE OPERATOR ` + schema + `.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = ` + schema + `.yes)`)
		run(`CREATE FUNCTION ` + schema + `.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'tricked'; END $$`)
		run(`CREATE FUNCTION ` + schema + `.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT now() + interval ''10 years'''`)
		run(`CREATE FUNCTION ` + schema + `.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT ''read committed'''`)
		run(`CREATE FUNCTION ` + schema + `.format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'tricked'; END $$`)
		run(`CREATE FUNCTION ` + schema + `.record_intent(text, uuid, OUT answer text, OUT effect_key text, OUT receipt_id text) LANGUAGE sql AS 'SELECT ''begin'', ''k'', NULL'`)
	}
	run(`SET search_path = pg_temp, evil, pg_catalog, jobtop`)
	run(`SET jobtop.via = 'complete'`)

	one := func(sql string, arguments ...any) string {
		t.Helper()
		var value *string
		if err := conn.QueryRow(ctx, sql, arguments...).Scan(&value); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if value == nil {
			return ""
		}
		return *value
	}
	wrong := newToken()
	for what, c := range map[string]struct{ want, got string }{
		"complete with another's job": {"lease_lost", one(`SELECT jobtop.complete('mine', $1, 'stolen')`, wrong)},
		"fail another's job":          {"lease_lost", one(`SELECT jobtop.fail('mine', $1, 'unknown')`, wrong)},
		"heartbeat for another's job": {"false", one(`SELECT jobtop.heartbeat('mine', $1)::text`, wrong)},
		"claim a paused kind":         {"", one(`SELECT pg_catalog.max(job_id) FROM jobtop.claim('w', $1, '{paused}')`, newToken())},
		"claim":                       {"other", one(`SELECT job_id FROM jobtop.claim('w', $1, '{charge}')`, wrong)},
		"requeue what is alive":       {"alive", one(`SELECT (jobtop.act($1, 'requeue', 'mine', 'running', 2, 'eve', 'a trick')).refusal`, newToken())},
		"once":                        {"true", one(`SELECT jobtop.once('key', '1 hour', 'eve')::text`)},
	} {
		if c.got != c.want {
			t.Errorf("%s answered %q, not %q", what, c.got, c.want)
		}
	}
	var answer, key, receipt *string
	if err := conn.QueryRow(ctx, `CALL jobtop.begin_effect('mine', $1)`, wrong).Scan(&answer, &key, &receipt); err != nil || *answer != "lease_lost" {
		t.Errorf("begin_effect answered %v, %v", *answer, err)
	}
	var answers, keys, receipts []*string
	if err := conn.QueryRow(ctx, `CALL jobtop.begin_effects('{mine}', $1)`, wrong).Scan(&answers, &keys, &receipts); err != nil || *answers[0] != "lease_lost" {
		t.Errorf("begin_effects answered %v, %v", *answers[0], err)
	}
	var completed *string
	if err := conn.QueryRow(ctx, `CALL jobtop.begin_next('w', $1, '{paused}', 'mine', $2, 'stolen')`, newToken(), wrong).
		Scan(&completed, &answer, nil, nil, nil, nil, nil, nil, nil); err != nil || *completed != "lease_lost" || *answer != "none" {
		t.Errorf("begin_next answered %v, %v, %v", completed, answer, err)
	}
	if answer := one(`SELECT jobtop.complete('other', $1, 'r')`, wrong); answer != "done" {
		t.Errorf("his own job: %s", answer)
	}
	if refusal := one(`SELECT (jobtop.act($1, 'requeue', 'other', 'done', 3, 'eve', 'a trick', NULL, '{may_have_happened,stop}')).refusal`, newToken()); refusal != "no_edge" {
		t.Errorf("out of done: %q", refusal)
	}

	l.job("mine", "running", 1, store.VerdictHappened) // by the late report, which is what it is for
	l.is(victim, `SELECT lock_token FROM jobtop.jobs WHERE id = 'mine'`)
	l.job("other", "done", 1, store.VerdictHappened)
	l.job("paused", "pending", 0, store.VerdictNeverStarted)
	l.is("true", `SELECT bool_and(created_at < now() + interval '1 day' AND state_changed_at < now() + interval '1 day') FROM jobtop.jobs`)
	l.is("eve", `SELECT holder FROM jobtop.once`)
	for _, table := range []string{"paused", "attempts", "receipts", "late_reports", "actions", "once"} {
		if n := one(`SELECT pg_catalog.count(*)::text FROM pg_temp.` + table); n != "0" {
			t.Errorf("%s rows went into the temporary %s", n, table)
		}
	}
}

// TestDefinerFunctionsPinTheirSearchPath: each function that runs with its owner's rights,
// now or later, has a search_path of its own that ends in pg_temp, and its owner is the
// role that cannot log in. All others are invoked with the caller's own rights.
func TestDefinerFunctionsPinTheirSearchPath(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.is("", `SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
		WHERE p.pronamespace = 'jobtop'::regnamespace AND p.prosecdef
		  AND NOT EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c ~ '^search_path=pg_catalog(, jobtop)?, pg_temp$')`)
	l.is("", `SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
		WHERE p.pronamespace = 'jobtop'::regnamespace AND pg_get_userbyid(p.proowner) <> 'jobtop_owner'`)
	l.is("", `SELECT string_agg(c.relname, ', ') FROM pg_class c
		WHERE c.relnamespace = 'jobtop'::regnamespace AND c.relkind <> 'i' AND c.relname !~ '^schema_version' AND pg_get_userbyid(c.relowner) <> 'jobtop_owner'`)
	// What resolves names at run time without a search_path of its own: the procedures that
	// commit, which cannot have one and qualify every name; and what nobody may call but
	// functions that have one.
	l.is("answer_for begin_effect begin_effects begin_next enter guard_attempt guard_ours queue_head queue_hint", `SELECT string_agg(p.proname, ' ' ORDER BY p.proname) FROM pg_proc p
		WHERE p.pronamespace = 'jobtop'::regnamespace AND p.prosqlbody IS NULL AND p.proconfig IS NULL`)
}
