package store_test

import (
	"testing"
)

// age moves everything that a record says into the past.
func (l *ledger) age(by string) {
	l.t.Helper()
	l.pastGuard(`UPDATE jobtop.receipts SET recorded_at = recorded_at - $1::text::interval`, by)
	l.pastGuard(`UPDATE jobtop.actions SET at = at - $1::text::interval`, by)
	l.pastGuard(`UPDATE jobtop.once SET expires_at = expires_at - $1::text::interval`, by)
}

// TestRetention: done jobs go with all that belongs to them, in bounded batches, and what
// was removed is recorded. Nothing that is open goes, and no action within 30 days.
func TestRetention(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for _, id := range []string{"a", "b", "c"} {
		first := l.take(id, true)
		l.stop(id)
		l.act(id, "requeue", "may_have_happened")
		second, _ := l.claim(1)
		l.complete(id, second, "r"+id)
		l.fail(id, first, "unknown", true)
	}
	l.fail("review", l.take("review", true), "unknown", true)
	l.fail("dead", l.take("dead", false), "not_begun", false)
	l.act("dead", "requeue")
	l.exec(`SELECT jobtop.once('key', interval '1 minute')`)

	l.is("0", `SELECT jobtop.retain('1 day', '30 days')`)
	l.is("0", `SELECT count(*) FROM jobtop.actions WHERE verb = 'retention'`)

	// 20 days later: the done jobs may go, their actions stay, whatever is asked.
	l.age("20 days")
	l.is("2", `SELECT jobtop.retain('10 days', '1 second', 1) /* one job, one key */`)
	l.is("b c dead review", `SELECT string_agg(id, ' ' ORDER BY id) FROM jobtop.jobs`)
	l.is("1", `SELECT jobtop.retain('10 days', '1 second', 1)`)
	l.is("1", `SELECT jobtop.retain('10 days', '1 second', 1)`)
	l.is("0", `SELECT jobtop.retain('10 days', '1 second', 1)`)
	l.is("dead review", `SELECT string_agg(id, ' ' ORDER BY id) FROM jobtop.jobs`)
	l.is("0 2 0", `SELECT concat_ws(' ', (SELECT count(*) FROM jobtop.receipts), (SELECT count(*) FROM jobtop.attempts), (SELECT count(*) FROM jobtop.late_reports))`)
	l.is("7", `SELECT count(*) FROM jobtop.actions WHERE verb <> 'retention'`)
	l.is("3 3 jobtop", `SELECT concat_ws(' ', count(*), count(*) FILTER (WHERE reason LIKE 'removed 1 done jobs older than 10 days,%'), max(operator)) FROM jobtop.actions WHERE verb = 'retention'`)

	// 40 days later: the actions of jobs that are gone go, those of jobs that are there stay.
	l.age("20 days")
	l.is("3", `SELECT jobtop.retain('10 days', '30 days', 3)`)
	for l.get(`SELECT jobtop.retain('10 days', '30 days', 3)`) != "0" {
	}
	l.is("dead", `SELECT string_agg(DISTINCT job_id, ' ') FROM jobtop.actions WHERE job_id IS NOT NULL`)
	l.is("dead review", `SELECT string_agg(id, ' ' ORDER BY id) FROM jobtop.jobs`)

	for _, bad := range []string{"'1 hour', '30 days'", "NULL, '30 days'", "'10 days', NULL", "'10 days', '30 days', 0", "'10 days', '30 days', 100001"} {
		l.refused("22023", `SELECT jobtop.retain(`+bad+`)`)
	}
}
