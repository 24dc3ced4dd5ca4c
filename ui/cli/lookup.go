package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jobtop/store"
	"jobtop/ui/lookup"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

func (a *app) newLookupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lookup ID",
		GroupID: groupLook,
		Short:   "Look a job's effect up at its provider",
		Long: `lookup runs the command that the configuration names for the job's kind. It gets the
effect key in JOBTOP_EFFECT_KEY, and prints what it found: best a JSON object with a
receipt_id, null where the provider knows of none. No shell is involved.

Its exit status is 0 when the command could tell, whatever it told, and 1 otherwise.`,
		Example: `  jobtop lookup charge-10442

  # in config.toml; "*" is for every other kind
  [lookup."card.charge"]
  command = ["/usr/local/bin/find-charge", "--live"]
  timeout = "10s"`,
		Args: oneArgument("the id of a job"),
	}
	output := outputFlag(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		return a.lookUp(cmd.Context(), arguments[0], output.value)
	}
	return cmd
}

// lookupJSON is what lookup prints.
type lookupJSON struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	State     string   `json:"state"`
	Version   int64    `json:"version"`
	EffectKey string   `json:"effect_key"`
	EffectAge *seconds `json:"effect_age_seconds"` // of the intent; null where there is none
	ReceiptID *string  `json:"receipt_id"`         // null: the command told none
	Output    string   `json:"output"`             // secrets masked
	Cut       bool     `json:"output_cut"`
	Took      seconds  `json:"took_seconds"`
}

func (a *app) lookUp(ctx context.Context, id, format string) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	job, err := s.db.Row(ctx, id)
	s.close() // the command may take its time
	if err != nil {
		return err
	}
	command, ok := a.config.LookupFor(job.Kind)
	if !ok {
		return fmt.Errorf("no lookup is configured for the kind %s; see jobtop lookup --help", short(job.Kind))
	}
	found, err := lookup.Run(ctx, command, job)
	if err != nil {
		return err
	}
	a.log.Info("lookup", "job_id", job.ID, "command", found.Command, "receipt_id", found.ReceiptID)
	if format == "json" {
		result := lookupJSON{ID: job.ID, Kind: job.Kind, State: job.State, Version: job.Version, EffectKey: job.EffectKey, EffectAge: secondsOf(job.EffectAge),
			Output: text.Unicode.MaskText(found.Output), Cut: found.Cut, Took: seconds(found.Took)}
		if found.ReceiptID != "" {
			result.ReceiptID = &found.ReceiptID
		}
		return writeIndentedJSON(a.out, result)
	}
	return s.writeFinding(job, found)
}

func (s *session) writeFinding(job store.Job, found lookup.Finding) error {
	fmt.Fprintf(s.out, "%s  %s  effect key %s\n", short(job.ID), s.screen.charset.Sanitize(job.Kind), short(job.EffectKey))
	switch {
	case found.ReceiptID != "":
		fmt.Fprintf(s.out, "%s: receipt %s\n", s.screen.in(theme.Good, "found"), s.screen.charset.Sanitize(found.ReceiptID))
		fmt.Fprintf(s.out, "to record it: jobtop done %s --seen %d --receipt %s --reason TEXT\n",
			s.screen.charset.Sanitize(quoted(job.ID)), job.Version, s.screen.charset.Sanitize(quoted(found.ReceiptID)))
		return nil
	case found.Structured:
		fmt.Fprintf(s.out, "%s: the provider knows of no receipt\n", s.screen.in(theme.Warn, "not found"))
	default:
		fmt.Fprintln(s.out, "the command printed:")
	}
	if strings.TrimSpace(found.Output) != "" {
		s.block(text.Unicode.MaskText(found.Output))
		if found.Cut {
			fmt.Fprintf(s.out, "  (and more; %s are kept)\n", text.Bytes(lookup.OutputLimit))
		}
	}
	if age := job.EffectAge; age != nil && found.ReceiptID == "" {
		fmt.Fprintf(s.out, "that is no proof while a worker may still call: the intent is %s old\n", text.Duration(age.Truncate(time.Second)))
	}
	return nil
}

// quoted writes a word so that a shell reads it as it is.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/@+,") == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
