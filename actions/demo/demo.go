// Package demo is a job system to look at: a throwaway PostgreSQL with a past, worker
// processes that go wrong now and then, a made-up payment provider that loses answers,
// and colleagues who settle some of it by hand. Everything is made up, and everything is
// gone when it ends.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"jobtop/store"
	"jobtop/store/sandbox"
)

// Options says what the demo is to be like.
type Options struct {
	// Worker is the program that calls RunWorker, with its arguments.
	Worker []string
	// Seed makes the demo repeatable in kind: the same jobs go wrong in the same ways.
	Seed uint64
	// Workers is the number of worker processes, 1 to MaxWorkers.
	Workers int
	// Rate is how many jobs come in a second, above 0, to MaxRate.
	Rate float64
	// Progress is told of each stage of the start: when it begins, and with how long it
	// took when it has ended. May be nil.
	Progress func(stage string, took time.Duration)
}

// The limits of Options.
const (
	MaxWorkers = 64
	MaxRate    = 200.0
)

// database is the name of the demo's database.
const database = "orders"

// Demo is a running demo.
type Demo struct {
	server   *sandbox.Server
	provider *Provider
	fleet    *fleet
	dsn      string
	handles  []*store.DB
	log      *os.File

	cancel context.CancelFunc
	loops  sync.WaitGroup
	failed chan error // holds the first failure of a part

	stopOnce sync.Once
	stopErr  error
}

// Start starts a demo; its parts run until Stop. On an error nothing is left behind.
// ctx bounds the start only.
func Start(ctx context.Context, o Options) (_ *Demo, err error) {
	if o.Workers < 1 || o.Workers > MaxWorkers || !(o.Rate > 0 && o.Rate <= MaxRate) {
		return nil, fmt.Errorf("a demo has 1 to %d workers and up to %g jobs a second", MaxWorkers, MaxRate)
	}
	d := &Demo{failed: make(chan error, 1)}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.cancel = cancel
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
		if err != nil {
			err = errors.Join(err, d.Stop())
		}
	}()

	past := make(chan Past, 1)
	d.loop("the past", func(context.Context) error { past <- MakePast(o.Seed, o.Rate); return nil }, running)

	var workerDSN string
	var made Past
	for _, stage := range []struct {
		name string
		do   func() error
	}{
		{"PostgreSQL", func() (err error) {
			d.server, err = sandbox.Start(ctx, sandbox.Options{Settings: map[string]string{
				"max_connections": strconv.Itoa(60 + 8*o.Workers),
			}})
			return err
		}},
		{"schema", func() error {
			if err := d.server.CreateDatabase(ctx, database, sandbox.CreateOptions{}); err != nil {
				return err
			}
			_, err := store.ApplySchema(ctx, d.server.URL(database))
			return err
		}},
		{"roles", func() (err error) {
			if d.dsn, err = d.server.CreateLogin(ctx, operatorRole, database, "jobtop_operator", "jobtop_payload"); err != nil {
				return err
			}
			workerDSN, err = d.server.CreateLogin(ctx, "worker", database, "jobtop_worker")
			return err
		}},
		{"history", func() error {
			select {
			case made = <-past:
			case err := <-d.failed:
				return err
			}
			return d.server.InsertHistory(ctx, database, made.History)
		}},
		{"workers", func() error { return d.startParts(running, o, made, workerDSN) }},
		{"first job", func() error { return d.awaitLife(ctx, running) }},
	} {
		if o.Progress != nil {
			o.Progress(stage.name, 0)
		}
		began := time.Now()
		if err := stage.do(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(stage.name, time.Since(began))
		}
	}
	return d, nil
}

// startParts starts what makes the demo live.
func (d *Demo) startParts(running context.Context, o Options, past Past, workerDSN string) (err error) {
	effects := make(map[string]Effect, len(past.Effects))
	now := time.Now()
	for key, e := range past.Effects {
		effects[key] = Effect{ReceiptID: e.ReceiptID, At: now.Add(-e.Ago)}
	}
	if d.provider, err = StartProvider(running, past.Scenario, effects, past.NextReceipt); err != nil {
		return err
	}
	if d.log, err = os.OpenFile(filepath.Join(d.server.Dir(), "workers.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	d.fleet = newFleet(running, o.Worker, workerConfig{
		DSN: workerDSN, Provider: d.provider.URL(), Scenario: past.Scenario, Slots: slots(o),
	}, d.log)
	for range o.Workers {
		if err := d.fleet.add(); err != nil {
			return err
		}
	}
	feeding, err := d.open(running, workerDSN, "jobtop demo feeder")
	if err != nil {
		return err
	}
	acting, err := d.open(running, d.dsn, "jobtop demo colleagues")
	if err != nil {
		return err
	}
	d.loop("the feeder", newFeeder(feeding, past.Scenario, o.Rate).run, running)
	d.loop("the colleagues", colleagues{acting, past.Scenario, d.provider.URL(), []string{"alice", "bob"}}.run, running)
	d.loop("the fleet", func(ctx context.Context) error {
		return d.fleet.trouble(ctx, o.Workers, past.Scenario.dice("trouble"), func(ctx context.Context) (map[string]bool, error) {
			return returning(ctx, acting, past.Scenario)
		})
	}, running)
	return nil
}

// awaitLife waits until a worker has claimed a job, so that the first look does not find
// that heartbeats stopped everywhere. On a machine that is too busy for that, it goes on.
func (d *Demo) awaitLife(ctx, running context.Context) error {
	db, err := d.open(running, d.dsn, "jobtop demo start")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for {
		poll, err := db.Poll(ctx)
		if err == nil && poll.NewestHeartbeat != nil && *poll.NewestHeartbeat < time.Second {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(running)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// slots is how many jobs a worker must run at once to keep up with the rate.
func slots(o Options) int {
	const busy = 4.0 // seconds that a job takes on average, with some to spare
	return min(32, max(4, int(o.Rate*busy/float64(o.Workers))+1))
}

func (d *Demo) open(ctx context.Context, dsn, application string) (*store.DB, error) {
	db, err := store.Open(ctx, store.Options{DSN: dsn, Application: application, MaxConns: 2})
	if err == nil {
		d.handles = append(d.handles, db)
	}
	return db, err
}

// loop runs a part of the demo. A panic in it must not take the terminal with it.
func (d *Demo) loop(name string, run func(context.Context) error, ctx context.Context) {
	d.loops.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				d.fail(fmt.Errorf("%s: panic: %v\n%s", name, value, debug.Stack()))
			}
		}()
		if err := run(ctx); err != nil {
			d.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

func (d *Demo) fail(err error) {
	select {
	case d.failed <- err:
	default: // there is one already
	}
}

// Failed receives an error when a part of the demo ends by itself.
func (d *Demo) Failed() <-chan error { return d.failed }

// DSN is the connection string of the demo's operator: a URL with a loopback host, a
// port and a password. It may look at everything and act, and nothing else.
func (d *Demo) DSN() string { return d.dsn }

// Provider is the URL of the provider, for LookUp.
func (d *Demo) Provider() string { return d.provider.URL() }

// Dir is the demo's directory, which is gone when it ends.
func (d *Demo) Dir() string { return d.server.Dir() }

// ServerVersion is the version of PostgreSQL that the demo runs on.
func (d *Demo) ServerVersion() string { return d.server.Version().String() }

// Stop ends everything and leaves nothing behind. Calling it again does nothing.
func (d *Demo) Stop() error {
	d.stopOnce.Do(func() {
		d.cancel()
		var errs []error
		if d.fleet != nil {
			errs = append(errs, d.fleet.stop())
		}
		d.loops.Wait()
		if d.provider != nil {
			errs = append(errs, d.provider.Stop())
		}
		for _, db := range d.handles {
			db.Close()
		}
		if d.log != nil {
			_ = d.log.Close()
		}
		if d.server != nil {
			errs = append(errs, d.server.Stop())
		}
		d.stopErr = errors.Join(errs...)
	})
	return d.stopErr
}
