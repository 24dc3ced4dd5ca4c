package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"jobtop/actions"
)

// target is a job to act on, and what its line said of it.
type target struct {
	id      string
	version int64 // that was seen; 0: not said
	receipt string
}

// lineLimit bounds a line on standard input, in bytes; a job of list -o json is smaller.
const lineLimit = 1 << 20

// targets are the jobs named by the arguments, or by the lines of standard input.
func (a *app) targets(verb actions.Verb, arguments []string, f actFlags) ([]target, error) {
	var targets []target
	if len(arguments) == 1 && arguments[0] == "-" {
		if isTerminal(a.stdin) {
			return nil, usagef("- reads JSON lines from standard input, which is a terminal; pipe jobtop list -o json into it")
		}
		var err error
		if targets, err = readTargets(a.stdin, verb); err != nil {
			return nil, usage(err)
		}
	} else {
		for _, id := range arguments {
			targets = append(targets, target{id, f.seen, f.receipt})
		}
	}
	seen := map[string]bool{}
	for _, t := range targets {
		if seen[t.id] {
			return nil, usagef("%s is given twice", short(t.id))
		}
		seen[t.id] = true
	}
	return targets, nil
}

// readTargets reads one JSON object a line: id, and where they are there version and,
// for done, receipt_id.
func readTargets(r io.Reader, verb actions.Verb) ([]target, error) {
	var targets []target
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), lineLimit)
	for number := 1; lines.Scan(); number++ {
		raw := bytes.TrimSpace(lines.Bytes())
		if len(raw) == 0 {
			continue
		}
		t, err := readTarget(raw, verb)
		if err != nil {
			return nil, fmt.Errorf("line %d of standard input: %w", number, err)
		}
		targets = append(targets, t)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("a line of standard input is longer than %d bytes", lineLimit)
	case err != nil:
		return nil, fmt.Errorf("standard input cannot be read: %w", reason(err))
	case len(targets) == 0:
		return nil, errors.New("standard input holds no jobs; it takes lines as jobtop list -o json prints them")
	}
	return targets, nil
}

func readTarget(raw []byte, verb actions.Verb) (target, error) {
	var line struct {
		ID        *string `json:"id"`
		Version   *int64  `json:"version"`
		ReceiptID *string `json:"receipt_id"`
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) && typed.Field != "" {
			return target{}, fmt.Errorf("its %s is no %s", typed.Field, typeNames[typed.Field])
		}
		return target{}, errors.New(`it is no JSON object such as {"id": "charge-1", "version": 3}`)
	}
	if line.ID == nil || *line.ID == "" {
		return target{}, errors.New("it has no id")
	}
	t := target{id: *line.ID}
	if line.Version != nil {
		if t.version = *line.Version; t.version < 1 {
			return target{}, errors.New("its version is below 1")
		}
	}
	if verb != actions.VerbDone {
		return t, nil
	}
	if line.ReceiptID == nil {
		return target{}, errors.New("it has no receipt_id, which done needs")
	}
	t.receipt = *line.ReceiptID
	return t, actions.ValidReceipt(t.receipt)
}

var typeNames = map[string]string{"id": "text", "version": "whole number", "receipt_id": "text"}
