package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jobtop/store"
	"jobtop/ui/config"
)

func job() store.Job {
	return store.Job{ID: "charge-1", Kind: "card.charge", State: "review", Attempt: 2, EffectKey: "key 'with\" $(odd)\nletters",
		Evidence: store.Evidence{Verdict: store.VerdictMayHaveHappened}}
}

// shell makes a lookup of a shell script, for tests only.
func shell(script string, timeout time.Duration) config.Lookup {
	return config.Lookup{Command: []string{"/bin/sh", "-c", script}, Timeout: config.Duration(timeout)}
}

func TestFinding(t *testing.T) {
	for script, want := range map[string]Finding{
		`echo '{"receipt_id":"ch_1","amount":5}'`: {ReceiptID: "ch_1", Structured: true},
		`echo '{"receipt_id":null}'`:              {Structured: true},
		`echo '{"status":"unknown"}'`:             {Structured: true},
		`echo '{"receipt_id":""}'`:                {Structured: true},
		`echo 'no charge of that key'`:            {},
		`echo '["receipt_id"]'`:                   {},
		`echo null`:                               {},
		`true`:                                    {},
	} {
		got, err := Run(t.Context(), shell(script, 0), job())
		if err != nil || got.ReceiptID != want.ReceiptID || got.Structured != want.Structured || got.Command != "sh" || got.Cut {
			t.Errorf("%s: %+v, %v", script, got, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PROVIDER_KEY", "from outside")
	got, err := Run(t.Context(), shell(`printf '%s|' "$JOBTOP_EFFECT_KEY" "$JOBTOP_JOB_ID" "$JOBTOP_KIND" "$JOBTOP_STATE" "$JOBTOP_ATTEMPT" "$JOBTOP_VERDICT" "$PROVIDER_KEY"`, 0), job())
	want := "key 'with\" $(odd)\nletters|charge-1|card.charge|review|2|may_have_happened|from outside|"
	if err != nil || got.Output != want {
		t.Errorf("got %q, %v\nwant %q", got.Output, err, want)
	}
}

// The arguments reach the program as they are: no shell reads them.
func TestNoShell(t *testing.T) {
	got, err := Run(t.Context(), config.Lookup{Command: []string{"/bin/echo", "$HOME", "`id`", "a b"}}, job())
	if err != nil || got.Output != "$HOME `id` a b\n" {
		t.Errorf("got %q, %v", got.Output, err)
	}
}

func TestFailures(t *testing.T) {
	for want, lookup := range map[string]config.Lookup{
		"sh could not find out (exit status 3): no such key":      shell("echo no such key >&2; echo more >&2; exit 3", 0),
		"sh could not find out (exit status 1): password=••••":    shell("echo password=hunter2 >&2; exit 1", 0),
		"sh could not find out (signal: terminated)":              shell("kill -TERM $$", 0),
		"there is no program jobtop-no-such-program":              {Command: []string{"/nowhere/jobtop-no-such-program"}},
		"there is no program jobtop-no-such":                      {Command: []string{"jobtop-no-such"}},
		"sh did not answer within 50ms":                           shell("sleep 60", 50*time.Millisecond),
		"sh printed a receipt_id that is no text":                 shell(`echo '{"receipt_id":5}'`, 0),
		"sh printed a receipt_id that cannot be one: the receipt": shell(`printf %s '{"receipt_id":"a\nb"}'`, 0),
	} {
		if _, err := Run(t.Context(), lookup, job()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestManyBytes(t *testing.T) {
	got, err := Run(t.Context(), shell(`i=0; while [ $i -lt 3000 ]; do printf 'ééééé'; i=$((i+1)); done`, 0), job())
	if err != nil || !got.Cut || got.Structured || len(got.Output) != OutputLimit || strings.ContainsRune(got.Output, '\uFFFD') {
		t.Errorf("%d bytes, cut %v, %v", len(got.Output), got.Cut, err)
	}
	odd := capped{}
	_, _ = odd.Write([]byte("x" + strings.Repeat("é", OutputLimit)))
	if s := odd.text(); len(s) != OutputLimit-1 || strings.ContainsRune(s, '\uFFFD') {
		t.Errorf("%d bytes, ending in %q", len(s), s[len(s)-4:])
	}
}

// When the time is up the command's children end, too.
func TestChildrenEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	var pid int
	for timeout := time.Second; pid == 0; timeout *= 2 { // until there is a child when it is up
		if _, err := Run(t.Context(), shell(`sleep 600 & echo $! > `+file+`; wait`, timeout), job()); err == nil {
			t.Fatal("no error")
		}
		raw, err := os.ReadFile(file)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		if err != nil && timeout > 10*time.Second {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(state), ") Z ") {
			return // gone, or dead and not yet collected by whoever inherited it
		}
	}
	t.Errorf("process %d still runs", pid)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Run(ctx, shell("sleep 60", time.Minute), job()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRecord(t *testing.T) {
	f := Finding{ReceiptID: "ch_1", Output: "token=abc\x00\x1b[2J", Took: 1500 * time.Millisecond, Command: "find"}
	var got map[string]any
	if err := json.Unmarshal(f.Record(), &got); err != nil {
		t.Fatal(err)
	}
	if got["receipt_id"] != "ch_1" || got["took_seconds"] != 1.5 || got["command"] != "find" || strings.ContainsAny(got["output"].(string), "\x00") ||
		strings.Contains(got["output"].(string), "abc") {
		t.Errorf("got %v", got)
	}
	if err := json.Unmarshal(Finding{}.Record(), &got); err != nil || got["receipt_id"] != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
