package console

import (
	"encoding/base64"
	"strings"
	"testing"
)

// clipped is what was sent to the clipboard since the last time.
func (d *driver) clipped() string {
	d.t.Helper()
	code, ok := strings.CutPrefix(d.sent.String(), "\x1b]52;c;")
	d.sent.Reset()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(code, "\a"))
	if err != nil || !ok {
		d.t.Fatalf("sent %q: %v", code, err)
	}
	return string(raw)
}

// What is copied is pasted at a prompt: a newline would run it.
func TestWhatIsCopiedRunsNothing(t *testing.T) {
	db := scene()
	db.jobs[0].ID = "charge\nreboot\x1b[201~\r"
	db.jobs[0].ErrorCategory, db.jobs[0].ErrorDetail = ptr("timeout\r"), ptr("first \x1b[31mline\n\tsecond \u202eline")
	db.jobs[1].ID = `Zürich\10467 $(x)`
	d := start(t, db, 100, 30)
	d.run(d.m.run("review"))
	const id = `charge\nreboot\x1b[201~\r`
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"y"}, id},
		{[]string{"Y"}, `timeout\r: first \x1b[31mline` + "\n" + `    second \u202eline`},
		{[]string{"j", "y"}, `Zürich\10467 $(x)`}, // to the letter
		{[]string{"k", " ", " ", "y"}, id + "\n" + `Zürich\10467 $(x)`},
	} {
		d.press(c.keys...)
		if got := d.clipped(); got != c.want {
			t.Errorf("%q copied %q, want %q", c.keys, got, c.want)
		}
	}
	// Also on the job's own screen, and of a list of what became of acts.
	d.run(d.m.run("job " + strings.TrimSpace(db.jobs[0].ID)))
	d.press("y")
	if got := d.clipped(); strings.ContainsAny(got, "\n\r\x1b") {
		t.Errorf("copied %q", got)
	}
	d = on(t, "review id:invoice-88140", func(o *Options) { o.ASCII = true })
	act(d, "E", "ticket")
	d.m.env.ledger.log[0].result.Order.JobID = "é\n1"
	d.press("o")
	d.settle()
	d.press("y")
	if got := d.clipped(); !strings.HasPrefix(got, "é\\n1\tapplied\t") || strings.Contains(got, "\n") {
		t.Errorf("copied %q", got)
	}
}
