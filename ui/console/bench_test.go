package console

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkKey is a key with 10,000 rows loaded: Update and View. Its figure is the 99th
// percentile, which has to stay under 20 ms.
func BenchmarkKey(b *testing.B) {
	d := loaded(b, 10_000)
	keys := []string{"j", "j", "j", "pgdown", "G", "k", "g", " ", "w", "ctrl+d"}
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		_, _ = d.m.Update(keyMsg(keys[i%len(keys)]))
		_ = d.m.View()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkReading is a new reading of the page on the screen, with 10,000 rows loaded.
func BenchmarkReading(b *testing.B) {
	d := loaded(b, 10_000)
	l := d.m.screen().(*list)
	b.ReportAllocs()
	for b.Loop() {
		d.run(l.refresh())
		_ = d.m.View()
	}
}

func loaded(tb testing.TB, n int) *driver {
	tb.Helper()
	d := start(tb, many(n), 140, 45)
	d.run(d.m.run("review bulk-*"))
	l := d.m.screen().(*list)
	for l.pages.next() != "" {
		d.run(l.more(20, nil))
	}
	if got := l.table.Total(); got != n {
		tb.Fatalf("%d rows are loaded, want %d", got, n)
	}
	return d
}

// A megabyte of error and hundreds of attempts are wrapped once, not at each key.
func BenchmarkLargeError(b *testing.B) {
	db := scene()
	large := ""
	for len(large) < 1<<20 {
		large += "at orders.charge(Charge.java:112) password=hunter2 caused by: timeout while waiting for the provider\n"
	}
	db.jobs[0].ErrorDetail = &large
	d := start(b, db, 80, 24)
	d.run(d.m.run("job charge-10442"))
	d.press("tab")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, _ = d.m.Update(keyMsg([]string{"j", "pgdown", "G", "g"}[i%4]))
		_ = d.m.View()
	}
}
