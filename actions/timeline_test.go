package actions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jobtop/store"
)

func TestTimeline(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	some := func(s string) *string { return &s }
	moment := func(minutes int) (*time.Time, *time.Duration) {
		when, age := at.Add(time.Duration(minutes)*time.Minute), time.Duration(60-minutes)*time.Minute
		return &when, &age
	}
	attempt := func(n, claimed int) store.Attempt {
		when, age := moment(claimed)
		return store.Attempt{Attempt: n, Worker: "w-1", ClaimedFrom: "pending", ClaimedAt: *when, ClaimedAge: *age, RecordsIntent: true}
	}
	first := attempt(1, 1)
	first.EffectAt, first.EffectAge = moment(2)
	first.HeartbeatAt, first.HeartbeatAge = moment(2)
	first.FinishedAt, first.FinishedAge = moment(4)
	first.Outcome, first.ToState, first.ErrorCategory, first.ErrorDetail = some("fenced"), some("review"), some("timeout"), some("first line\nsecond")
	second := attempt(2, 20)
	second.RecordsIntent = false
	silent, over, one := 30*time.Minute, 29*time.Minute, 1
	action := func(minute int, verb, outcome string) store.Action {
		when, age := moment(minute)
		return store.Action{Verb: verb, Outcome: outcome, At: *when, Age: *age, Operator: "bob", DBRole: "ops", Attempt: &one}
	}
	hold := action(4, "hold", "applied")
	hold.FromState, hold.ToState, hold.Reason = some("running"), some("review"), some("silent")
	refused := action(5, "done", "refused")
	refused.Refusal = some("receipt_required")
	lost := action(6, "dead", "void")
	direct := action(7, "direct", "applied")
	direct.FromState, direct.ToState, direct.Operator = some("review"), some("dead"), "ops"
	requeue := action(8, "requeue", "applied")
	requeue.FromState, requeue.ToState, requeue.Confirmations = some("dead"), some("pending"), []string{MayHaveHappened}
	d := store.Detail{
		CreatedAt: at, Job: store.Job{Kind: "mail", State: "running", Attempt: 2, EffectKey: "key-1", HeartbeatAge: &silent, StuckFor: &over},
		Attempts: []store.Attempt{second, first}, Actions: []store.Action{requeue, direct, lost, refused, hold},
		LateReports: []store.LateReport{{At: at.Add(9 * time.Minute), Worker: some("w-1"), Attempt: &one, ReceiptID: some("r-1")}},
	}
	d.Counts.Attempts = 2

	var told []string
	for _, e := range Timeline(d) {
		line := fmt.Sprintf("%s %s | %s | %s", e.At.Format("04"), e.Subject, e.What, e.Note)
		if e.After != nil {
			line += " | " + e.After.String()
		}
		if e.Silent {
			line += " | silent"
		}
		told = append(told, line)
	}
	want := []string{
		"30 attempt 2 | last sign of life |  | silent",
		"20 attempt 2 | claimed by w-1 | from pending, records no intents",
		"09 late report | receipt r-1 | from w-1 (attempt 1)",
		"08 requeue | dead to pending | by bob (role ops); judged attempt 1 not to have happened",
		"07 direct | review to dead | by hand, past jobtop, by ops",
		"06 dead | did not happen | by bob (role ops); its answer was lost",
		"05 done | refused: receipt required | by bob (role ops)",
		"04 hold | running to review | by bob (role ops); silent", // which came after the attempt's end
		"04 attempt 1 | taken from its worker | to review; last heard 2m before; timeout: first line | 3m0s",
		"02 attempt 1 | intent | effect key key-1 | 1m0s",
		"01 attempt 1 | claimed by w-1 | from pending",
		"00 enqueued | as mail | ",
	}
	if got, want := strings.Join(told, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	d.Counts.Attempts = 3 // the first is not read, so that the story does not begin with it
	if events := Timeline(d); events[len(events)-1].Subject == "enqueued" {
		t.Error("a story that begins in the middle begins with the job's being enqueued")
	}
}
