package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
)

func (a *app) newPauseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pause KIND",
		GroupID: groupAct,
		Short:   "Keep workers from claiming a kind of job",
		Long: `pause keeps workers from claiming jobs of a kind, for a time or until somebody resumes
it. Jobs that are running run on. Pausing it again changes the reason and the time.`,
		Example: `  jobtop pause card.charge --reason "provider is down" --for 30m`,
		Args:    oneArgument("a kind of job"),
	}
	var reason, confirm string
	var lasts time.Duration
	cmd.Flags().StringVar(&reason, "reason", "", "why, a `text` for the record; mandatory")
	cmd.Flags().StringVar(&confirm, "confirm", "", "the `profile`'s name, for one that is marked production")
	cmd.Flags().DurationVar(&lasts, "for", 0, "this `long`, such as 30m; otherwise until somebody resumes it")
	output := outputFlag(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		if cmd.Flags().Changed("for") && lasts <= 0 {
			return usagef("--for is not above zero")
		}
		return a.pausing(cmd.Context(), "pause", arguments[0], reason, confirm, lasts, output.value)
	}
	return cmd
}

func (a *app) newResumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "resume KIND",
		GroupID: groupAct,
		Short:   "Let workers claim a kind of job again",
		Long:    `resume ends a pause. Where the kind was not paused its exit status is 3.`,
		Example: `  jobtop resume card.charge --reason "provider is back"`,
		Args:    oneArgument("a kind of job"),
	}
	var reason, confirm string
	cmd.Flags().StringVar(&reason, "reason", "", "why, a `text` for the record; mandatory")
	cmd.Flags().StringVar(&confirm, "confirm", "", "the `profile`'s name, for one that is marked production")
	output := outputFlag(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		return a.pausing(cmd.Context(), "resume", arguments[0], reason, confirm, 0, output.value)
	}
	return cmd
}

// pauseJSON is what pause and resume print.
type pauseJSON struct {
	Kind     string   `json:"kind"`
	Verb     string   `json:"verb"`
	Outcome  string   `json:"outcome"` // applied, refused (resume: it was not paused), unknown, error
	ActionID string   `json:"action_id"`
	Lasts    *seconds `json:"for_seconds"` // null: until somebody resumes it
	Message  string   `json:"message"`
}

func (a *app) pausing(ctx context.Context, verb, kind, reason, confirm string, lasts time.Duration, format string) error {
	if reason == "" {
		return usagef("%s needs a reason: --reason TEXT", verb)
	}
	if err := errors.Join(actions.ValidReason(reason), a.confirmed(confirm)); err != nil {
		return usage(err)
	}
	operator, err := a.operator()
	if err != nil {
		return err
	}
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.mayAct(); err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	request := store.PauseRequest{ActionID: id.String(), Kind: kind, Operator: operator, Reason: reason, Client: s.client(), For: lasts}
	call := s.db.Pause
	if verb == "resume" {
		call = s.db.Resume
	}
	did, err := repeated(ctx, func() (bool, error) { return call(ctx, request) })

	result := pauseJSON{Kind: kind, Verb: verb, ActionID: request.ActionID}
	if lasts > 0 {
		result.Lasts = secondsOf(&lasts)
	}
	status := exitOK
	var unknown *store.UnknownError
	switch {
	case errors.As(err, &unknown):
		result.Outcome, status = "unknown", exitUnknown
		result.Message = fmt.Sprintf("unknown: the answer was lost; jobtop status tells whether %s is paused (action %s)", short(kind), request.ActionID)
	case err != nil:
		return err
	case !did:
		result.Outcome, status = "refused", exitRefused
		result.Message = short(kind) + " was not paused"
	case verb == "resume":
		result.Outcome, result.Message = "applied", short(kind)+" is resumed; workers claim it again"
	default:
		result.Outcome, result.Message = "applied", short(kind)+" is paused until somebody resumes it; what is running runs on"
		if lasts > 0 {
			result.Message = fmt.Sprintf("%s is paused for %s; what is running runs on", short(kind), text.Duration(lasts))
		}
	}
	s.log.Info(verb, "action_id", request.ActionID, "kind", kind, "operator", operator, "outcome", result.Outcome)
	if format == "json" {
		err = writeJSON(s.out, result)
	} else {
		_, err = fmt.Fprintln(s.out, s.screen.charset.Line(result.Message, messageWidth))
	}
	if err == nil && status != exitOK {
		err = &statusError{status: status}
	}
	return err
}

// repeated calls again while the answer is lost: with the same action id it happens once.
func repeated(ctx context.Context, call func() (bool, error)) (bool, error) {
	const tries = 4
	for try := 1; ; try++ {
		did, err := call()
		var unknown *store.UnknownError
		if !errors.As(err, &unknown) || try == tries {
			return did, err
		}
		select {
		case <-ctx.Done():
			return did, err
		case <-time.After(time.Duration(try) * time.Second):
		}
	}
}
