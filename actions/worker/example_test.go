package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"jobtop/actions/worker"
	"jobtop/store"
	"jobtop/store/sandbox"
)

// A worker that charges cards, with one job to do. What would be the provider's client is
// a function here.
func Example() {
	ctx := context.Background()
	dsn, remove := throwawayDatabase(ctx)
	defer remove()
	db, err := store.Open(ctx, store.Options{DSN: dsn})
	if err != nil {
		log.Panic(err)
	}
	defer db.Close()
	_, err = db.Enqueue(ctx, store.NewJob{ID: "order-1001", Kind: "charge", Payload: json.RawMessage(`{"cents": 1250}`)})
	if err != nil {
		log.Panic(err)
	}

	chargeCard := func(_ context.Context, idempotencyKey string, cents int) (receipt string, err error) {
		fmt.Printf("charging %d cents for %s\n", cents, idempotencyKey)
		return "ch_17", nil
	}

	working, stop := context.WithCancel(ctx)
	defer stop() // in a program: signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	err = worker.Run(working, worker.Options{
		DSN: dsn,
		Log: silent(),
		Handlers: map[string]worker.Handler{
			"charge": func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
				defer stop() // this example is over after one job; the worker finishes what it holds
				var order struct{ Cents int }
				if err := json.Unmarshal(job.Payload, &order); err != nil {
					return worker.Receipt{}, worker.Final(worker.NotBegun("bad payload", err))
				}
				key, err := job.Begin(ctx) // from here on the effect may have happened
				if err != nil {
					return worker.Receipt{}, err
				}
				id, err := chargeCard(ctx, key, order.Cents)
				return worker.Receipt{ID: id}, err
			},
		},
	})
	if err != nil {
		log.Panic(err)
	}

	again, err := db.Enqueue(ctx, store.NewJob{ID: "order-1001", Kind: "charge"})
	fmt.Println("enqueued again:", again, err)

	// Output:
	// charging 1250 cents for order-1001
	// enqueued again: false <nil>
}

// throwawayDatabase is a database with jobtop's schema on a server of its own.
func throwawayDatabase(ctx context.Context) (dsn string, remove func()) {
	server, err := sandbox.Start(ctx, sandbox.Options{})
	if err != nil {
		log.Panic(err)
	}
	if _, err := store.ApplySchema(ctx, server.URL("postgres")); err != nil {
		log.Panic(err)
	}
	return server.URL("postgres"), func() { _ = server.Stop() }
}
