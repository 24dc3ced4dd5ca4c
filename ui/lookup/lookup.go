// Package lookup asks a provider whether an effect happened, by a command that the
// configuration names for the kind of job. The console and jobtop lookup share it.
//
// The command is a program with its arguments, run without a shell. What it needs to
// know is in its environment: JOBTOP_EFFECT_KEY, JOBTOP_JOB_ID, JOBTOP_KIND,
// JOBTOP_STATE, JOBTOP_ATTEMPT and JOBTOP_VERDICT. What it found it prints: best a JSON
// object whose receipt_id is the provider's identifier, or null where there is none;
// anything else is shown as it is. An exit status other than 0 says that it could not
// find out.
package lookup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
	"jobtop/ui/text"
)

// OutputLimit bounds what is kept of each of a command's two outputs, in bytes.
const OutputLimit = 16 << 10

// Finding is what a lookup told.
type Finding struct {
	// ReceiptID is the provider's identifier, "" where it told none.
	ReceiptID string
	// Structured: the output was a JSON object, so that no receipt in it means that the
	// provider knows of none.
	Structured bool
	// Output is what the command printed, untrusted, and at most OutputLimit of it.
	Output string
	// Cut: there was more.
	Cut  bool
	Took time.Duration
	// Command is the program's name.
	Command string
}

// Run looks a job's effect up. Its error says in words why nothing was found out; what
// the command complained of is part of it, untrusted.
func Run(ctx context.Context, lookup config.Lookup, job store.Job) (Finding, error) {
	name := filepath.Base(lookup.Command[0])
	limit := time.Duration(lookup.Timeout)
	if limit <= 0 {
		limit = config.DefaultLookupTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()

	command := exec.CommandContext(ctx, lookup.Command[0], lookup.Command[1:]...)
	command.Env = environment(job)
	var output, complaint capped
	command.Stdout, command.Stderr = &output, &complaint
	ownGroup(command)
	command.WaitDelay = time.Second // for children that keep the pipes open

	began := time.Now()
	err := command.Run()
	f := Finding{Output: output.text(), Cut: output.cut, Took: time.Since(began), Command: name}
	switch {
	case errors.Is(context.Cause(ctx), errTime):
		return f, fmt.Errorf("%s did not answer within %s, and was ended", name, text.Duration(limit))
	case ctx.Err() != nil:
		return f, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay):
		// The program itself ended well.
	case err != nil:
		return f, explain(name, err, complaint.text())
	}
	return f, f.read()
}

var errTime = errors.New("time is up")

func explain(name string, err error, complaint string) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		var path *os.PathError
		switch {
		case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("there is no program %s; see lookup in the configuration", name)
		case errors.As(err, &path):
			return fmt.Errorf("%s cannot be run: %w", name, path.Err)
		}
		return fmt.Errorf("%s cannot be run: %w", name, err)
	}
	what := fmt.Sprintf("%s could not find out (%s)", name, exit)
	if line, _, _ := strings.Cut(strings.TrimSpace(complaint), "\n"); line != "" {
		what += ": " + text.Unicode.MaskText(line)
	}
	return errors.New(what)
}

// environment is ours, with what is known of the job.
func environment(job store.Job) []string {
	return append(os.Environ(),
		"JOBTOP_EFFECT_KEY="+job.EffectKey,
		"JOBTOP_JOB_ID="+job.ID,
		"JOBTOP_KIND="+job.Kind,
		"JOBTOP_STATE="+job.State,
		"JOBTOP_ATTEMPT="+strconv.Itoa(job.Attempt),
		"JOBTOP_VERDICT="+job.Evidence.Verdict,
	)
}

// read takes the receipt from an output that is a JSON object.
func (f *Finding) read() error {
	if f.Cut {
		return nil
	}
	var object map[string]json.RawMessage
	f.Structured = json.Unmarshal([]byte(f.Output), &object) == nil && object != nil
	if !f.Structured {
		return nil
	}
	var receipt *string
	if raw, ok := object["receipt_id"]; ok && json.Unmarshal(raw, &receipt) != nil {
		return fmt.Errorf("%s printed a receipt_id that is no text", f.Command)
	}
	if receipt == nil || *receipt == "" {
		return nil
	}
	if err := actions.ValidReceipt(*receipt); err != nil {
		return fmt.Errorf("%s printed a receipt_id that cannot be one: %w", f.Command, err)
	}
	f.ReceiptID = *receipt
	return nil
}

// Record is what an action keeps of a lookup.
func (f Finding) Record() json.RawMessage {
	record := struct {
		Command   string  `json:"command"`
		ReceiptID *string `json:"receipt_id"`
		Output    string  `json:"output"`
		Seconds   float64 `json:"took_seconds"`
	}{Command: f.Command, Output: text.Unicode.MaskText(f.Output), Seconds: float64(f.Took.Milliseconds()) / 1000}
	if f.ReceiptID != "" {
		record.ReceiptID = &f.ReceiptID
	}
	// PostgreSQL's jsonb takes no NUL.
	record.Output = strings.ReplaceAll(record.Output, "\x00", "\uFFFD")
	encoded, _ := json.Marshal(record) // strings and numbers always can
	return encoded
}

// capped keeps the first OutputLimit bytes that are written to it, and swallows the rest
// so that the program need not stop.
type capped struct {
	b   bytes.Buffer
	cut bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := OutputLimit - c.b.Len()
	if len(p) > room {
		c.cut = true
		c.b.Write(p[:room])
	} else {
		c.b.Write(p)
	}
	return len(p), nil
}

// text is what was kept, without the half of a character at its end.
func (c *capped) text() string {
	s := c.b.String()
	for i := 1; c.cut && i < utf8.UTFMax && i <= len(s); i++ {
		if tail := s[len(s)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				s = s[:len(s)-i]
			}
			break
		}
	}
	return s
}
