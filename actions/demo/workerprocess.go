package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"jobtop/actions/worker"
)

// workerConfig is the first line on the standard input of a worker process.
type workerConfig struct {
	Name     string
	Version  string
	DSN      string
	Provider string
	Scenario Scenario
	Slots    int
}

// Moments of a worker that goes wrong.
const (
	idleFor = 75 * time.Second // heartbeats, but makes no progress
	hangFor = 16 * time.Second // has the receipt, and is not heard of
)

// RunWorker is a worker process of the demo. It works until its standard input ends,
// which it does when the demo does, however that ends; then it exits at once: neither
// its jobs nor the database live any longer.
func RunWorker(ctx context.Context, stdin io.Reader) error {
	lines := bufio.NewReader(stdin)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return errors.New("this is run by jobtop demo only, which tells it what to do")
	}
	var c workerConfig
	if err := json.Unmarshal(line, &c); err != nil {
		return fmt.Errorf("the worker's orders cannot be read: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		os.Exit(0)
	}()

	plain, err := startPlain(ctx, c)
	if err != nil {
		return err
	}
	err = worker.Run(ctx, worker.Options{
		DSN: c.DSN, Name: c.Name, SourceVersion: c.Version, Handlers: c.handlers(),
		Concurrency: c.Slots, Batch: 1, MaxConns: 3,
		HeartbeatTimeout: heartbeatTimeout, PollMin: 100 * time.Millisecond, PollMax: time.Second,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	plain.stop()
	return err
}

// handlers are those of the kinds whose workers record intents.
func (c workerConfig) handlers() map[string]worker.Handler {
	handlers := map[string]worker.Handler{}
	for _, k := range Kinds {
		if k.RecordsIntent {
			handlers[k.Name] = c.handle
		}
	}
	return handlers
}

func (c workerConfig) handle(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
	k, number, ok := parseID(job.ID)
	if !ok {
		return worker.Receipt{}, worker.Final(worker.NotBegun("unknown job", errors.New("the id names no job of the demo")))
	}
	temper := c.Scenario.Temper(k, number, job.Attempt)
	if err := c.prepare(ctx, k, number, job.Attempt, temper, job.Progress); err != nil {
		return worker.Receipt{}, err
	}
	key, err := job.Begin(ctx)
	if err != nil {
		return worker.Receipt{}, err
	}
	// Once it is called, the provider does not call back; so a lost lease does not end this.
	id, err := client{c.Provider}.act(context.WithoutCancel(ctx), key)
	if err != nil {
		return worker.Receipt{}, judged(err)
	}
	wait(context.WithoutCancel(ctx), 150*time.Millisecond) // files a copy
	return worker.Receipt{ID: id, Result: result(id)}, nil
}

// prepare is the work before the provider is called.
func (c workerConfig) prepare(ctx context.Context, k Kind, number, attempt int, temper Temper, progress func(int64)) error {
	dice := c.Scenario.dice("work", k.jobID(number), attempt)
	switch temper {
	case BadInput:
		wait(ctx, 80*time.Millisecond)
		category, detail := badInput(k)
		return worker.NotBegun(category, errors.New(detail))
	case Hopeless:
		wait(ctx, 50*time.Millisecond)
		return worker.Final(worker.NotBegun("bad address", errors.New(hopeless)))
	default: // it works
	}
	steps := max(1, k.Steps)
	for step := range steps {
		if temper == Idle && step == steps/3 && !wait(ctx, idleFor) {
			return context.Cause(ctx)
		}
		if !wait(ctx, around(dice, k.Work)/time.Duration(steps)) {
			return context.Cause(ctx)
		}
		if k.Steps > 0 {
			progress(int64(100 * (step + 1) / steps))
		}
	}
	return nil
}

// judged says what an error of the provider's tells about the effect.
func judged(err error) error {
	var refused *RefusedError
	var slow net.Error
	switch {
	case errors.As(err, &refused) && refused.Final():
		return worker.Final(worker.Refused(refused.Category, err))
	case errors.As(err, &refused):
		return worker.Refused(refused.Category, err)
	case errors.As(err, &slow) && slow.Timeout():
		return worker.Unknown("provider timeout", fmt.Errorf("no answer from the provider within %s", callTimeout))
	}
	return worker.Unknown("connection lost", errors.New(lost))
}

func result(receipt string) json.RawMessage {
	text, err := json.Marshal(map[string]string{"receipt_id": receipt, "status": "ok"})
	if err != nil {
		panic(err) // two strings
	}
	return text
}

// heartbeatTimeout is that of all kinds: short, so that stuck jobs show soon.
const heartbeatTimeout = 5 * time.Second
