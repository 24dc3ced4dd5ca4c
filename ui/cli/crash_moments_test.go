package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jobtop/store/sandbox/faultproxy"
)

const (
	requeued    = "an act of alice: mail-9 was requeued"
	notRequeued = "an act of alice: the answer was lost; mail-9 was not requeued, and will not be by that act"
)

// The program is killed with -9 in each window of an act. The next one tells what became
// of it, once, and that is so.
func TestCrashWindows(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "jobtop")
	if out, err := exec.Command("go", "build", "-o", program, "jobtop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	act := []string{"requeue", "mail-9", "--reason", "again"}
	identity := faultproxy.Holding("pg_control_system")

	for name, window := range map[string]struct {
		// crash brings the program to the window and kills it. What it returns is done
		// when the next one has told.
		crash     func(c *crash) func()
		journaled int    // acts in the journal after the kill
		told      string // what the next one tells of it; "" for nothing
		is        string // what the job is then, and stays
	}{
		"before its intent is written": {func(c *crash) func() {
			s := c.Next(identity, faultproxy.HoldAnswer)
			c.start(act...)
			c.reached("it asks which database it is", s)
			c.kill()
			s.Cut()
			return nil
		}, 0, "", "dead 4"},
		"before the act is sent": {func(c *crash) func() {
			s := c.Next(anAct, faultproxy.HoldRequest)
			c.start(act...)
			c.reached("the act is on its way out", s)
			c.kill()
			s.Cut()
			return nil
		}, 1, notRequeued, "dead 4"},
		"sent, and arrives before the next start": {func(c *crash) func() {
			s := c.Next(anAct, faultproxy.HoldRequest)
			c.start(act...)
			c.reached("the act is sent", s)
			c.kill()
			c.delivered(s)
			return nil
		}, 1, requeued, "pending 5"},
		"sent, and arrives after the next start": {func(c *crash) func() {
			s := c.Next(anAct, faultproxy.HoldRequest)
			c.start(act...)
			c.reached("the act is sent", s)
			c.kill()
			return func() { c.delivered(s) }
		}, 1, notRequeued, "dead 4"},
		"committed, and not answered": {func(c *crash) func() {
			s := c.Next(anAct, faultproxy.HoldAnswer)
			c.start(act...)
			c.reached("the act is committed", s)
			c.kill()
			s.Cut()
			return nil
		}, 1, requeued, "pending 5"},
		"answered, and not shown": {func(c *crash) func() {
			s := c.Next(anAct, faultproxy.HoldAnswer)
			c.prepare(act...)
			c.blockStdout()
			c.begin()
			c.reached("the act is committed", s)
			c.delivered(s)
			c.writes()
			c.kill()
			return nil
		}, 1, requeued, "pending 5"},
		"during settle, before it arrives": {func(c *crash) func() {
			c.Next(anAct, faultproxy.ForwardThenCut)
			s := c.Next(aSettle, faultproxy.HoldRequest)
			c.start(act...)
			c.reached("settle is sent", s)
			c.kill()
			s.Cut()
			return nil
		}, 1, requeued, "pending 5"},
		"during settle, which arrives after the next start": {func(c *crash) func() {
			c.Next(anAct, faultproxy.DropBefore)
			s := c.Next(aSettle, faultproxy.HoldRequest)
			c.start(act...)
			c.reached("settle is sent", s)
			c.kill()
			return func() { c.delivered(s) }
		}, 1, notRequeued, "dead 4"},
		"during settle, committed and not answered": {func(c *crash) func() {
			c.Next(anAct, faultproxy.DropBefore)
			s := c.Next(aSettle, faultproxy.HoldAnswer)
			c.start(act...)
			c.reached("settle is committed", s)
			c.kill()
			s.Cut()
			return nil
		}, 1, notRequeued, "dead 4"},
		"during settle, with the act still on its way": {func(c *crash) func() {
			late := c.Next(anAct, faultproxy.Late)
			s := c.Next(aSettle, faultproxy.HoldRequest)
			c.start(act...)
			c.reached("settle is sent", s)
			c.kill()
			s.Cut()
			return func() { c.delivered(late) }
		}, 1, notRequeued, "dead 4"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &crash{fault: newFault(t), program: program}
			then := window.crash(c)
			if n := c.journaled(); n != window.journaled {
				t.Errorf("the journal holds %d acts, want %d", n, window.journaled)
			}
			told := c.again()
			if n := strings.Count(told, "\n"); (window.told == "") != (told == "") || n > 1 {
				t.Errorf("the next one told %q", told)
			}
			contains(t, "what the next one told", told, window.told)
			if is := c.is("mail-9"); is != window.is {
				t.Errorf("it told %q, and the job is %s, not %s", told, is, window.is)
			}
			if then != nil {
				then()
			}
			if told := c.again(); told != "" {
				t.Errorf("told twice: %s", told)
			}
			if is := c.is("mail-9"); is != window.is || c.journaled() != 0 {
				t.Errorf("in the end it is %s, with %d acts in the journal", is, c.journaled())
			}
		})
	}

	// Killed in the middle of a bulk: what was shown before stands, the one under way is
	// settled, and the rest was never sent.
	for name, bulk := range map[string]struct {
		fault      faultproxy.Fault
		told, is   string
		deliverEnd bool
	}{
		"in the middle of a bulk, before the act arrives": {faultproxy.HoldRequest, "mail-9 was not requeued", "dead 4", true},
		"in the middle of a bulk, with the act committed": {faultproxy.HoldAnswer, "mail-9 was requeued", "pending 5", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &crash{fault: newFault(t), program: program}
			c.Next(anAct, faultproxy.Pass)
			c.Next(anAct, faultproxy.Pass)
			s := c.Next(anAct, bulk.fault)
			c.start("requeue", "mail-3", "invoice-88140", "mail-9", "legacy-1", "--may-have-happened", "--reason", "again")
			c.reached("the third act", s)
			c.kill()
			if shown := c.stdout.String(); strings.Count(shown, "applied  ") != 2 || strings.Contains(shown, "mail-9") {
				t.Errorf("it had shown\n%s", shown)
			}
			told := c.again()
			if contains(t, "what the next one told", told, bulk.told); strings.Count(told, "\n") != 1 {
				t.Errorf("the next one told %q", told)
			}
			if bulk.deliverEnd {
				c.delivered(s)
			}
			for id, want := range map[string]string{"mail-3": "pending 6", "invoice-88140": "pending 8", "mail-9": bulk.is, "legacy-1": "dead 4"} {
				if is := c.is(id); is != want {
					t.Errorf("%s is %s, not %s", id, is, want)
				}
			}
			if told := c.again(); told != "" {
				t.Errorf("told twice: %s", told)
			}
		})
	}
}
