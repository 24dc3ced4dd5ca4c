package store_test

import (
	"slices"
	"testing"
	"time"

	"jobtop/store"
)

// TestOverviewOfExactData builds a small past whose every figure is known.
func TestOverviewOfExactData(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	// Four charges done in the last four minutes, taking 1, 2, 3 and 4 s; one refused and to be tried
	// again; one mail that runs since a minute; one that was fenced, which no worker's edge counts.
	must(ctx, t, pool, `SELECT jobtop.enqueue('waiting', 'report.build', run_at => now() - interval '38 s')`)
	must(ctx, t, pool, `SELECT jobtop.pause(gen_random_uuid(), 'fax.send', 'ada', 'nobody has one')`)
	forge(ctx, t, pool,
		`INSERT INTO jobtop.jobs (id, kind, effect_key, state, version, attempt, state_changed_at)
		 SELECT 'c' || i, 'card.charge', 'c' || i, 'done', 3, 1, now() - i * interval '50 s' FROM generate_series(1, 4) i`,
		`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, finished_at, outcome, to_state)
		 SELECT 'c' || i, 1, gen_random_uuid(), 'w', 'pending', now() - i * interval '51 s', true, now() - i * interval '50 s', 'done', 'done' FROM generate_series(1, 4) i`,
		`INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
		 SELECT 'c' || i, 'card.charge', 'ch_' || i, 1, 'w', now() - i * interval '50 s' FROM generate_series(1, 4) i`,
		`INSERT INTO jobtop.jobs (id, kind, effect_key, state, version, attempt, run_at, state_changed_at)
		 VALUES ('f1', 'card.charge', 'f1', 'failed', 3, 1, now() + interval '1 h', now() - interval '20 s'),
		        ('v1', 'mail.send', 'v1', 'review', 3, 1, now(), now() - interval '30 s')`,
		`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, finished_at, outcome, to_state)
		 VALUES ('f1', 1, gen_random_uuid(), 'w', 'pending', now() - interval '1 h', true, now() - interval '20 s', 'refused', 'failed'),
		        ('v1', 1, gen_random_uuid(), 'w', 'pending', now() - interval '2 h', true, now() - interval '30 s', 'fenced', 'review')`,
		`INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, version, operator, reason, outcome, at)
		 VALUES (gen_random_uuid(), 'hold', 'v1', 'mail.send', 'running', 'review', 3, 'ada', 'a look first', 'applied', now() - interval '30 s'),
		        (gen_random_uuid(), 'hold', 'v1', 'mail.send', 'running', 'review', 3, 'ada', 'long ago', 'applied', now() - interval '30 m')`,
		`INSERT INTO jobtop.jobs (id, kind, effect_key, state, version, attempt, lock_token, worker, claimed_at, heartbeat_at, state_changed_at)
		 VALUES ('r1', 'mail.send', 'r1', 'running', 2, 1, '00000000-0000-7000-8000-000000000001', 'w', now() - interval '1 m', now(), now() - interval '1 m')`,
		`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent)
		 VALUES ('r1', 1, '00000000-0000-7000-8000-000000000001', 'w', 'pending', now() - interval '1 m', true)`)

	o, err := db.Overview(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]int64{}
	for _, r := range o.Rates {
		rates[r.From+"→"+r.To] = r.Count
		if r.Sampled || r.Span != store.RateWindow {
			t.Errorf("%s→%s: sampled %v, over %v", r.From, r.To, r.Sampled, r.Span)
		}
	}
	for edge, want := range map[string]int64{"running→done": 4, "running→failed": 1, "running→review": 1, "pending→running": 5} {
		if rates[edge] != want {
			t.Errorf("%s: %d, not %d", edge, rates[edge], want)
		}
	}
	if len(rates) != 4 {
		t.Errorf("edges that nobody took: %v", rates)
	}

	var done int64
	for _, n := range o.Done {
		done += n
	}
	if len(o.Done) != store.ThroughputMinutes || done < 3 || done > 4 { // the newest may be in the minute that still runs
		t.Errorf("done per minute: %v", o.Done)
	}
	if len(o.Receipts) != 4 || o.Receipts[0].ReceiptID != "ch_1" {
		t.Errorf("latest receipts: %+v", o.Receipts)
	}

	kinds := map[string]store.KindFigures{}
	for _, k := range o.Kinds {
		kinds[k.Kind] = k
	}
	if names := len(kinds); names != 4 {
		t.Fatalf("%d kinds: %v", names, kinds)
	}
	charge, mail, report, fax := kinds["card.charge"], kinds["mail.send"], kinds["report.build"], kinds["fax.send"]
	if charge.Ended != 5 || charge.Done != 4 || charge.Failed.N != 1 || charge.Due.N != 0 || charge.OldestDue != nil {
		t.Errorf("card.charge: %+v", charge)
	}
	if charge.Median == nil || *charge.Median != 2500*time.Millisecond || charge.P95 == nil || *charge.P95 != 3850*time.Millisecond {
		t.Errorf("card.charge took %v and %v", charge.Median, charge.P95)
	}
	if rate := charge.DonePerMinute(); rate != 0.8 {
		t.Errorf("card.charge: %v a minute", rate)
	}
	if mail.Running.N != 1 || mail.Review.N != 1 || mail.Median != nil || mail.Ended != 1 {
		t.Errorf("mail.send: %+v", mail)
	}
	if report.Due.N != 1 || report.OldestDue == nil || *report.OldestDue < 38*time.Second {
		t.Errorf("report.build: %+v", report)
	}
	if fax.Due.N != 0 || fax.Ended != 0 {
		t.Errorf("fax.send: %+v", fax)
	}
	if o.Health.LockWaiters != 0 || !o.Health.Whole {
		t.Errorf("health: %+v", o.Health)
	}
}

// TestOverviewTurnsIntoSamples: more than the samples hold is told by how far they reach.
func TestOverviewTurnsIntoSamples(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	// 6,000 jobs of one kind, done evenly over the last two minutes: 3,000 a minute.
	forge(ctx, t, pool,
		`INSERT INTO jobtop.jobs (id, kind, effect_key, state, version, attempt, state_changed_at)
		 SELECT 'c' || i, 'card.charge', 'c' || i, 'done', 3, 1, now() - i * interval '20 ms' FROM generate_series(1, 6000) i`,
		`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, finished_at, outcome, to_state)
		 SELECT 'c' || i, 1, gen_random_uuid(), 'w', 'pending', now() - i * interval '20 ms' - interval '1 s', true, now() - i * interval '20 ms', 'done', 'done' FROM generate_series(1, 6000) i`,
		`INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
		 SELECT 'c' || i, 'card.charge', 'ch_' || i, 1, 'w', now() - i * interval '20 ms' FROM generate_series(1, 6000) i`)

	o, err := db.Overview(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// While the read was under way, and the rows before it, nothing more was done.
	var late int64
	if err := pool.QueryRow(ctx, `SELECT (extract(epoch FROM clock_timestamp() - max(finished_at)) * 1000000)::bigint FROM jobtop.attempts`).Scan(&late); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got float64, span time.Duration) {
		t.Helper()
		least := 2_850 * float64(span-time.Duration(late)*time.Microsecond) / float64(span)
		if got < least || got > 3_150 {
			t.Errorf("%s: %.0f a minute, not from %.0f to 3,150", what, got, least)
		}
	}
	i := slices.IndexFunc(o.Rates, func(r store.Rate) bool { return r.From == "running" && r.To == "done" })
	if i < 0 || !o.Rates[i].Sampled {
		t.Fatalf("rates: %+v", o.Rates)
	}
	near("running→done", o.Rates[i].PerMinute(), o.Rates[i].Span)
	if len(o.Kinds) != 1 || !o.Kinds[0].Sampled {
		t.Fatalf("kinds: %+v", o.Kinds)
	}
	near("card.charge", o.Kinds[0].DonePerMinute(), o.Kinds[0].Span)
	last := len(o.Done) - 1
	if !o.DoneSampled[last] {
		t.Errorf("the last whole minute is told as exact: %v", o.Done)
	}
	near("the last whole minute", float64(o.Done[last]), time.Minute)
}
