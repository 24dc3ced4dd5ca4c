package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/google/uuid"

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

// measureMemory opens the console on a table, reads on to memoryRows rows of its list, and
// looks at a job of many attempts, each with an error, and the last with a large one.
func measureMemory(ctx context.Context, dsn string) (f bench.ScreenFigure, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := makeHeavyJob(ctx, dsn); err != nil {
		return f, err
	}
	size := pty.Winsize{Cols: 140, Rows: 45}
	s, err := openScreen(ctx, self, dsn, size, "--refresh", "2s", "--view", "jobs")
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.until(ctx, "more exist"); err != nil {
		return f, err
	}
	rows := text.Count(memoryRows) + " open read"
	for !s.shown(rows) {
		if _, _, err := s.press(ctx, "G"); err != nil {
			return f, fmt.Errorf("reading on to %s: %w", rows, err)
		}
	}
	for _, step := range []struct{ keys, shows string }{
		{":job " + memoryJob + "\r", "claimed by w-1"},                                   // its timeline
		{"\t", "at orders.charge"}, {"G", "at orders.charge"}, {"g", "at orders.charge"}, // its error
	} {
		s.mark()
		if _, _, err := s.press(ctx, step.keys); err != nil {
			return f, err
		}
		if err := s.until(ctx, step.shows); err != nil {
			return f, err
		}
	}
	// A few readings of it all.
	select {
	case <-time.After(3 * 2 * time.Second):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	return bench.ScreenFigure{
		What: fmt.Sprintf("memory, with %s rows and a job of %s attempts", text.Count(memoryRows), text.Count(memoryAttempts)),
		Size: fmt.Sprintf("%dx%d", size.Cols, size.Rows), Value: float64(peakMemory(s.cmd.Process.Pid)) / 1024, Unit: "MiB",
	}, nil
}

// makeHeavyJob lets a worker fail at one job again and again, through the functions that
// workers call.
func makeHeavyJob(ctx context.Context, dsn string) error {
	db, err := store.Open(ctx, store.Options{DSN: dsn})
	if err != nil {
		return err
	}
	defer db.Close()
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
