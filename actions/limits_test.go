package actions

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jobtop/store/sandbox/sandboxtest"
)

func TestLimits(t *testing.T) {
	tests := []struct {
		text            string
		reason, receipt string // what the refusal says; "" where it is valid
	}{
		{"ticket 5512", "", ""},
		{"  ch_1 \n", "", ""},
		{"", "is empty", "is empty"},
		{" \t\u00a0\u3000", "is empty", "is empty"},
		{"\u200b\u200d", "is empty", "is empty"},
		{"支払い ✓ é", "", ""},
		{"two\nlines", "U+000A", "U+000A"},
		{"bell\a", "U+0007", "U+0007"},
		{"nul\x00byte", "U+0000", "U+0000"},
		{"c1\u009bcsi", "U+009B", "U+009B"},
		{"line\u2028separator", "U+2028", "U+2028"},
		{"not utf8 \xff", "valid UTF-8", "valid UTF-8"},
		{"looks\u200balike", "", "U+200B"},
		{"back\u202ewards", "", "U+202E"},
		{strings.Repeat("é", 200), "", ""},
		{strings.Repeat("é", 201), "", "has 201 characters; at most 200"},
		{strings.Repeat("é", 1000) + "  ", "", "has 1000 characters"},
		{strings.Repeat("é", 1001), "has 1001 characters; at most 1000", "has 1001 characters"},
	}
	for _, test := range tests {
		check := func(what string, err error, want string) {
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s %q: got %v, want %q", what, test.text, err, want)
			}
			if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("%s %q: the error would reach the terminal: %q", what, test.text, err)
			}
		}
		check("reason", ValidReason(test.text), test.reason)
		check("receipt", ValidReceipt(test.text), test.receipt)
	}
}

// What we take, the database takes, and keeps as it is; in any locale.
func TestLimitsAreTheDatabases(t *testing.T) {
	t.Parallel()
	for locale, database := range map[string]func(testing.TB) string{"C": sandboxtest.Database, "another": sandboxtest.NonCDatabase} {
		t.Run(locale, func(t *testing.T) { limitsAreTheDatabases(t, ledgerAt(t, database(t))) })
	}
}

func limitsAreTheDatabases(t *testing.T, base *ledger) {
	texts := rapid.OneOf(
		rapid.StringN(1, -1, -1),
		rapid.StringOf(rapid.SampledFrom([]rune("a Z9\u00a0\u0085\u200b\u2028\u3000\t\x7f\x01é✓\U0001F4A5"))),
		rapid.Map(rapid.IntRange(190, 1010), func(n int) string { return strings.Repeat("ü", n) }),
	)
	applied := 0
	rapid.Check(t, func(t *rapid.T) {
		l := base.in(t)
		id, _ := l.bring(Pending, false)
		o := l.order(VerbDone, id)
		o.Reason = texts.Draw(t, "reason")
		o.ReceiptID = rapid.OneOf(texts, rapid.Just("ch_"+id)).Draw(t, "receipt")
		if ValidReason(o.Reason) != nil || ValidReceipt(o.ReceiptID) != nil {
			l.must(l.runner("alice"), o, Errored)
			return
		}
		applied++
		l.must(l.runner("alice"), o, Applied)
		reason := l.get("SELECT reason FROM jobtop.actions WHERE job_id = $1", id)
		receipt := l.get("SELECT receipt_id FROM jobtop.receipts WHERE job_id = $1", id)
		if reason != strings.TrimSpace(o.Reason) || receipt != strings.TrimSpace(o.ReceiptID) {
			t.Fatalf("kept %q and %q of %q and %q", reason, receipt, o.Reason, o.ReceiptID)
		}
	})
	if applied == 0 {
		t.Error("no text was valid")
	}
}

func TestOrdersThatCannotBeSent(t *testing.T) {
	good := Order{Verb: VerbRequeue, JobID: "charge-1", SeenState: Review, SeenVersion: 3, Reason: "x"}
	for want, change := range map[string]func(*Order){
		`there is no verb "explode"`:            func(o *Order) { o.Verb = "explode" },
		"the job id is empty":                   func(o *Order) { o.JobID = "" },
		`the job id "a\x00b" cannot be one`:     func(o *Order) { o.JobID = "a\x00b" },
		"in which state and version":            func(o *Order) { o.SeenVersion = 0 },
		"must say in which state":               func(o *Order) { o.SeenState = "lost" },
		"the reason is empty":                   func(o *Order) { o.Reason = " " },
		"the receipt ID is empty":               func(o *Order) { o.Verb = VerbDone },
		"only done takes a receipt ID":          func(o *Order) { o.ReceiptID = "ch_1" },
		"only a requeue can be delayed":         func(o *Order) { o.Verb, o.Delay = VerbDead, 1 },
		"not into the past":                     func(o *Order) { o.Delay = -1 },
		"what the lookup found is no JSON":      func(o *Order) { o.Lookup = []byte("{") },
		`there is no confirmation "sure"`:       func(o *Order) { o.Confirmations = []string{"sure"} },
		`the action id "mine" is no UUID`:       func(o *Order) { o.ActionID = "mine" },
		"the operator's name has 201 character": func(*Order) {},
	} {
		o := good
		change(&o)
		f := &fake{name: "orders"}
		r := &Runner{DB: f, Operator: "alice"}
		if strings.Contains(want, "operator") {
			r.Operator = strings.Repeat("a", 201)
		}
		result := r.Run(t.Context(), o)
		var invalid *InvalidError
		if !errors.As(result.Err, &invalid) || result.Outcome != Errored || !strings.Contains(Explain(result), want) {
			t.Errorf("%q: %s", want, Explain(result))
		}
		if acts, _ := f.count(); acts != 0 {
			t.Errorf("%q: sent all the same", want)
		}
	}
}
