package console

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// BenchmarkKey is a key of any kind with 10,000 rows loaded: Update and View. Its figure is
// the 99th percentile, which has to stay under 20 ms. Every tenth key comes while a reading
// of the database is taken in, and waits for it.
func BenchmarkKey(b *testing.B) {
	d := loaded(b, 10_000)
	l := d.m.screen().(*list)
	keys := []string{
		"j", "j", "down", "k", "up", "pgdown", "pgdown", "pgup", "G", "end", "g", "home", "ctrl+d", "ctrl+u", "w", "w",
		" ", " ", "/", "b", "u", "l", "k", "-", "esc", "?", "j", "pgdown", "esc", ":", "j", "o", "tab", "esc",
		"s", "s", "s", "S", "s", "s", "s", "s", "s", "s", "s", "s", "s", // through all orders, back to the natural one
		"b", "j", "b", "b", "b", "b", "b", "*", "j", "E", "t", "i", "c", "k", "e", "t", "pgdown", "pgdown", "tab", "tab", "esc", "*",
	}
	// The clock's time is what a person waits, and on a busy machine mostly others' doing; the
	// processor's time of this thread is ours.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took, worked []time.Duration
	times := func(do func()) {
		began, before := time.Now(), threadTime()
		do()
		_ = d.m.View()
		took, worked = append(took, time.Since(began)), append(worked, threadTime()-before)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var read tea.Msg
		if i%10 == 9 {
			if cmd := l.refresh(); cmd != nil {
				read = cmd()
			}
		}
		var cmd tea.Cmd
		times(func() {
			if read != nil {
				_, _ = d.m.Update(read)
				_ = d.m.View()
			}
			_, cmd = d.m.Update(keyMsg(keys[i%len(keys)]))
		})
		if top := d.m.env.dialogs.top(); top != nil && cmd != nil { // it reads its rows
			d.settle()
			if msg := cmd(); msg != nil {
				times(func() { _, _ = d.m.Update(msg) })
			}
		}
	}
	slices.Sort(took)
	slices.Sort(worked)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(worked[len(worked)*99/100].Microseconds()), "p99-processor-µs")
}

// threadTime is the processor's time that this thread has had; 0 where the system does not
// tell threads apart.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	if err := syscall.Getrusage(thread, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
