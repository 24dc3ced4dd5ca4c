package store_test

import (
	"context"
	"strings"
	"testing"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// TestIntentInsideATransactionIsRefused: a caller whose transaction is open, in whatever
// way, gets an error instead of an intent that could still be rolled back.
func TestIntentInsideATransactionIsRefused(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	token := l.take("job", false)
	l.enqueue(store.NewJob{ID: "other", Kind: "other"})
	ctx := context.Background()
	for name, statements := range map[string][]string{
		"a block":                 {"BEGIN", "CALL", "COMMIT"},
		"a savepoint":             {"BEGIN", "SAVEPOINT s", "CALL", "ROLLBACK TO s", "COMMIT"},
		"an exception handler":    {"DO $$ DECLARE a text; k text; r text; BEGIN CALL jobtop.begin_effect('job', '" + token + "', a, k, r); EXCEPTION WHEN invalid_transaction_termination THEN RAISE; END $$"},
		"a caught exception":      {"DO $$ DECLARE a text; k text; r text; BEGIN BEGIN CALL jobtop.begin_effect('job', '" + token + "', a, k, r); EXCEPTION WHEN OTHERS THEN NULL; END; END $$"},
		"a string of statements":  {"SELECT 1; CALL jobtop.begin_effect('job', '" + token + "')"},
		"a block, for the batch":  {"BEGIN", "CALLS", "COMMIT"},
		"a block, with the claim": {"BEGIN", "CALL jobtop.begin_next('w', gen_random_uuid(), '{other}')", "COMMIT"},
		"autocommit in a session": {"BEGIN; CALL jobtop.begin_effect('job', '" + token + "'); COMMIT"},
	} {
		conn := l.session()
		code := ""
		for _, sql := range statements {
			switch sql {
			case "CALL":
				sql = "CALL jobtop.begin_effect('job', '" + token + "')"
			case "CALLS":
				sql = "CALL jobtop.begin_effects('{job}', '" + token + "')"
			}
			if _, err := conn.Exec(ctx, sql); err != nil {
				code = sqlstate(err)
			}
		}
		if code != "2D000" && name != "a caught exception" {
			t.Errorf("%s: ended with %q", name, code)
		}
		_ = conn.Close(ctx)
		l.is("", `SELECT effect_at FROM jobtop.jobs WHERE id = 'job'`)
		l.is("", `SELECT effect_at FROM jobtop.attempts WHERE job_id = 'job'`)
		l.job("other", "pending", 0, store.VerdictNeverStarted)
	}
	l.begin("job", token)
	l.job("job", "running", 1, store.VerdictMayHaveHappened)
}

// TestCommitsAreDurable: whatever the session says of synchronous_commit, the functions'
// own transactions wait for the disk, and afterwards the session is as it was. Only a claim
// that records intents does not wait: the intent's commit takes it along.
func TestCommitsAreDurable(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	conn := l.session()
	show := func(want, when string) {
		t.Helper()
		var setting string
		if err := conn.QueryRow(ctx, "SHOW synchronous_commit").Scan(&setting); err != nil {
			t.Fatal(err)
		}
		if setting != want {
			t.Errorf("%s: synchronous_commit is %s, not %s", when, setting, want)
		}
	}
	run := func(sql string, arguments ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, arguments...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	token := newToken()
	// Inside of procedures that commit nothing can be shown, so the record's own writes tell.
	l.exec(`CREATE TABLE public.seen (of text, setting text)`)
	l.exec(`CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		BEGIN INSERT INTO public.seen VALUES (TG_TABLE_NAME, current_setting('synchronous_commit')); RETURN NULL; END $$`)
	l.exec(`CREATE TRIGGER note AFTER UPDATE ON jobtop.jobs FOR EACH ROW WHEN (NEW.effect_at IS DISTINCT FROM OLD.effect_at) EXECUTE FUNCTION public.note()`)
	l.enqueue(store.NewJob{ID: "next", Kind: "next"})
	run("SET synchronous_commit = off")
	for _, step := range []struct{ name, sql string }{
		{"enqueue", "SELECT jobtop.enqueue('job', 'charge')"},
		{"claim", "SELECT jobtop.claim('w', '" + token + "', '{charge}', 1, true)"},
		{"begin_effect", "CALL jobtop.begin_effect('job', '" + token + "')"},
		{"complete", "SELECT jobtop.complete('job', '" + token + "', 'r')"},
		{"begin_next", "CALL jobtop.begin_next('w', gen_random_uuid(), '{next}')"},
		{"fail", "SELECT jobtop.fail('job', '" + token + "', 'unknown')"},
		{"once", "SELECT jobtop.once('key', '1 hour')"},
		{"act", "SELECT jobtop.act(gen_random_uuid(), 'dead', 'job', 'done', 3, 'ada', 'a test')"},
		{"settle", "SELECT jobtop.settle(gen_random_uuid(), 'dead', 'job', 'ada')"},
		{"pause", "SELECT jobtop.pause(gen_random_uuid(), 'charge', 'ada', 'a test')"},
		{"resume", "SELECT jobtop.resume(gen_random_uuid(), 'charge', 'ada', 'a test')"},
		{"retain", "SELECT jobtop.retain('30 days', '30 days')"},
	} {
		if strings.HasPrefix(step.sql, "CALL") {
			run(step.sql)
			show("off", "after "+step.name)
			continue
		}
		want := "on"
		if step.name == "claim" {
			run("BEGIN")
			run(step.sql)
			show("off", "a claim that records intents")
			run("ROLLBACK")
			run("SET synchronous_commit = on")
			run("BEGIN")
			run("INSERT INTO public.seen VALUES ('something else')")
			run(step.sql)
			show("on", "a claim that records intents, after something else")
			run("ROLLBACK")
			run("SET synchronous_commit = off")
			run("BEGIN")
			run(strings.Replace(step.sql, "1, true", "1, false", 1))
			show("on", "a claim that records none")
			run("ROLLBACK")
			want = "off"
		}
		run("BEGIN")
		run(step.sql)
		show(want, step.name)
		run("COMMIT")
		show("off", "after "+step.name)
	}
	l.is("2 on", `SELECT concat_ws(' ', count(*), string_agg(DISTINCT setting, ',')) FROM public.seen`)

	// A stronger setting stays.
	run("SET synchronous_commit = remote_apply")
	run("BEGIN")
	run("SELECT jobtop.once('key', '1 hour')")
	show("remote_apply", "once")
	run("ROLLBACK")
}

// TestIntentOutlivesACrash: the server is killed right after begin_effect has answered a
// session that had synchronous_commit off.
func TestIntentOutlivesACrash(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := sandboxtest.Server(t, sandbox.Options{Settings: map[string]string{"synchronous_commit": "off", "wal_writer_delay": "10s"}})
	if _, err := store.ApplySchema(ctx, server.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	l := openLedger(t, server.URL("postgres"))
	token := l.take("job", true)
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	l = openLedger(t, server.URL("postgres"))
	l.job("job", "running", 1, store.VerdictMayHaveHappened)
	l.is(token, `SELECT lock_token FROM jobtop.jobs WHERE id = 'job'`)
	if answer := l.complete("job", token, "r"); answer != "done" {
		t.Errorf("after the crash the token holds no more: %s", answer)
	}
}

// TestClaimLostInACrash: a claim that records intents may go with a crash of the server.
// Then nothing has begun, the token is told so, and the job is as it was.
func TestClaimLostInACrash(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := sandboxtest.Server(t, sandbox.Options{Settings: map[string]string{"wal_writer_delay": "10s"}})
	if _, err := store.ApplySchema(ctx, server.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	l := openLedger(t, server.URL("postgres"))
	l.enqueue(store.NewJob{ID: "plain"})
	plain := newToken()
	l.enqueue(store.NewJob{ID: "job"})
	// Nothing that waits for the disk comes after this one and takes it along.
	if jobs, err := l.db.Claim(ctx, store.ClaimRequest{Worker: "w", Token: plain, Kinds: []string{"charge"}, Batch: 1}); err != nil || len(jobs) != 1 || jobs[0].JobID != "plain" {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
	token, ids := l.claim(1)
	if ids != "job" {
		t.Fatalf("claimed %q", ids)
	}
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	l = openLedger(t, server.URL("postgres"))
	l.is(plain, `SELECT lock_token FROM jobtop.jobs WHERE id = 'plain' AND state = 'running'`)
	l.is("pending 1", `SELECT state || ' ' || version FROM jobtop.jobs WHERE id = 'job'`)
	l.is("0", `SELECT count(*) FROM jobtop.attempts WHERE job_id = 'job'`)
	if intent, err := l.db.BeginEffect(ctx, "job", token); err != nil || intent.Answer != store.IntentLeaseLost {
		t.Errorf("begin_effect answered %+v, %v", intent, err)
	}
	if alive, err := l.db.Heartbeat(ctx, store.Beat{JobID: "job", Token: token}); err != nil || alive {
		t.Errorf("its heartbeat answered %v, %v", alive, err)
	}
	if again, _ := l.claim(1); again == token {
		t.Error("the lost token was used again")
	}
	l.job("job", "running", 1, store.VerdictNeverStarted)
}

// TestIntentFindsALateReceipt: a receipt that came too late for its own attempt keeps the
// next one from calling the provider again.
func TestIntentFindsALateReceipt(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	first := l.take("job", true)
	l.stop("job")
	l.complete("job", first, "of the first")
	l.act("job", "requeue", "may_have_happened")
	second, _ := l.claim(1)
	intent, err := l.db.BeginEffect(context.Background(), "job", second)
	if want := (store.Intent{Answer: store.IntentHappened, EffectKey: "job", ReceiptID: "of the first"}); err != nil || intent != want {
		t.Fatalf("begin_effect answered %+v, %v", intent, err)
	}
	l.is("", `SELECT effect_at FROM jobtop.jobs WHERE id = 'job'`)
	if answer := l.complete("job", second, intent.ReceiptID); answer != "done" {
		t.Error(answer)
	}
	l.job("job", "done", 2, store.VerdictHappened)
}
