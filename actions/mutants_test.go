package actions

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// mutant is a function of the schema with one of its safeguards taken out. The text that
// is replaced has to stand in the migration, exactly and once.
type mutant struct {
	function string
	replace  []string // old and new in turn
	seed     int      // of the first script that finds it, so that the search is short
}

const (
	settleInserts = `  INSERT INTO actions (action_id, verb, job_id, operator, client, reason, outcome)
  VALUES (settle.action_id, settle.verb, settle.job_id, settle.operator, settle.client, 'its answer was lost, and it had not happened', 'void')
  ON CONFLICT (action_id) DO NOTHING;
`
	settleReads = `  SELECT * INTO stored FROM actions a WHERE a.action_id = settle.action_id;
`
	actChanges = `      IF refusal IS NULL THEN
        IF act.verb = 'done' THEN
          INSERT INTO receipts (job_id, kind, receipt_id, attempt, recorded_by, action_id, recorded_at)
          SELECT job.id, job.kind, receipt, job.attempt, act.operator, act.action_id, moment
           WHERE NOT EXISTS (SELECT FROM receipts r WHERE r.job_id = job.id);
        END IF;
        IF job.state = 'running' THEN
          UPDATE attempts a
` + actFences + `        END IF;
        UPDATE jobs j
           SET state = target,
               run_at = CASE WHEN act.verb = 'requeue' THEN moment + coalesce(greatest(act.delay, '0'::interval), '0'::interval) ELSE j.run_at END
         WHERE j.id = job.id;
      END IF;
`
	actWrites = `      INSERT INTO actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt, lock_token, operator, db_role,
                           client, reason, confirmations, lookup, receipt_id, delay, outcome, refusal, at)
      VALUES (act.action_id, act.verb, act.job_id, job.kind, job.state, target, act.seen_state, act.seen_version,
              CASE WHEN refusal IS NULL THEN job.version + 1 END, job.attempt, job.lock_token, act.operator, session_user,
              act.client, cause, confirmed, act.lookup, receipt, act.delay, CASE WHEN refusal IS NULL THEN 'applied' ELSE 'refused' END, refusal, moment)
      ON CONFLICT (action_id) DO NOTHING;
`
	actWeighs = "      SELECT e.verdict, e.receipt_id INTO verdict, proof FROM evidence(job.id) e;\n"
	actLocks  = "  -- 1. Lock the job.\n"
	actFences = `             SET finished_at = moment, heartbeat_at = job.heartbeat_at, effect_at = job.effect_at,
                 records_intent = a.records_intent OR job.effect_at IS NOT NULL, outcome = 'fenced', to_state = target
           WHERE a.job_id = job.id AND a.attempt = job.attempt;
`
	tokenCheck = "j.lock_token = complete.token"
)

var (
	noFence = mutant{function: "settle", replace: []string{settleInserts + settleReads, settleReads + `
		IF NOT FOUND THEN stored.action_id := settle.action_id; stored.verb := settle.verb; stored.job_id := settle.job_id; stored.outcome := 'void'; END IF;`}}
	actsFirst = mutant{function: "act", replace: []string{actChanges, "", actWrites, actChanges + actWrites}}
)

// mutants are those that the model has to catch.
var mutants = map[string]mutant{
	"no fence in settle":                   noFence,
	"action written after the change":      actsFirst,
	"no version check":                     {function: "act", replace: []string{"(job.state, job.version) IS DISTINCT FROM (act.seen_state, act.seen_version)", "job.state IS DISTINCT FROM act.seen_state"}, seed: 84},
	"no state check":                       {function: "act", replace: []string{"(job.state, job.version) IS DISTINCT FROM (act.seen_state, act.seen_version)", "false"}},
	"no token check in complete":           {function: "complete", replace: []string{tokenCheck, "j.lock_token IS NOT NULL"}, seed: 13},
	"no token check in fail":               {function: "fail", replace: []string{"  IF NOT FOUND OR job.lock_token IS DISTINCT FROM fail.token THEN\n", "  IF NOT FOUND OR job.lock_token IS NULL THEN\n"}},
	"no token check in heartbeat":          {function: "heartbeat", replace: []string{"j.lock_token = heartbeat.token", "j.lock_token IS NOT NULL"}},
	"evidence read before the lock":        {function: "act", replace: []string{actWeighs, "", actLocks, "  SELECT e.verdict, e.receipt_id INTO verdict, proof FROM evidence(act.job_id) e;\n" + actLocks}, seed: 245},
	"no look at the evidence":              {function: "act", replace: []string{"act.verb = 'requeue' AND verdict IN ('happened', 'may_have_happened', 'not_known')", "false"}},
	"no look whether it is alive":          {function: "act", replace: []string{"WHEN job.state = 'running'\n", "WHEN false\n"}},
	"attempt not ended":                    {function: "act", replace: []string{"        IF job.state = 'running' THEN\n          UPDATE attempts a\n" + actFences + "        END IF;\n", ""}},
	"key good for anything":                {function: "act", replace: []string{"IF stored.outcome <> 'void' AND", "IF false AND"}},
	"late receipt thrown away":             {function: "report_late", replace: []string{"  ON CONFLICT DO NOTHING;\n", "  ON CONFLICT DO NOTHING;\n  DELETE FROM late_reports l WHERE false;\n", "report_late.receipt_id, report_late.result,\n", "NULL, report_late.result,\n", "          report_late.effect, left", "          coalesce(report_late.effect, 'unknown'), left"}},
	"intent forgotten by the next attempt": {function: "act", replace: []string{"heartbeat_at = job.heartbeat_at, effect_at = job.effect_at,", "heartbeat_at = job.heartbeat_at,"}},
	"begun in spite of a late receipt":     {function: "claim", replace: []string{"claim.begins AND NOT EXISTS (SELECT FROM late_reports r WHERE r.job_id = j.id AND r.receipt_id IS NOT NULL)", "claim.begins"}},
	"intent kept by the next claim":        {function: "claim", replace: []string{"THEN moment END,", "THEN moment ELSE j.effect_at END,"}},
	"a failure after an intent believed":   {function: "fail", replace: []string{"CASE WHEN fail.effect = 'not_begun' AND job.effect_at IS NOT NULL THEN 'unknown' ELSE fail.effect END", "fail.effect"}},
}

// install puts a mutant in the place of the function that it was.
func (m mutant) install(t *testing.T, l *ledger) {
	t.Helper()
	text := store.PrintSchema()
	start := strings.Index(text, "CREATE FUNCTION jobtop."+m.function+"(")
	if start < 0 {
		t.Fatalf("there is no function %s in the migrations", m.function)
	}
	text = text[start:]
	text = text[:strings.Index(text, "END $$;")+len("END $$;")]
	for pair := range slices.Chunk(m.replace, 2) {
		if n := strings.Count(text, pair[0]); n != 1 {
			t.Fatalf("%s holds %d times, and not once:\n%s", m.function, n, pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	l.exec(strings.Replace(text, "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))
}

// The model test finds each safeguard that is missing.
func TestModelCatchesMutants(t *testing.T) {
	t.Parallel()
	t.Run("and nothing in the schema as it is", func(t *testing.T) {
		t.Parallel()
		s := newStage(newLedger(t))
		for _, seed := range []int{0, 1, 2, 3, 13, 84, 245} {
			if err := s.play(scripts.Example(seed)); err != nil {
				t.Errorf("script %d: %v", seed, err)
			}
		}
	})
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			m.install(t, l)
			s := newStage(l)
			for i := range 400 {
				if err := s.play(scripts.Example(m.seed + i)); err != nil {
					t.Logf("caught after %d plays, %d steps: %.300v", i+1, s.steps.Load(), err)
					return
				}
			}
			t.Errorf("not caught in %d steps", s.steps.Load())
		})
	}
}

// The campaign's judge finds those that lost answers bring to light.
func TestCampaignCatchesMutants(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]mutant{"no fence in settle": noFence, "action written after the change": actsFirst} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			late := slices.IndexFunc(campaignFaults, func(f campaignFault) bool { return f.name == "delivered late" })
			c := &campaign{t: t, acts: 60, url: sandboxtest.Database(t), faults: campaignFaults[late : late+1]}
			m.install(t, ledgerAt(t, c.url))
			wrong, broken := c.run(rand.Uint64())
			if len(wrong) == 0 {
				t.Errorf("not caught in %d acts", c.acts)
			}
			t.Logf("%d reports of %d are wrong, and %d things in the record", len(wrong), len(c.reports), len(broken))
		})
	}
}
