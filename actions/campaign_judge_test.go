package actions

import (
	"context"
	"fmt"
)

// receiptRow is what the record holds as the proof for one job.
type receiptRow struct{ receipt, kind, by, actionID, key string }

// record is all that the judge read, over its own connections, when nothing is under way
// any more.
type record struct {
	steps    []step
	receipts map[string]receiptRow // by job
	states   map[string]string     // of jobs: "state version attempt"
	attempts map[string]string     // by "job attempt": "outcome state"
	keys     map[string]string     // of the rows of actions, by id: what their transaction wrote has it too
}

// seen checks what can be checked of an applied act in the moment in which it is told.
func (c *campaign) seen(r *report) string {
	var n int
	c.read([]any{&n}, "SELECT count(*) FROM witness.steps WHERE job_id = $1 AND from_version = $2 AND application = $3", r.order.JobID, r.order.SeenVersion, r.operator)
	if n != 1 {
		return fmt.Sprintf("told as applied when the job had taken %d such steps", n)
	}
	return ""
}

func (c *campaign) record() *record {
	rec := &record{steps: c.steps(), receipts: map[string]receiptRow{}}
	pairs := func(sql string) map[string]string {
		found := map[string]string{}
		c.persist(sql, func(ctx context.Context) error {
			clear(found)
			rows, err := c.direct.Query(ctx, sql)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var key, value string
				if err := rows.Scan(&key, &value); err != nil {
					return err
				}
				found[key] = value
			}
			return rows.Err()
		})
		return found
	}
	rec.states = pairs("SELECT id, concat_ws(' ', state, version, attempt) FROM jobtop.jobs")
	rec.attempts = pairs("SELECT concat_ws(' ', job_id, attempt), concat_ws(' ', coalesce(outcome, 'open'), to_state) FROM jobtop.attempts")
	rec.keys = pairs("SELECT action_id::text, xmin::text FROM jobtop.actions WHERE job_id IS NOT NULL")
	var job string
	for job = range pairs("SELECT job_id, '' FROM jobtop.receipts") {
		var r receiptRow
		c.read([]any{&r.receipt, &r.kind, &r.by, &r.actionID, &r.key}, "SELECT receipt_id, kind, recorded_by, coalesce(action_id::text, ''), xmin::text FROM jobtop.receipts WHERE job_id = $1", job)
		rec.receipts[job] = r
	}
	return rec
}

// judge compares every report with the record, and returns what is wrong, by report;
// and what is wrong with the record itself.
func (rec *record) judge(reports []*report) (wrong map[*report]string, broken []string) {
	wrong = map[*report]string{}
	type where struct {
		job     string
		version int64
	}
	taken := map[where]*step{}
	byKey := map[string]*step{}
	for i := range rec.steps {
		s := &rec.steps[i]
		at := where{s.job, s.fromVersion}
		if taken[at] != nil {
			broken = append(broken, fmt.Sprintf("%s left version %d twice", s.job, s.fromVersion))
		}
		taken[at], byKey[s.key] = s, s
	}
	owner := map[*step]*report{}
	receiptOf := map[string]string{} // of an action
	for job, r := range rec.receipts {
		if r.actionID != "" {
			receiptOf[r.actionID] = job
		}
	}
	for _, r := range reports {
		if text := r.early; text != "" {
			wrong[r] = text
		}
		o := r.order
		s := taken[where{o.JobID, o.SeenVersion}]
		key, written := rec.keys[o.ActionID]
		if r.result.Outcome != Applied {
			switch job, proved := receiptOf[o.ActionID]; {
			case r.result.Outcome == Unknown:
			case proved:
				wrong[r] = "told as " + string(r.result.Outcome) + ", and its receipt is recorded for " + job
			case written && byKey[key] != nil:
				wrong[r] = fmt.Sprintf("told as %s, and its transaction took %s from version %d", r.result.Outcome, byKey[key].job, byKey[key].fromVersion)
			}
			continue
		}
		switch {
		case s == nil:
			wrong[r] = "told as applied, and the job took no such step"
		case s.from != o.SeenState || s.to != o.Verb.Target() || s.toVersion != o.SeenVersion+1:
			wrong[r] = fmt.Sprintf("told as applied, and the job went from %s to %s, version %d", s.from, s.to, s.toVersion)
		case s.application != r.operator || s.via != "act" || s.key != key:
			wrong[r] = fmt.Sprintf("told as applied, and the step is %s's (%s, %s)", s.application, s.via, s.key)
		case owner[s] != nil:
			wrong[r] = "told as applied, as was another act for the same step"
		case o.Verb == VerbDone && rec.receipts[o.JobID] != receiptRow{o.ReceiptID, rec.receipts[o.JobID].kind, r.operator, o.ActionID, key}:
			wrong[r] = fmt.Sprintf("told as applied, and the receipt is %+v", rec.receipts[o.JobID])
		default:
			owner[s] = r
		}
		if s != nil && s.from == Running {
			if text := rec.fenced(s); text != "" {
				wrong[r] = text
			}
		}
	}
	for i := range rec.steps {
		if s := &rec.steps[i]; s.via == "act" && owner[s] == nil {
			broken = append(broken, fmt.Sprintf("%s took %s from %s to %s, version %d, and no report says so", s.application, s.job, s.from, s.to, s.toVersion))
			for _, r := range reports {
				if o := r.order; r.operator == s.application && o.JobID == s.job && o.SeenVersion == s.fromVersion && o.Verb.Target() == s.to && r.result.Outcome != Applied {
					wrong[r] = fmt.Sprintf("told as %s, and the job took that step", r.result.Outcome)
				}
			}
		}
	}
	return wrong, append(broken, rec.broken()...)
}

// fenced checks that the attempt which an act took a job from is ended.
func (rec *record) fenced(s *step) string {
	attempt := 0
	for i := range rec.steps {
		if o := &rec.steps[i]; o.job == s.job && o.to == Running && o.fromVersion < s.fromVersion {
			attempt++
		}
	}
	if got, want := rec.attempts[fmt.Sprintf("%s %d", s.job, attempt)], "fenced "+string(s.to); got != want {
		return fmt.Sprintf("told as applied, and attempt %d is %q, not %q", attempt, got, want)
	}
	return ""
}

// broken checks the record in itself: only edges, one version a step, a receipt for each
// done job and none elsewhere, an open attempt for each running job and none elsewhere.
func (rec *record) broken() []string {
	var broken []string
	say := func(format string, arguments ...any) { broken = append(broken, fmt.Sprintf(format, arguments...)) }
	type at struct {
		state   State
		version int64
		attempt int
	}
	now := map[string]at{}
	for job := range rec.states {
		now[job] = at{Pending, 1, 0}
	}
	for _, s := range rec.steps {
		is := now[s.job]
		by := Worker
		if s.via == "act" {
			by = Operator
		}
		if s.from != is.state || s.fromVersion != is.version || s.toVersion != is.version+1 {
			say("%s was %s, version %d, and went from %s, version %d, to version %d", s.job, is.state, is.version, s.from, s.fromVersion, s.toVersion)
		}
		if !HasEdge(s.from, s.to, by) {
			say("%s went from %s to %s by a %s", s.job, s.from, s.to, by)
		}
		is.state, is.version = s.to, s.toVersion
		if s.to == Running {
			is.attempt++
		}
		now[s.job] = is
	}
	open := map[string]int{}
	for key, is := range rec.attempts {
		if is == "open" {
			open[key]++
		}
	}
	ids := map[string]string{}
	for job, r := range rec.receipts {
		if other := ids[r.kind+" "+r.receipt]; other != "" {
			say("receipt %s is recorded for %s and %s", r.receipt, job, other)
		}
		ids[r.kind+" "+r.receipt] = job
	}
	for job, is := range now {
		if got, want := rec.states[job], fmt.Sprintf("%s %d %d", is.state, is.version, is.attempt); got != want {
			say("%s is %s, and its steps lead to %s", job, got, want)
		}
		if _, has := rec.receipts[job]; has != (is.state == Done) {
			say("%s is %s, with a receipt: %t", job, is.state, has)
		}
		key := fmt.Sprintf("%s %d", job, is.attempt)
		if (open[key] == 1) != (is.state == Running) {
			say("%s is %s, and its last attempt is %q", job, is.state, rec.attempts[key])
		}
		delete(open, key)
	}
	for key := range open {
		say("attempt %s is open", key)
	}
	return broken
}
