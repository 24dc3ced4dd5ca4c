package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
)

// actFlags are the flags of requeue, done, dead and hold.
type actFlags struct {
	reason          string
	receipt         string
	seen            int64
	dryRun          bool
	mayHaveHappened bool
	stop            bool
	delay, spread   time.Duration
	confirm         string
}

// verbHelp is what differs in the help of the four verbs.
var verbHelp = map[actions.Verb]struct{ short, long, example string }{
	actions.VerbRequeue: {
		"Let workers try jobs again",
		`requeue takes a job back to pending. Where its effect may have happened already, or
nobody knows, it is refused unless --may-have-happened says that you looked.`,
		`  jobtop requeue charge-10444 --reason "ticket 5512: never started"
  jobtop requeue charge-10443 --may-have-happened --seen 5 --reason "no charge at the provider"
  jobtop list dead kind:mail.send verdict:never_started -o json |
    jobtop requeue - --reason "mail is back" --spread 10m`,
	},
	actions.VerbDone: {
		"Record that an effect did happen, with its receipt",
		`done takes the receipt ID that the provider gave. Nothing leads back from it.
A receipt proves one job, so that --receipt goes with one id; for several, each line on
standard input holds its own receipt_id.`,
		`  jobtop done charge-10442 --receipt ch_8121 --reason "found at the provider"
  jobtop list 'verdict:happened' -o json | jobtop done - --reason "reported late"`,
	},
	actions.VerbDead: {
		"Give jobs up",
		`dead gives a job up: no worker claims it again, unless somebody requeues it.`,
		`  jobtop dead sms-6120 --reason "the customer has left"`,
	},
	actions.VerbHold: {
		"Hold jobs for review, or stop running ones",
		`hold takes a job to review, until somebody decides. With --stop it takes one from a
worker that is alive; the worker learns it at its next heartbeat.`,
		`  jobtop hold report-517 --reason "its worker hangs"
  jobtop list running kind:report.build -o json | jobtop hold - --stop --reason "runaway"`,
	},
}

func (a *app) newActCommand(verb actions.Verb) *cobra.Command {
	help := verbHelp[verb]
	cmd := &cobra.Command{
		Use:     string(verb) + " ID...",
		GroupID: groupAct,
		Short:   help.short,
		Long: help.long + `

An act is bound to the version of the job that you saw: --seen, or the version in a
line on standard input (id -), or else what is printed before the act. It happens once,
or not at all, and the exit status says which: 0 applied, 3 refused, 4 unknown, 1 error,
2 wrong usage; of several, the first of 4, 1, 3 that occurred.`,
		Example: help.example,
	}
	output := outputFlag(cmd, "table", "json")
	var f actFlags
	flags := cmd.Flags()
	flags.StringVar(&f.reason, "reason", "", fmt.Sprintf("why, a `text` for the record; mandatory, at most %d characters", actions.ReasonLimit))
	flags.Int64Var(&f.seen, "seen", 0, "act only while the job is at this `version`")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, and change nothing")
	flags.StringVar(&f.confirm, "confirm", "", "the `profile`'s name, for one that is marked production")
	switch verb {
	case actions.VerbRequeue:
		flags.BoolVar(&f.mayHaveHappened, "may-have-happened", false, "also what may have happened already; you looked it up")
		flags.DurationVar(&f.delay, "delay", 0, "not to be claimed before this `time` has gone by")
		flags.DurationVar(&f.spread, "spread", 0, "let several jobs begin evenly over this `time`")
	case actions.VerbDone:
		flags.StringVar(&f.receipt, "receipt", "", fmt.Sprintf("the provider's `ID` of the effect, at most %d characters", actions.ReceiptLimit))
	case actions.VerbDead: // nothing of its own
	case actions.VerbHold:
		flags.BoolVar(&f.stop, "stop", false, "also from a worker that is alive")
	}
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		if err := f.check(cmd, verb, arguments); err != nil {
			return err
		}
		targets, err := a.targets(verb, arguments, f)
		if err != nil {
			return err
		}
		return a.act(cmd.Context(), verb, targets, f, output.value)
	}
	return cmd
}

// check finds what is wrong with the flags before anything is asked of the database.
func (f actFlags) check(cmd *cobra.Command, verb actions.Verb, arguments []string) error {
	changed := cmd.Flags().Changed
	several := len(arguments) > 1 || slices.Contains(arguments, "-")
	switch {
	case len(arguments) == 0:
		return usagef("%s needs the id of a job, or - for JSON lines on standard input; see %s --help", verb, cmd.CommandPath())
	case slices.Contains(arguments, ""):
		return usagef("an id is empty")
	case len(arguments) > 1 && slices.Contains(arguments, "-"):
		return usagef("give either ids or -")
	case !changed("reason"):
		return usagef("an act needs a reason: --reason TEXT")
	case changed("seen") && several:
		return usagef("--seen goes with one id; for several, give lines with their versions on standard input")
	case changed("seen") && f.seen < 1:
		return usagef("--seen is a version, from 1")
	case changed("receipt") && several:
		return usagef("one receipt proves one job: --receipt goes with one id; for several, give lines with their receipt_id on standard input")
	case f.delay < 0 || f.spread < 0:
		return usagef("--delay and --spread do not go into the past")
	case verb == actions.VerbDone && !several && !changed("receipt"):
		return usagef("done needs the provider's receipt ID: --receipt ID")
	}
	if err := actions.ValidReason(f.reason); err != nil {
		return usage(err)
	}
	if changed("receipt") {
		return usage(actions.ValidReceipt(f.receipt))
	}
	return nil
}

// act carries a verb out on each of the targets, and tells what became of it.
func (a *app) act(ctx context.Context, verb actions.Verb, targets []target, f actFlags, format string) error {
	if _, err := a.operator(); err != nil {
		return err
	}
	if !f.dryRun {
		if err := a.confirmed(f.confirm); err != nil {
			return err
		}
	}
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.mayAct(); err != nil {
		return err
	}
	report := &actReport{s: s, json: format == "json", dryRun: f.dryRun}
	plans, err := s.plan(ctx, verb, targets, f, report)
	if err != nil {
		return err
	}
	if f.dryRun {
		h := rehearsal{db: s.db, taken: map[receiptKey]string{}}
		for _, p := range plans {
			r, words, err := h.of(ctx, p)
			if err != nil {
				return err
			}
			report.say(r, words)
		}
		return report.end(ctx)
	}
	if len(plans) > 0 {
		if err := s.carryOut(ctx, plans, report); err != nil {
			return err
		}
	}
	return report.end(ctx)
}

// plan is an order, and the job as it was seen for it.
type plan struct {
	order actions.Order
	job   store.Job
}

// plan reads every target and makes an order of it. Unknown ids are reported at once;
// any other error ends it, while nothing has been changed yet.
func (s *session) plan(ctx context.Context, verb actions.Verb, targets []target, f actFlags, report *actReport) ([]plan, error) {
	var plans []plan
	for _, t := range targets {
		order := actions.Order{Verb: verb, JobID: t.id, Reason: f.reason, ReceiptID: t.receipt}
		job, err := s.db.Row(ctx, t.id)
		if errors.Is(err, store.ErrNotFound) {
			report.add(notFound(order))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
		order.SeenState, order.SeenVersion = actions.State(job.State), job.Version
		if t.version != 0 {
			// Where it is another version than the job's now, the act is refused whatever
			// the state.
			order.SeenVersion = t.version
		} else if !report.json {
			fmt.Fprintln(s.stderr, s.screen.charset.Line(saw(job), messageWidth))
		}
		if asks := actions.Ask(verb, job); asks.Stop && f.stop || asks.TypedID && f.mayHaveHappened {
			order.Confirmations = asks.Confirmations()
		}
		plans = append(plans, plan{order, job})
	}
	for i, order := range actions.Spread(ordersOf(plans), f.spread) {
		plans[i].order.Delay = order.Delay + f.delay
	}
	return plans, nil
}

func ordersOf(plans []plan) []actions.Order {
	orders := make([]actions.Order, len(plans))
	for i, p := range plans {
		orders[i] = p.order
	}
	return orders
}

// saw tells what was seen of a job, to those who did not say which version they saw.
func saw(j store.Job) string {
	line := fmt.Sprintf("saw %s: %s, %s, version %d, attempt %d of %d, %s", short(j.ID), j.Kind, j.State, j.Version, j.Attempt, j.MaxAttempts, actions.VerdictWords(j.Evidence))
	if j.StuckFor != nil {
		line += ", stuck for " + text.AgeColumn(*j.StuckFor)
	}
	return line
}

// notFound is the result for an id that no job has; the database would refuse it too.
func notFound(o actions.Order) actions.Result {
	refusal := "not_found"
	return actions.Result{Order: o, Outcome: actions.Refused, Answer: store.ActAnswer{Outcome: "refused", Refusal: &refusal}}
}

// carryOut sends the orders one after the other. It stops between two jobs on a signal,
// and when the database is gone: trying the rest would only take long. A reader that has
// enough of the report does not stop it: how many jobs are done is not for head to say.
func (s *session) carryOut(ctx context.Context, plans []plan, report *actReport) error {
	signal.Ignore(syscall.SIGPIPE)
	runner, err := s.newRunner(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = runner.Journal.Close() }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	runner.RunAll(ctx, ordersOf(plans), func(_ int, r actions.Result) {
		if r.JournalErr != nil && runner.Journal != nil && !report.noJournal {
			report.noJournal = true
			s.complain(r.JournalErr.Error())
		}
		if errors.Is(r.Err, store.ErrUnreachable) || errors.Is(r.Err, store.ErrTimeout) {
			stop()
		}
		report.add(r)
		s.log.Info("act", "action_id", r.Order.ActionID, "verb", r.Order.Verb, "job_id", r.Order.JobID, "operator", runner.Operator,
			"outcome", r.Outcome, "refusal", orDash(r.Answer.Refusal))
	})
	return nil
}

// confirmed makes sure that an act on a production database was meant for it.
func (a *app) confirmed(typed string) error {
	name := a.flags.profile
	switch {
	case typed == "" && a.profile.Production:
		return usagef("%s is production: confirm with --confirm %s", name, name)
	case typed != "" && name == "":
		return usagef("--confirm names a profile, and none is in use")
	case typed != "" && typed != name:
		return usagef("--confirm says %s, and the profile in use is %s; nothing was changed", short(typed), name)
	}
	return nil
}
