package console

import (
	"testing"
	"time"
)

// Where a sentence names a verb, it names the key that the verb has here.
func TestSentencesNameTheKeysOfHere(t *testing.T) {
	d := start(t, scene(), 100, 30, func(o *Options) {
		o.Config.Keys = map[string][]string{"hold": {"W"}, "requeue": {"f5"}, "filter": {"f"}, "back": {"z"}}
	})
	d.run(d.m.run("jobs id:charge-11601"))
	d.press("X")
	d.wants("its worker is alive", "only W (hold) can stop it")
	d.run(d.m.run("jobs id:charge-10440"))
	d.press("W")
	d.wants("f5 (requeue) or D (done) can still be used on it")
	d.run(d.m.run("review id:invoice-88140"))
	d.press("X")
	d.settle()
	d.typing("ticket")
	d.press("enter")
	d.settle()
	d.press("enter")
	d.wants("f5 (requeue) brings it back")
	d.run(d.m.run("review kind:none"))
	d.wants("z clears the filter")

	// Also in bulk, and in what became of it.
	d.db.jobs[0].State, d.db.jobs[0].StuckFor = "running", nil
	d.db.jobs[0].HeartbeatAge = ptr(time.Second)
	d.run(d.m.run("jobs"))
	d.press("*", "X")
	d.settle()
	d.wants("its worker is alive", "only W (hold)")
}

// A verb without a key is named all the same.
func TestSentencesNameVerbsWithoutKeys(t *testing.T) {
	d := start(t, scene(), 100, 30, func(o *Options) { o.Config.Keys = map[string][]string{"hold": {}} })
	if got := d.m.env.keyed(`only "hold" can stop it`); got != "only hold can stop it" {
		t.Errorf("got %q", got)
	}
}
