package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jobtop/store"
)

// A job is followed live: what became of it, and by whom.
func TestAJobIsFollowedLive(t *testing.T) {
	d := on(t, "job charge-10442")
	d.db.jobs[0].State, d.db.jobs[0].Version, d.db.jobs[0].StateAge = "dead", 4, 3*time.Second
	detail := d.db.details["charge-10442"]
	detail.ChangedBy = ptr("bob")
	d.db.details["charge-10442"] = detail
	d.refresh()
	d.wants("version 4", "dead for <10s", "review became dead, by bob")
}

func TestPayloads(t *testing.T) {
	for payload, want := range map[string][]string{
		`"just a string"`:         {`"just a string"`},
		`12345678901234567890123`: {"12345678901234567890123"},
		`null`:                    {"null"},
		`[1,[2,{"a":null}]]`:      {`"a": null`},
		`true`:                    {"true"},
		`{"deep":{"Authorization":"Bearer abc","x":[{"cookie":"s=1"}]}}`: {`"Authorization": "••••"`, `"cookie": "••••"`},
	} {
		db := scene()
		db.payloads["charge-10442"] = payload
		d := start(t, db, 100, 40)
		d.run(d.m.run("job charge-10442"))
		d.press("tab", "tab")
		d.wants(want...)
		d.lacks("Bearer abc", "s=1")
	}
	// NULL is told from the JSON null.
	d := on(t, "job charge-10467")
	d.press("tab", "tab")
	d.wants("NULL (this job carries nothing)")
}

// A payload is read only on request, and only then may the lack of a right show.
func TestAPayloadIsReadOnRequest(t *testing.T) {
	asked := 0
	d := on(t, "job charge-10442")
	d.db.before = func(what string) {
		if what == "payload" {
			asked++
		}
	}
	d.refresh()
	d.press("tab")
	if asked != 0 {
		t.Error("the payload was read before anybody asked")
	}
	d.press("tab")
	if asked != 1 {
		t.Errorf("it was read %d times", asked)
	}
}

func TestSearchInAJob(t *testing.T) {
	db := scene()
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	lines[300], lines[400] = "here is the Needle", "and another needle"
	db.jobs[0].ErrorDetail = ptr(strings.Join(lines, "\n"))
	d := start(t, db, 80, 24)
	d.run(d.m.run("job charge-10442"))
	d.press("tab", "/")
	d.typing("needle")
	d.press("enter")
	d.wants("here is the Needle")
	d.press("n")
	d.wants("and another needle")
	d.press("n")
	d.wants("here is the Needle")
	d.press("N")
	d.wants("and another needle")
	d.press("/")
	d.typing("haystack")
	d.press("enter")
	d.wants("not found in the error: haystack")
}

// Thousands of attempts: the newest are read, and the rest is told of.
func TestThousandsOfAttempts(t *testing.T) {
	db := scene()
	detail := db.details["charge-10442"]
	last := detail.Attempts[0]
	detail.Attempts = nil
	for i := range store.DetailLimit {
		a := last
		a.Attempt = 3000 - i
		a.ClaimedAt, a.FinishedAt = last.ClaimedAt.Add(-time.Duration(i)*time.Hour), ptr(last.FinishedAt.Add(-time.Duration(i)*time.Hour))
		a.EffectAt = nil
		detail.Attempts = append(detail.Attempts, a)
	}
	detail.Counts.Attempts = 3000
	db.details["charge-10442"] = detail
	db.jobs[0].Attempt = 3000
	d := start(t, db, 80, 24)
	d.run(d.m.run("job charge-10442"))
	d.wants("  attempt 3000  ")
	d.press("/")
	d.typing("attempt 17")
	d.press("enter")
	d.wants("not found in the timeline (2,500 other attempts were not read): attempt 17")
	d.press("G")
	d.wants("and 2,500 other attempts, which are not read")
	d.lacks("enqueued")
}

// Each attempt tells what it knew, when it was last heard of and what ended it.
func TestTimeline(t *testing.T) {
	d := on(t, "job charge-10442")
	d.m.env.width = 160
	d.wants(
		"attempt 1", "claimed by w-7, from pending, source v4.2.1",
		"intent, effect key charge-10442", "1.0s after",
		"outcome unknown, to review; last heard 5s before; provider timeout: no answer within 30s", "31s after",
		"hold", "refused: changed, by bob",
		"late report", "outcome unknown, from w-2 (attempt 1); provider timeout",
		"enqueued",
	)
}
