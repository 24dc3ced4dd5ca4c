package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

func (a *app) newShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID",
		GroupID: groupLook,
		Short:   "One job's whole story",
		Long: `show prints what the record holds about one job: the verdict and what it rests on, the
facts, and one timeline of its attempts, actions, late reports and receipt.

The payload is shown only with --payload, and with secrets masked.`,
		Example: `  jobtop show charge-10442
  jobtop show charge-10442 --payload -o json | jq .payload`,
		Args: oneArgument("the id of a job"),
	}
	output := outputFlag(cmd, "table", "json")
	payload := cmd.Flags().Bool("payload", false, "also what the job carries, with secrets masked")
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		return a.show(cmd.Context(), arguments[0], *payload, output.value)
	}
	return cmd
}

func (a *app) show(ctx context.Context, id string, withPayload bool, format string) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	detail, err := s.db.Job(ctx, id)
	if err != nil {
		return err
	}
	var payload json.RawMessage
	if withPayload {
		if payload, err = s.db.Payload(ctx, id); err != nil {
			return err
		}
	}
	if format == "json" {
		story := newStoryJSON(detail)
		if withPayload {
			return writeIndentedJSON(a.out, storyWithPayloadJSON{story, maskedJSON(payload)})
		}
		return writeIndentedJSON(a.out, story)
	}
	if err := s.writeStory(detail); err != nil || !withPayload {
		return err
	}
	shown := "none"
	if payload != nil {
		shown, _ = s.screen.charset.MaskJSON(payload)
	}
	_, err = fmt.Fprintf(s.out, "\n%s\n%s\n", s.screen.in(theme.Title, "payload"), shown)
	return err
}

// maskedJSON is a payload with its secrets masked; null where there is none.
func maskedJSON(payload json.RawMessage) json.RawMessage {
	if payload == nil {
		return json.RawMessage("null")
	}
	shown, err := text.Unicode.MaskJSON(payload)
	if err != nil {
		encoded, _ := json.Marshal(shown) // a string always can
		return encoded
	}
	return json.RawMessage(shown)
}

func (s *session) writeStory(d store.Detail) error {
	j := d.Job
	fmt.Fprintln(s.out, s.screen.in(theme.Title, s.screen.line(j.ID)))
	fmt.Fprintln(s.out, s.screen.in(theme.OfVerdict(j.Evidence), actions.Headline(j.Evidence)))
	for _, line := range actions.ReadingOf(d) {
		s.paragraph("  ", line)
	}
	fmt.Fprintln(s.out)

	facts := table{columns: []column{{}, {least: 20}}}
	for _, f := range s.facts(d) {
		facts.add(cell{f.name, theme.Dim}, cell{f.value, f.role})
	}
	if err := facts.write(s.out, s.screen); err != nil {
		return err
	}
	if j.ErrorDetail != nil && *j.ErrorDetail != "" {
		fmt.Fprintf(s.out, "\n%s\n", s.screen.in(theme.Title, "error"))
		s.block(*masked(j.ErrorDetail))
	}

	fmt.Fprintf(s.out, "\n%s\n", s.screen.in(theme.Title, "timeline, newest first; times in UTC"))
	events := s.timeline(d)
	if err := events.write(s.out, s.screen); err != nil {
		return err
	}
	for _, hidden := range []struct {
		name       string
		all, shown int
	}{{"attempts", d.Counts.Attempts, len(d.Attempts)}, {"actions", d.Counts.Actions, len(d.Actions)}, {"late reports", d.Counts.LateReports, len(d.LateReports)}} {
		if hidden.all > hidden.shown {
			fmt.Fprintf(s.out, "(%s of %s %s are told, the newest)\n", text.Count(int64(hidden.shown)), text.Count(int64(hidden.all)), hidden.name)
		}
	}
	return nil
}

// paragraph prints untrusted text, wrapped to the screen and indented.
func (s *session) paragraph(indent, untrusted string) {
	safe := s.screen.charset.Sanitize(untrusted)
	if s.screen.width == 0 {
		fmt.Fprintln(s.out, indent+safe)
		return
	}
	for _, line := range text.Wrap(safe, max(s.screen.width-len(indent), 20)) {
		fmt.Fprintln(s.out, indent+line)
	}
}

// block prints untrusted text of many lines.
func (s *session) block(untrusted string) {
	safe := s.screen.charset.SanitizeBlock(untrusted)
	lines := strings.Split(strings.TrimRight(safe, "\n"), "\n")
	if s.screen.width > 0 {
		lines = text.Wrap(strings.TrimRight(safe, "\n"), max(s.screen.width-2, 20))
	}
	for _, line := range lines {
		fmt.Fprintln(s.out, "  "+line)
	}
}

type fact struct {
	name, value string
	role        theme.Role
}

// facts are the fields of an incident report, and those beside them.
func (s *session) facts(d store.Detail) []fact {
	j := d.Job
	state := fmt.Sprintf("%s for %s, version %d", j.State, ageColumn(j.StateAge), j.Version)
	role := theme.Plain
	if j.StuckFor != nil {
		state += ", stuck for " + ageColumn(*j.StuckFor)
		role = theme.Bad
	}
	receipt := "none"
	if d.Receipt != nil {
		receipt = fmt.Sprintf("%s, recorded by %s %s ago", d.Receipt.ReceiptID, d.Receipt.RecordedBy, ageColumn(d.Receipt.RecordedAge))
	} else if j.Evidence.ReceiptID != nil {
		receipt = fmt.Sprintf("%s, only in a late report", *j.Evidence.ReceiptID)
	}
	changed := "as it was enqueued"
	if d.ChangedBy != nil {
		changed = fmt.Sprintf("%s by %s (%s)", utc(d.ChangedAt), *d.ChangedBy, actions.OutcomeWords(orDash(d.ChangedHow)))
	}
	facts := []fact{
		{"state", state, role},
		{"kind", j.Kind, theme.Plain},
		{"source", orDash(j.SourceVersion), theme.Plain},
		{"attempt", fmt.Sprintf("%d of %d", j.Attempt, j.MaxAttempts), theme.Plain},
		{"changed", changed, theme.Plain},
		{"error", orDash(masked(j.ErrorCategory)), theme.Plain},
		{"receipt", receipt, theme.Plain},
		{"effect key", j.EffectKey, theme.Plain},
	}
	if j.Worker != nil {
		worker := *j.Worker
		if j.HeartbeatAge != nil {
			worker += fmt.Sprintf(", heartbeat %s ago, limit %s", ageColumn(*j.HeartbeatAge), text.Duration(j.HeartbeatTimeout))
		}
		if j.ProgressTimeout != nil {
			worker += fmt.Sprintf(", progress %s ago, limit %s", ageOr(j.ProgressAge, "never"), text.Duration(*j.ProgressTimeout))
		}
		facts = append(facts, fact{"worker", worker, theme.Plain})
	}
	if waits := j.State == string(actions.Pending) || j.State == string(actions.Failed); waits && j.DueFor < 0 {
		facts = append(facts, fact{"due", "in " + text.Duration((-j.DueFor).Truncate(time.Second)), theme.Plain})
	}
	return append(facts, fact{"enqueued", utc(d.CreatedAt), theme.Plain})
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
