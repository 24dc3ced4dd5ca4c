package filter

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jobtop/store"
)

func TestParse(t *testing.T) {
	for expression, want := range map[string][]store.Condition{
		"":                                     nil,
		" \t ":                                 nil,
		"kind:card.charge age>10m !worker:w-7": {{Field: "kind", Value: "card.charge"}, {Field: "age", Value: "10m0s"}, {Field: "worker", Value: "w-7", Not: true}},
		"age<3d":                               {{Field: "age", Value: "72h0m0s", Not: true}},
		"!age<1w":                              {{Field: "age", Value: "168h0m0s"}},
		"charge-1":                             {{Field: "id", Value: "charge-1*"}},
		"!charge-1*":                           {{Field: "id", Value: "charge-1*", Not: true}},
		"id:charge-10442":                      {{Field: "id", Value: "charge-10442"}},
		"!!kind:a":                             {{Field: "kind", Value: "a"}},
		"State:REVIEW":                         {{Field: "state", Value: "review"}},
		`verdict:"may have happened"`:          {{Field: "verdict", Value: "may_have_happened"}},
		`error:"provider timeout" kind:a`:      {{Field: "error", Value: "provider timeout"}, {Field: "kind", Value: "a"}},
		`effect:a:b:c receipt:ch_1`:            {{Field: "effect", Value: "a:b:c"}, {Field: "receipt", Value: "ch_1"}},
		`worker:"say \"hi\" \u202e"`:           {{Field: "worker", Value: "say \"hi\" \u202e"}},
		"version:v4.2.1\n\tkind:invoice.send":  {{Field: "version", Value: "v4.2.1"}, {Field: "kind", Value: "invoice.send"}},
		`worker:"" age>1w2d3h`:                 {{Field: "worker", Value: ""}, {Field: "age", Value: "219h0m0s"}},
		"age>90s":                              {{Field: "age", Value: "1m30s"}},
		"worker:it's-a\"quote-inside":          {{Field: "worker", Value: "it's-a\"quote-inside"}},
	} {
		if got, err := Parse(expression); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", expression, got, err, want)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	for expression, want := range map[string]struct {
		at   int
		text string
	}{
		"kind:a wroker:w-7":         {7, `wroker:w-7: there is no field "wroker" (did you mean worker?); there are state, kind, worker,`},
		"state:revew":               {0, `there is no state "revew" (did you mean review?)`},
		"verdict:maybe":             {0, `there is no verdict "maybe"`},
		"age:10m":                   {0, "an age is compared: age>10m or age<10m"},
		"age>soon":                  {0, `"soon" is no age; write it as 30s, 10m, 2h or 3d`},
		"age>-5m":                   {0, `"-5m" is no age`},
		"age>0s":                    {0, `"0s" is no age`},
		"age>99999999999999999999d": {0, "is no age"},
		"kind>a":                    {0, "only ages are compared with >; write kind:VALUE"},
		"a kind:":                   {2, "kind:: the value is missing"},
		"a !":                       {2, "!: nothing follows the !"},
		`kind:"a b`:                 {0, "the quote is not closed"},
		`kind:"a"b`:                 {0, "a blank is missing after the closing quote"},
		":x":                        {0, `there is no field ""`},
	} {
		_, err := Parse(expression)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.At != want.at || !strings.Contains(err.Error(), want.text) {
			t.Errorf("Parse(%q): %v, want at %d: %s", expression, err, want.at, want.text)
		}
	}
}

// What Format writes, Parse reads back; for whatever values.
func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var conditions []store.Condition
		for range rapid.IntRange(0, 4).Draw(t, "terms") {
			c := store.Condition{Field: rapid.SampledFrom(Fields()).Draw(t, "field"), Not: rapid.Bool().Draw(t, "not")}
			switch c.Field {
			case "state":
				c.Value = rapid.SampledFrom(states()).Draw(t, "state")
			case "verdict":
				c.Value = rapid.SampledFrom(verdicts).Draw(t, "verdict")
			case "age":
				c.Value = (time.Duration(rapid.Int64Range(1, 1e18).Draw(t, "age"))).String()
			default:
				c.Value = rapid.StringN(0, 20, -1).Draw(t, "value")
			}
			conditions = append(conditions, c)
		}
		got, err := Parse(Format(conditions))
		if err != nil || !reflect.DeepEqual(got, conditions) {
			t.Fatalf("%q: got %+v, %v", Format(conditions), got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"kind:a age>10m !worker:w-7", `error:"x y"`, "!", "age<", "\"", ":", "id:*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		conditions, err := Parse(s)
		var wrong *Error
		switch {
		case err == nil:
			again, err := Parse(Format(conditions))
			if err != nil || !reflect.DeepEqual(again, conditions) {
				t.Errorf("%q gives %+v, and %q gives %+v, %v", s, conditions, Format(conditions), again, err)
			}
		case !errors.As(err, &wrong) || wrong.At < 0 || wrong.At > len(s):
			t.Errorf("%q: %v", s, err)
		}
	})
}
