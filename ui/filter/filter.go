// Package filter reads the expression that narrows a list of jobs, such as
//
//	kind:card.charge age>10m !worker:w-7
//
// The console's filter line and jobtop list share it.
package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/nearest"
)

// Fields are the words that a term may begin with.
func Fields() []string {
	return []string{"state", "kind", "worker", "error", "verdict", "version", "id", "effect", "receipt", "age"}
}

// Error says what is wrong with an expression, and where: Term, which begins at byte
// At of it.
type Error struct {
	At   int
	Term string
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Term, e.What) }

// Parse reads an expression. Its terms are separated by blanks, and a job has to meet
// them all, but for the alternatives:
//
//	FIELD:VALUE   the field has that value; "…" around one with blanks, "" where none
//	              is recorded; several values of one field are alternatives
//	id:PREFIX*    the id begins with it; a bare word means the same
//	age>10m       in its state for longer than that; age<10m for less
//	!TERM         the opposite
//
// Errors are of type *Error.
func Parse(expression string) ([]store.Condition, error) {
	var conditions []store.Condition
	for at := 0; at < len(expression); {
		if isBlank(expression[at]) {
			at++
			continue
		}
		end, err := termEnd(expression, at)
		if err != nil {
			return nil, err
		}
		condition, what := parseTerm(expression[at:end])
		if what != "" {
			return nil, &Error{At: at, Term: expression[at:end], What: what}
		}
		conditions = append(conditions, condition)
		at = end
	}
	return conditions, nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// termEnd finds the blank that ends the term at start, past quotes.
func termEnd(s string, start int) (int, error) {
	for i := start; i < len(s); i++ {
		switch {
		case isBlank(s[i]):
			return i, nil
		case s[i] == '"' && i > start && strings.IndexByte(":<>", s[i-1]) >= 0:
			quoted, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return 0, &Error{At: start, Term: s[start:], What: "the quote is not closed"}
			}
			end := i + len(quoted)
			if end < len(s) && !isBlank(s[end]) {
				return 0, &Error{At: start, Term: s[start:], What: "a blank is missing after the closing quote"}
			}
			return end, nil
		}
	}
	return len(s), nil
}

// parseTerm reads one term, or says what is wrong with it.
func parseTerm(term string) (c store.Condition, wrong string) {
	rest := term
	for strings.HasPrefix(rest, "!") {
		c.Not = !c.Not
		rest = rest[1:]
	}
	cut := strings.IndexAny(rest, ":<>")
	if cut < 0 {
		if rest == "" {
			return c, "nothing follows the !"
		}
		c.Field, c.Value = "id", strings.TrimSuffix(rest, "*")+"*"
		return c, ""
	}
	c.Field = strings.ToLower(rest[:cut])
	operator, value := rest[cut], rest[cut+1:]
	if !slices.Contains(Fields(), c.Field) {
		return c, fmt.Sprintf("there is no field %q%s; there are %s", c.Field, nearest.DidYouMean(c.Field, Fields()), strings.Join(Fields(), ", "))
	}
	switch {
	case value == "":
		return c, "the value is missing"
	case strings.HasPrefix(value, `"`):
		unquoted, err := strconv.Unquote(value)
		if err != nil {
			return c, "the quoted value cannot be read"
		}
		value = unquoted
	}
	c.Value = value
	wrong = check(&c, operator)
	return c, wrong
}

// check says what is wrong with a value, and brings it into the form that the store knows.
func check(c *store.Condition, operator byte) (wrong string) {
	if c.Field == "age" {
		age, err := ParseAge(c.Value)
		switch {
		case operator == ':':
			return "an age is compared: age>10m or age<10m"
		case err != nil:
			return err.Error()
		}
		if operator == '<' {
			c.Not = !c.Not
		}
		c.Value = age.String()
		return ""
	}
	if operator != ':' {
		return fmt.Sprintf("only ages are compared with %c; write %s:VALUE", operator, c.Field)
	}
	switch c.Field {
	case "state":
		return oneOf(c, states())
	case "verdict":
		return oneOf(c, verdicts)
	}
	return ""
}

func oneOf(c *store.Condition, words []string) (wrong string) {
	word := strings.ReplaceAll(strings.ToLower(c.Value), " ", "_")
	if !slices.Contains(words, word) {
		return fmt.Sprintf("there is no %s %q%s; there are %s", c.Field, c.Value, nearest.DidYouMean(word, words), strings.Join(words, ", "))
	}
	c.Value = word
	return ""
}

func states() []string {
	var words []string
	for _, s := range actions.States() {
		words = append(words, string(s))
	}
	return words
}

var verdicts = []string{
	store.VerdictHappened, store.VerdictMayHaveHappened, store.VerdictNotKnown, store.VerdictDidNotHappen, store.VerdictNeverStarted,
}

// Format writes conditions as an expression that Parse reads back.
func Format(conditions []store.Condition) string {
	var b strings.Builder
	for i, c := range conditions {
		if i > 0 {
			b.WriteByte(' ')
		}
		not, operator := c.Not, ":"
		if c.Field == "age" {
			operator = ">"
			if not {
				not, operator = false, "<"
			}
		}
		if not {
			b.WriteByte('!')
		}
		b.WriteString(c.Field + operator)
		if c.Value == "" || strings.ContainsFunc(c.Value, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || !unicode.IsPrint(r) }) {
			b.WriteString(strconv.Quote(c.Value))
		} else {
			b.WriteString(c.Value)
		}
	}
	return b.String()
}

// ParseAge reads an age above zero: a duration as Go writes it, with weeks (w) and days
// (d) before the hours where they are needed.
func ParseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	age, rest := time.Duration(0), s
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * day}, {"d", day}} {
		if number, after, found := strings.Cut(rest, unit.name); found {
			n, err := strconv.ParseUint(number, 10, 12)
			if err != nil {
				return 0, notAge(s)
			}
			age, rest = age+time.Duration(n)*unit.length, after
		}
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d > longestAge {
			return 0, notAge(s)
		}
		age += d
	}
	if age <= 0 {
		return 0, notAge(s)
	}
	return age, nil
}

// longestAge bounds the hours of an age, which could overflow it otherwise.
const longestAge = 100 * 365 * 24 * time.Hour

func notAge(s string) error {
	return fmt.Errorf("%q is no age; write it as 30s, 10m, 2h or 3d", s)
}
