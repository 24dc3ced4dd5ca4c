package console

import "testing"

func TestTheLogByVerb(t *testing.T) {
	db := scene()
	one := db.actions[0]
	db.actions = nil
	for i, a := range []struct{ verb, job, outcome string }{{"dead", "job-1", "applied"}, {"requeue", "job-2", "applied"}, {"dead", "job-3", "void"}} {
		logged := one
		logged.ID, logged.Verb, logged.JobID, logged.Outcome = string(rune('a'+i)), a.verb, ptr(a.job), a.outcome
		db.actions = append(db.actions, logged)
	}
	d := start(t, db, 100, 30)
	d.run(d.m.run("actions verb:dead"))
	d.wants("job-1", "job-3", "did not happen")
	d.lacks("job-2", "void")
	d.run(d.m.run("actions verb:dead outcome:void"))
	d.lacks("job-1")
	d.wants("job-3")
	d.run(d.m.run("actions verb:kill"))
	d.wants("verb:kill: the verbs are requeue, done, dead, hold, pause, resume, direct, retention")

	// Verbs and outcomes complete themselves as the fields do.
	d.press("5", "esc", "/")
	d.typing("ve")
	d.press("tab", "r", "tab", "tab", "enter")
	d.wants("/verb:resume")
	d.press("/")
	d.typing(" outcome:v")
	d.press("tab", "enter")
	d.wants("verb:resume outcome:void")
}
