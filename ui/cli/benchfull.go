package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/google/uuid"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/store/bench"
	"jobtop/ui/text"
)

// What the console holds at the most when its memory is measured.
const (
	memoryRows     = 10_000
	memoryAttempts = 2_000
	memoryError    = 1 << 20 // of the job, in bytes
	memoryJob      = "bench-heavy"
)

// measureFull opens the console on a table, reads on to memoryRows rows of its list, presses
// keys there, and looks at a job of many attempts, each with an error, and the last with a
// large one. It tells what a key takes then, and the memory; nothing of a table that has
// fewer rows.
func measureFull(ctx context.Context, dsn string) (figures []bench.ScreenFigure, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	db, err := store.Open(ctx, store.Options{DSN: dsn})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if enough, err := hasRows(ctx, db); err != nil || !enough {
		return nil, err
	}
	if err := makeHeavyJob(ctx, db); err != nil {
		return nil, err
	}
	size := pty.Winsize{Cols: 140, Rows: 45}
	s, err := openScreen(ctx, self, dsn, size, "--refresh", "2s", "--view", "jobs")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.until(ctx, "more exist"); err != nil {
		return nil, err
	}
	add := func(what string, value float64, unit string) {
		if value > 0 {
			figures = append(figures, bench.ScreenFigure{What: what, Size: fmt.Sprintf("%dx%d", size.Cols, size.Rows), Value: value, Unit: unit})
		}
	}
	rows := text.Count(memoryRows) + " open read"
	for !s.shown(rows) {
		if _, _, err := s.press(ctx, "G"); err != nil {
			return nil, fmt.Errorf("reading on to %s: %w", rows, err)
		}
	}
	// At rest, so that only the keys are timed: Update, View, and what draws it.
	var answers []float64
	used := time.Duration(0)
	for n, key := range append([]string{"p"}, slices.Repeat([]string{"j", "\x1b[5~", "k", "\x1b[6~", "g", "j", "G"}, 6)...) {
		before := bench.ProcessorTime(s.cmd.Process.Pid)
		_, answer, err := s.press(ctx, key)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			used += bench.ProcessorTime(s.cmd.Process.Pid) - before
			answers = append(answers, float64(answer.Microseconds())/1000)
		}
	}
	add(fmt.Sprintf("processor's time of a key, with %s rows", text.Count(memoryRows)), float64(used.Microseconds())/1000/float64(len(answers)), "ms")
	add(fmt.Sprintf("%s, with %s rows", screenAnswer, text.Count(memoryRows)), middle(answers), "ms")
	if _, _, err := s.press(ctx, "p"); err != nil {
		return nil, err
	}
	for _, step := range []struct{ keys, shows string }{
		{":job " + memoryJob + "\r", "claimed by w-1"},                                   // its timeline
		{"\t", "at orders.charge"}, {"G", "at orders.charge"}, {"g", "at orders.charge"}, // its error
	} {
		s.mark()
		if _, _, err := s.press(ctx, step.keys); err != nil {
			return nil, err
		}
		if err := s.until(ctx, step.shows); err != nil {
			return nil, err
		}
	}
	// A few readings of it all.
	select {
	case <-time.After(3 * 2 * time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	add(fmt.Sprintf("memory, with %s rows and a job of %s attempts", text.Count(memoryRows), text.Count(memoryAttempts)), float64(peakMemory(s.cmd.Process.Pid))/1024, "MiB")
	return figures, nil
}

// hasRows reports whether a table has more than memoryRows open jobs to read.
func hasRows(ctx context.Context, db *store.DB) (bool, error) {
	poll, err := db.Poll(ctx)
	if err != nil {
		return false, err
	}
	open := int64(0)
	for _, s := range poll.States {
		if s.State != string(actions.Done) {
			open += s.Count.N
		}
	}
	return open > memoryRows, nil
}

// makeHeavyJob lets a worker fail at one job again and again, through the functions that
// workers call.
func makeHeavyJob(ctx context.Context, db *store.DB) error {
	if added, err := db.Enqueue(ctx, store.NewJob{ID: memoryJob, Kind: memoryJob, MaxAttempts: memoryAttempts}); err != nil || !added {
		return err
	}
	trace := strings.Repeat("at orders.charge(Charge.java:112) caused by: timeout while waiting for the provider\n", 1+memoryError/80)
	for n := 1; n <= memoryAttempts; n++ {
		token, err := uuid.NewV7()
		if err != nil {
			return err
		}
		if _, err := db.Claim(ctx, store.ClaimRequest{Worker: "w-1", Token: token.String(), Kinds: []string{memoryJob}, Batch: 1, RecordsIntent: true}); err != nil {
			return err
		}
		f := store.Failure{JobID: memoryJob, Token: token.String(), Effect: store.EffectNotBegun, Retry: true, Category: "timeout", Detail: trace[:store.HistoryErrorLimit], Backoff: &store.Backoff{}}
		if n == memoryAttempts {
			f.Detail = trace[:memoryError]
		}
		if _, err := db.Fail(ctx, f); err != nil {
			return err
		}
	}
	return nil
}
