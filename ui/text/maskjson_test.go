package text

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMaskJSON(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"null", `null`, `null`},
		{"string", ` "a" `, `"a"`},
		{"empty", `{"a":{},"b":[ ]}`, "{\n  \"a\": {},\n  \"b\": []\n}"},
		{"exact numbers", `[1970670598291982290,1e400,0.10,-0,1E+2,123456789012345678901234567890]`,
			"[\n  1970670598291982290,\n  1e400,\n  0.10,\n  -0,\n  1E+2,\n  123456789012345678901234567890\n]"},
		{"order and duplicates", `{"b":1,"a":2,"b":3}`, "{\n  \"b\": 1,\n  \"a\": 2,\n  \"b\": 3\n}"},
		{"nested", `[{"a":[true,false,null]}]`, "[\n  {\n    \"a\": [\n      true,\n      false,\n      null\n    ]\n  }\n]"},
		{"every type masked", `{"token":"x","pin":1,"otp":true,"card":{"n":[4]},"cookies":["a"],"cvv":{},"pan":[],"pwd":""}`,
			`{
  "token": "••••",
  "pin": "••••",
  "otp": "••••",
  "card": "••••",
  "cookies": "••••",
  "cvv": "••••",
  "pan": "••••",
  "pwd": "••••"
}`},
		{"null tells nothing", `{"token":null}`, "{\n  \"token\": null\n}"},
		{"after a masked value", `{"card":{"a":{"b":1}},"id":7}`, "{\n  \"card\": \"••••\",\n  \"id\": 7\n}"},
		{"false friends", `{"shipping":1,"discard":2,"author":"x"}`, "{\n  \"shipping\": 1,\n  \"discard\": 2,\n  \"author\": \"x\"\n}"},
		{"escaped key", `{"pass\u0077ord":"x"}`, "{\n  \"password\": \"••••\"\n}"},
		{"name and value", `[{"name":"Authorization","value":"x"},{"name":"Accept","value":"y"}]`,
			"[\n  {\n    \"name\": \"Authorization\",\n    \"value\": \"••••\"\n  },\n  {\n    \"name\": \"Accept\",\n    \"value\": \"y\"\n  }\n]"},
		{"token in a string", `["Bearer abc"]`, "[\n  \"Bearer ••••\"\n]"},
		{"secret as a key", `{"sk_live_abc":1}`, "{\n  \"••••\": 1\n}"},
		{"JSON in a string", `{"body":"{\"password\":\"x\",\"id\":1}"}`, "{\n  \"body\": \"{\\\"password\\\":\\\"••••\\\",\\\"id\\\":1}\"\n}"},
		{"unsafe characters", `["\u001b[2J\u202e\u0000\n\"\\\/é\ud83d\ude00` + "\u202e\U000e0041" + `"]`,
			"[\n  \"\\u001b[2J\\u202e\\u0000\\n\\\"\\\\/é😀\\u202e\\udb40\\udc41\"\n]"},
		{"half a pair", `"\ud83d x"`, "\"\ufffd x\""},
		{"not UTF-8", "\"a\xff\"", "\"a\ufffd\""},
		{"marks", `"` + "\u0301a\u0301" + `"`, `"\u0301a` + "\u0301" + `"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Unicode.MaskJSON([]byte(tc.in))
			if err != nil || got != tc.want {
				t.Errorf("MaskJSON(%s) =\n%s\n%v, want\n%s", tc.in, got, err, tc.want)
			}
		})
	}
	if got, _ := ASCII.MaskJSON([]byte(`{"token":"x","n":"é😀"}`)); got != "{\n  \"token\": \"****\",\n  \"n\": \"\\u00e9\\ud83d\\ude00\"\n}" {
		t.Errorf("ASCII.MaskJSON = %s", got)
	}
}

func TestMaskJSONMalformed(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "not JSON at byte 0: it ends early",
		"  ":                          "not JSON at byte 2: it ends early",
		"{":                           "not JSON at byte 1: it ends early",
		`{"a"}`:                       "not JSON at byte 4: unexpected character",
		`{"a":1,}`:                    "not JSON at byte 7: unexpected character",
		`[1,]`:                        "not JSON at byte 3: unexpected character",
		`[1}`:                         "not JSON at byte 2: unexpected character",
		`1 2`:                         "not JSON at byte 2: unexpected character",
		`01`:                          "not JSON at byte 0: bad number",
		`1.`:                          "not JSON at byte 2: bad number",
		`-`:                           "not JSON at byte 1: bad number",
		`1e`:                          "not JSON at byte 2: bad number",
		`nul`:                         "not JSON at byte 0: unexpected character",
		`NaN`:                         "not JSON at byte 0: unexpected character",
		`"abc`:                        "not JSON at byte 4: it ends early",
		`"\x"`:                        "not JSON at byte 1: bad string",
		`"\u12g4"`:                    "not JSON at byte 1: bad string",
		"\"a\nb\"":                    "not JSON at byte 2: bad string",
		"]":                           "not JSON at byte 0: unexpected character",
		"\x00":                        "not JSON at byte 0: unexpected character",
		strings.Repeat("[", 100_000):  "not JSON at byte 100000: it ends early",
		strings.Repeat("{\"a\":", 50): "not JSON at byte 250: it ends early",
	} {
		if _, err := Unicode.MaskJSON([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("MaskJSON(%.40q): %v, want %s", in, err, want)
		}
	}
	got, err := Unicode.MaskJSON([]byte("{\"password\":\"hunter2\",\x1b[2J\n\t\"id\":"))
	if want := "{\"password\":\"••••\",\\x1b[2J\n    \"id\":"; err == nil || got != want {
		t.Errorf("MaskJSON = %q, %v, want %q", got, err, want)
	}
}

func TestMaskJSONDeep(t *testing.T) {
	const levels = 100_000
	got, err := Unicode.MaskJSON([]byte(strings.Repeat(`{"a":[`, levels) + "7" + strings.Repeat("]}", levels)))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(got, "… deeper than 100 levels, not shown"); n != 1 {
		t.Errorf("it says %d times that something is not shown", n)
	}
	if len(got) > 50_000 || strings.Contains(got, "7") || !json.Valid([]byte(got)) {
		t.Errorf("%d bytes, valid: %v", len(got), json.Valid([]byte(got)))
	}
	exact := strings.Repeat("[", depthMost) + "7" + strings.Repeat("]", depthMost)
	if got, err := Unicode.MaskJSON([]byte(exact)); err != nil || !strings.Contains(got, "7") {
		t.Errorf("%d levels are not shown: %v", depthMost, err)
	}
}

func TestMaskJSONIsLinear(t *testing.T) {
	for _, doc := range []struct{ start, unit, end string }{
		{"", "[", ""},
		{"", `{"token":`, ""},
		{`{"token":`, "[", ""},
		{`{"`, "aB_", `":1}`},
		{`"`, `\u0301`, `"`},
		{"[", `{"name":"token","value":1},`, "1]"},
		{`{"name":"`, "ab ", `"}`},
		{"[", "1,", "1]"},
		{"", "[{},", ""},
	} {
		checkLinear(t, doc.unit, func(s string) { _, _ = Unicode.MaskJSON([]byte(doc.start + s + doc.end)) })
	}
}

// jsonValue draws a value as encoding/json decodes it, with keys that tell nothing.
func jsonValue(depth int) *rapid.Generator[any] {
	scalars := rapid.OneOf(
		rapid.Map(rapid.StringMatching(`[a-h\t\n "\\/é東\x{202e}\x{1F600}]{0,12}`), func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Float64(), func(n float64) any { return n }),
		rapid.SampledFrom([]any{nil, true, false, "", json.Number("1e400"), json.Number("0.10"), json.Number("1970670598291982290")}),
	)
	if depth == 0 {
		return scalars
	}
	return rapid.OneOf(
		scalars,
		rapid.Map(rapid.SliceOfN(jsonValue(depth-1), 0, 4), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-h"\x{202e}]{0,5}`), jsonValue(depth-1), 0, 4), func(v map[string]any) any { return v }),
	)
}

func TestMaskJSONMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(jsonValue(4).Draw(t, "value"))
		if err != nil {
			t.Skip("not a number that JSON has")
		}
		for _, c := range []Charset{Unicode, ASCII} {
			out, err := c.MaskJSON(raw)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			if got, want := decode(t, []byte(out)), decode(t, raw); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s became %s", raw, out)
			}
		}
	})
}

// decode keeps numbers as they are written.
func decode(t fataler, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

const canary = "Zq7wKx"

func TestMaskJSONHidesEverySecret(t *testing.T) {
	keys := []string{"password", "accessToken", "API-KEY", "card_number", "Set-Cookie", "clientSecret", "x-signature"}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.OneOf(
			rapid.Just[any](canary),
			rapid.Just[any](map[string]any{"a": []any{canary}, canary: 1}),
			rapid.Just[any]([]any{map[string]any{"id": canary}}),
		).Draw(t, "secret")
		var doc any = map[string]any{rapid.SampledFrom(keys).Draw(t, "key"): secret, "id": 1}
		for range rapid.IntRange(0, 8).Draw(t, "depth") {
			switch rapid.IntRange(0, 2).Draw(t, "wrap") {
			case 0:
				doc = []any{1, doc, "x"}
			case 1:
				doc = map[string]any{"order": doc, "z": nil}
			case 2:
				inner, err := json.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				// More than one level of JSON in JSON is beyond the patterns.
				if strings.Contains(string(inner), `\"`) {
					continue
				}
				doc = map[string]any{"body": string(inner)}
			}
		}
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := Unicode.MaskJSON(raw); err != nil || strings.Contains(out, canary) {
			t.Fatalf("%s\n%s\n%v", raw, out, err)
		}
		// Cut short it is no JSON, and must keep its secrets all the same.
		cut := raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "cut")]
		if out, _ := Unicode.MaskJSON(cut); strings.Contains(out, canary) {
			t.Fatalf("%s\n%s", cut, out)
		}
	})
}

// FuzzMaskJSON compares with encoding/json what is JSON and what it means.
func FuzzMaskJSON(f *testing.F) {
	for _, in := range []string{
		`{"id":1970670598291982290}`, `[1e400,0.10,-0]`, `{"token":{"a":[1]},"b":"\ud83d\ude00\u202e"}`, `{"name":"cookie","value":1}`, `"Bearer x"`,
		`{"a":"{\"password\":\"x\"}"}`, `[[[[`, `{"a":tru`, "\"\xff\"", `"\ud800\u0041"`, `{"":{"":[]}}`, ` [ ] `, `01`, `"\u0301"`,
	} {
		f.Add([]byte(in), false)
	}
	f.Fuzz(func(t *testing.T, raw []byte, ascii bool) {
		c := Unicode
		if ascii {
			c = ASCII
		}
		out, err := c.MaskJSON(raw)
		if c.SanitizeBlock(out) != out {
			t.Fatalf("unsafe: %+q", out)
		}
		if valid := json.Valid(raw); valid != (err == nil) {
			t.Fatalf("%q: %v, but valid JSON: %v", raw, err, valid)
		}
		if err != nil {
			return
		}
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q became %q, which is no JSON", raw, out)
		}
		again, err := c.MaskJSON([]byte(out))
		if err != nil || (again != out && !strings.Contains(out, c.Mask())) {
			t.Fatalf("%q became %q, then %q", raw, out, again)
		}
		// Where nothing was masked nothing may have changed.
		if !strings.Contains(out, c.Mask()) && !strings.Contains(out, "deeper than") && utf8.Valid(raw) {
			if got, want := decode(t, []byte(out)), decode(t, raw); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q became %q", raw, out)
			}
		}
	})
}

func BenchmarkMaskJSON(b *testing.B) {
	row := `{"id":1970670598291982290,"customer":{"name":"Zoë","card":{"number":"4111111111111111"}},"amount":"0.10","note":"provider timeout\n"},`
	for name, doc := range map[string]string{
		"1MB":    "[" + strings.Repeat(row, 7800) + "1]",
		"string": `"` + strings.Repeat("provider timeout after 30s ", 39_000) + `"`,
		"deep":   strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000),
	} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(doc)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Unicode.MaskJSON(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
