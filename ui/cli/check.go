package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jobtop/store"
	"jobtop/ui/text"
)

const checkName = "check"

// The exit status of check, as Nagios plug-ins have it.
const (
	checkOK       = 0
	checkWarning  = 1
	checkCritical = 2
	checkUnknown  = 3
)

var checkWords = []string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}

// checkFlags are the flags of check.
type checkFlags struct {
	counts  map[string]*countThreshold
	ages    map[string]*ageThreshold
	webhook webhook
	always  bool
}

// checked are the subjects of a check, in the order in which they are told.
var checked = []string{"review", "stuck", "dead", "due"}

func (a *app) newCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     checkName,
		GroupID: groupOperate,
		Short:   "Compare counts and ages with thresholds, for cron and alerting",
		Long: `check looks once, prints one line, and ends with the exit status of a Nagios plug-in:
0 fine, 1 warning, 2 critical, 3 cannot tell.

A threshold is WARN:CRIT, either of which may be left out; it is reached at that number
or age. --age is for the oldest job in review, stuck or due, where those have none of
their own. What is due counts with paused kinds; the line then says which are paused.

With --webhook it also posts a JSON object to a URL when something is wrong. The URL is
best given in JOBTOP_WEBHOOK, which other users of the machine cannot see.`,
		Example: `  jobtop check --review 1:20 --stuck 1:10 --age 15m:2h
  JOBTOP_WEBHOOK=https://alerts.example/hook jobtop check --dead :100 --webhook -`,
		Args: noArguments,
	}
	f := checkFlags{counts: map[string]*countThreshold{}, ages: map[string]*ageThreshold{}}
	flags := cmd.Flags()
	for _, what := range checked {
		f.counts[what], f.ages[what] = &countThreshold{}, &ageThreshold{}
	}
	flags.Var(f.counts["review"], "review", "jobs in review")
	flags.Var(f.counts["stuck"], "stuck", "running jobs past their own limit")
	flags.Var(f.counts["dead"], "dead", "dead jobs")
	flags.Var(f.counts["due"], "due", "pending and failed jobs whose time has come")
	flags.Var(f.ages["review"], "review-age", "how long the oldest is in review")
	flags.Var(f.ages["stuck"], "stuck-age", "how long the worst is past its limit")
	flags.Var(f.ages["dead"], "dead-age", "how long the oldest is dead")
	flags.Var(f.ages["due"], "due-age", "how long the oldest has been due")
	every := &ageThreshold{}
	flags.Var(every, "age", "the oldest in review, stuck or due")
	flags.StringVar(&f.webhook.url, "webhook", "", "post to this `URL` when something is wrong; - for the one in JOBTOP_WEBHOOK")
	flags.BoolVar(&f.always, "webhook-always", false, "post also when all is fine")
	flags.DurationVar(&f.webhook.timeout, "webhook-timeout", 5*time.Second, "for each of three tries to post")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, what := range []string{"review", "stuck", "due"} {
			if !f.ages[what].set() {
				*f.ages[what] = *every
			}
		}
		return a.check(cmd.Context(), f)
	}
	return cmd
}

// checkResult is what a check found out.
type checkResult struct {
	status int
	what   string // the line, without its first words
	perf   string
	facts  []checkFact
	server store.Server
}

func (r checkResult) line() string {
	line := "JOBTOP " + checkWords[r.status] + ": " + r.what
	if r.perf != "" {
		line += " | " + r.perf
	}
	return line
}

// checkFact is one figure that was compared.
type checkFact struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	Count     int64    `json:"count"`
	Precision string   `json:"precision"`
	OldestAge *seconds `json:"oldest_age_seconds"`
}

func (a *app) check(ctx context.Context, f checkFlags) error {
	if err := f.valid(); err != nil {
		return err
	}
	result, err := a.compare(ctx, f)
	if err != nil {
		result = checkResult{status: checkUnknown, what: err.Error(), server: result.server}
	}
	if _, err := fmt.Fprintln(a.out, a.screen.charset.Line(result.line(), messageWidth)); err != nil {
		return err
	}
	if f.webhook.url != "" && (result.status != checkOK || f.always) {
		if err := f.webhook.post(ctx, newAlertJSON(result)); err != nil {
			a.complain(err.Error())
			if result.status == checkOK {
				result.status = checkUnknown
			}
		}
	}
	a.log.Info("check", "status", checkWords[result.status], "line", result.what)
	if result.status == checkOK {
		return nil
	}
	return &statusError{status: result.status}
}

func (f *checkFlags) valid() error {
	any := false
	for _, what := range checked {
		any = any || f.counts[what].set() || f.ages[what].set()
	}
	if !any {
		return usagef("check needs a threshold, such as --review 1:20; see jobtop check --help")
	}
	return f.webhook.check()
}

// compare looks once, and holds what it sees against the thresholds.
func (a *app) compare(ctx context.Context, f checkFlags) (checkResult, error) {
	s, err := a.connect(ctx)
	if err != nil {
		return checkResult{}, err
	}
	defer s.close()
	poll, err := s.db.Poll(ctx)
	if err != nil {
		return checkResult{server: s.server}, err
	}
	figures := map[string]store.StateCount{
		"stuck": {Count: poll.Stuck, OldestAge: poll.OldestStuck},
		"due":   {Count: poll.Due, OldestAge: poll.OldestDue},
	}
	for _, state := range poll.States {
		figures[state.State] = state
	}

	r := checkResult{server: s.server}
	var told, perf []string
	for _, what := range checked {
		count, age := f.counts[what], f.ages[what]
		if !count.set() && !age.set() {
			continue
		}
		figure := figures[what]
		status := max(count.level(figure.Count.N), age.level(figure.OldestAge))
		r.status = max(r.status, status)
		line := what + " " + s.count(figure.Count)
		if figure.OldestAge != nil && figure.Count.N > 0 {
			line += ", oldest " + text.Age(*figure.OldestAge)
		}
		if status != checkOK {
			line += " (" + strings.ToLower(checkWords[status]) + ")"
		}
		if what == "due" && figure.Count.N > 0 {
			line += pausedNote(poll.Paused)
		}
		told = append(told, line)
		perf = append(perf, fmt.Sprintf("%s=%d;%s;%s;0", what, figure.Count.N, count.warning, count.critical))
		if age.set() {
			seconds := 0.0
			if figure.OldestAge != nil {
				seconds = max(figure.OldestAge.Seconds(), 0)
			}
			perf = append(perf, fmt.Sprintf("%s_age=%.0fs;%s;%s;0", what, seconds, age.warning.seconds(), age.critical.seconds()))
		}
		r.facts = append(r.facts, checkFact{what, strings.ToLower(checkWords[status]), figure.Count.N, string(figure.Count.Precision), secondsOf(figure.OldestAge)})
	}
	if poll.HeartbeatsStopped() {
		told = append(told, "heartbeats stopped everywhere")
	}
	r.what, r.perf = strings.Join(told, "; "), strings.Join(perf, " ")
	return r, nil
}

// pausedNamed is how many paused kinds are told by name.
const pausedNamed = 3

// pausedNote says which kinds are paused: what is due of them waits because of that. A kind
// has no place in the line for the bar that ends it.
func pausedNote(paused []store.Paused) string {
	if len(paused) == 0 {
		return ""
	}
	var names []string
	for _, p := range paused[:min(len(paused), pausedNamed)] {
		names = append(names, strings.ReplaceAll(short(p.Kind), "|", "/"))
	}
	note := ", paused kinds: " + strings.Join(names, ", ")
	if more := len(paused) - len(names); more > 0 {
		note += fmt.Sprintf(" and %d more", more)
	}
	return note
}

// exitCheck tells an error of check as monitoring expects it: one line on standard
// output, and the status "cannot tell", also for wrong flags.
func (a *app) exitCheck(status *statusError) int {
	if status.err == nil {
		return status.status
	}
	line := checkResult{status: checkUnknown, what: status.err.Error()}.line()
	fmt.Fprintln(a.out, a.screen.charset.Line(line, messageWidth))
	if a.out.Flush() != nil {
		a.complain(status.err.Error())
	}
	return checkUnknown
}
