package machine

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", name, got, want)
	}
}

func plain(lines []theme.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.Text(), " ") + "\n")
	}
	return b.String()
}

func TestDraw(t *testing.T) {
	busy := Figures{
		Pending: "1,204", Running: "40", Done: "≈9.93M", Review: "12", Failed: "61", Dead: "70", Due: "1,180", OldestDue: "38s",
		Claimed: "41/min", Completed: "39/min", Unknown: "0.4/min", Failing: "1.2/min", Dying: "0.1/min", Requeued: "0.2/min", Selected: "review",
	}
	full := Figures{
		Pending: "10,000+", Running: "10,000+", Done: "≈70.4G", Review: "10,000+", Failed: "10,000+", Dead: "10,000+", Due: "10,000+", OldestDue: "364d",
		Claimed: "9,999/min", Completed: "2.50M/min", Unknown: "<0.1/min", Failing: "9,999/min", Dying: "<0.1/min", Requeued: "9,999/min", Selected: "pending",
	}
	counted := Figures{
		Pending: "1,234,567", Running: "40", Done: "9,993,011,234", Review: "≈1.23M", Failed: "≈800k+", Dead: "70", Due: "10,000+", OldestDue: "2h",
		Claimed: "41/min", Completed: "39/min", Selected: "pending",
	}
	for name, f := range map[string]Figures{"busy": busy, "counted": counted, "empty": {Pending: "0", Running: "0", Done: "0", Review: "0", Failed: "0", Dead: "0", Due: "0"}, "full": full} {
		for set, charset := range map[string]text.Charset{"unicode": text.Unicode, "ascii": text.ASCII} {
			th, err := theme.New("none", charset)
			if err != nil {
				t.Fatal(err)
			}
			f := f
			if charset == text.ASCII {
				for _, figure := range []*string{&f.Done, &f.Review, &f.Failed} {
					*figure = strings.ReplaceAll(*figure, "≈", "~")
				}
			}
			drawn := plain(Draw(f, th.Glyphs)) + "\n" + plain(Compact(f, th.Glyphs))
			if charset == text.ASCII && text.ASCII.SanitizeBlock(drawn) != drawn {
				t.Errorf("%s is not ASCII:\n%s", name, drawn)
			}
			golden(t, name+"-"+set, drawn)
		}
	}
}
