package actions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits, in characters. The database has the same.
const (
	ReasonLimit   = 1000
	ReceiptLimit  = 200
	OperatorLimit = 200
)

// InvalidError says that an order cannot be sent as it is. Nothing was sent.
type InvalidError struct{ What string }

func (e *InvalidError) Error() string { return e.What }

func invalid(format string, arguments ...any) error {
	return &InvalidError{What: fmt.Sprintf(format, arguments...)}
}

// ValidReason checks a reason: 1 to ReasonLimit characters without the blanks around
// it, on one line. The error is an InvalidError.
func ValidReason(s string) error { return validText("reason", s, ReasonLimit) }

// ValidReceipt checks a receipt ID: 1 to ReceiptLimit characters without the blanks
// around it, all of them visible. The error is an InvalidError.
func ValidReceipt(s string) error {
	if err := validText("receipt ID", s, ReceiptLimit); err != nil {
		return err
	}
	// Two receipt IDs must not look the same and differ.
	for _, r := range strings.TrimSpace(s) {
		if !unicode.IsPrint(r) {
			return invalid("the receipt ID holds an invisible character (U+%04X); type it without", r)
		}
	}
	return nil
}

// ValidOperator checks an operator's name: 1 to OperatorLimit characters, on one line.
// The error is an InvalidError.
func ValidOperator(s string) error { return validText("operator's name", s, OperatorLimit) }

func validText(what, s string, limit int) error {
	s = strings.TrimSpace(s)
	switch {
	case !utf8.ValidString(s):
		return invalid("the %s is not valid UTF-8", what)
	case !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }):
		return invalid("the %s is empty", what)
	case utf8.RuneCountInString(s) > limit:
		return invalid("the %s has %d characters; at most %d are kept", what, utf8.RuneCountInString(s), limit)
	}
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return invalid("the %s holds a control character (U+%04X); type it on one line", what, r)
		}
	}
	return nil
}

// valid checks all that can be known of an order before it is sent.
func (o Order) valid() error {
	switch {
	case !o.Verb.Known():
		return invalid("there is no verb %q; the verbs are requeue, done, dead and hold", o.Verb)
	case o.JobID == "":
		return invalid("the job id is empty")
	case !utf8.ValidString(o.JobID) || strings.ContainsRune(o.JobID, 0):
		return invalid("the job id %q cannot be one", o.JobID)
	case !o.SeenState.Known() || o.SeenVersion < 1:
		return invalid("an act on %s must say in which state and version the job was seen", o.JobID)
	case o.Delay < 0 || o.Delay > 0 && o.Verb != VerbRequeue:
		return invalid("only a requeue can be delayed, and not into the past")
	case o.ReceiptID != "" && o.Verb != VerbDone:
		return invalid("only done takes a receipt ID")
	case o.Lookup != nil && !json.Valid(o.Lookup):
		return invalid("what the lookup found is no JSON")
	}
	for _, c := range o.Confirmations {
		if !slices.Contains([]string{MayHaveHappened, Stop}, c) {
			return invalid("there is no confirmation %q", c)
		}
	}
	if err := ValidReason(o.Reason); err != nil {
		return err
	}
	if o.Verb == VerbDone {
		return ValidReceipt(o.ReceiptID)
	}
	return nil
}
