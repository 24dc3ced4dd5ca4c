package text

import (
	"encoding/csv"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1204: "1,204", 9_930_000: "9,930,000", -1204: "-1,204", -100: "-100",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	if got, want := Capped(10_000), "10,000+"; got != want {
		t.Errorf("Capped = %q, want %q", got, want)
	}
}

func TestEstimated(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "?", 0: "≈0", 940: "≈940", 999: "≈999", 1000: "≈1.00k", 1204: "≈1.20k", 9994: "≈9.99k", 9995: "≈10.0k", 12_345: "≈12.3k",
		99_950: "≈100k", 999_499: "≈999k", 999_500: "≈1.00M", 9_930_000: "≈9.93M", 70_400_000_000: "≈70.4G",
		math.MaxInt64: "≈9.22E",
	} {
		if got := Unicode.Estimated(n); got != want {
			t.Errorf("Estimated(%d) = %q, want %q", n, got, want)
		}
	}
	if got, want := ASCII.Estimated(9_930_000), "~9.93M"; got != want {
		t.Errorf("ASCII.Estimated = %q, want %q", got, want)
	}
}

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.001: "<0.1/min", 0.0999: "<0.1/min", 0.1: "0.1/min", 0.4: "0.4/min", 1.2: "1.2/min", 2: "2.0/min", 9.94: "9.9/min",
		9.96: "10/min", 41.4: "41/min", 1204: "1,204/min", 2_500_000: "2.50M/min", -1: "?", math.Inf(1): "?",
	} {
		if got := Rate(v); got != want {
			t.Errorf("Rate(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Rate(math.NaN()); got != "?" {
		t.Errorf("Rate(NaN) = %q", got)
	}
}

func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 %", 0.0001: "<0.1 %", 0.004: "0.4 %", 0.02: "2 %", 0.0234: "2.3 %", 0.123: "12 %", 0.994: "99 %", 0.9999: ">99 %", 1: "100 %",
		2.5: "250 %", -0.1: "?",
	} {
		if got := Percent(v); got != want {
			t.Errorf("Percent(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "?", 0: "0 B", 512: "512 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 10_239: "10 KiB", 1<<20 - 1: "1.0 MiB",
		12 << 20: "12 MiB", math.MaxInt64: "8.0 EiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "<1s", 999 * time.Millisecond: "<1s", time.Second: "1s", 38*time.Second + 999: "38s", 59 * time.Second: "59s", time.Minute: "1m",
		14*time.Minute + 59*time.Second: "14m", 2*time.Hour + 59*time.Minute: "2h", 23 * time.Hour: "23h", 3 * day: "3d", 364 * day: "364d",
		365 * day: "1y", math.MaxInt64: "292y", -1: "clock went back", math.MinInt64: "clock went back",
	} {
		if got := Age(d); got != want {
			t.Errorf("Age(%v) = %q, want %q", d, got, want)
		}
	}
	if got := AgeColumn(-time.Hour); got != "<0s" {
		t.Errorf("AgeColumn = %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		if got := AgeColumn(d); Width(got) > 4 {
			t.Fatalf("AgeColumn(%v) = %q is wider than 4", d, got)
		}
	})
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 900: "<1ms", 4 * time.Millisecond: "4ms", 999*time.Millisecond + 999: "999ms", time.Second: "1.0s", 4150 * time.Millisecond: "4.1s",
		9999 * time.Millisecond: "9.9s", 38500 * time.Millisecond: "38s", 125 * time.Second: "2m05s", 72 * time.Minute: "1h12m",
		76 * time.Hour: "3d04h", -4150 * time.Millisecond: "-4.1s", math.MinInt64: "-106751d23h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(100*day)-1).Draw(t, "d"))
		if got := Duration(d); Width(got) > 6 {
			t.Fatalf("Duration(%d) = %q is wider than 6", d, got)
		}
	})
}

func TestCSVCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "charge-1": "charge-1", "=1+1": "'=1+1", "+1 555": "'+1 555", "@SUM(A1)": "'@SUM(A1)", "-2+3": "'-2+3",
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "＝1": "'＝1",
		"-5": "-5", "+5": "+5", "-1.50e-3": "-1.50e-3", "-.5": "-.5", "-5.": "-5.", "-": "-", "-5x": "'-5x", "--5": "'--5", "+": "'+",
		"-1e": "'-1e", "-1,204": "'-1,204", "'=1": "'=1", "1=1": "1=1", "+-5": "'+-5",
	} {
		if got := CSVCell(in); got != want {
			t.Errorf("CSVCell(%q) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		w := csv.NewWriter(&b)
		in := rapid.StringMatching(`[=+@\-\t0-9.e' a]{0,8}`).Draw(t, "in")
		if err := w.Write([]string{CSVCell(in), "end"}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		// A lone minus, or a number with its sign, is all a spreadsheet may still compute.
		cell := strings.TrimPrefix(b.String(), `"`)
		if first := cell[0]; strings.IndexByte("=+-@\t", first) >= 0 && in != "-" && !number(in) {
			t.Fatalf("%q is written as %q", in, b.String())
		}
	})
}
