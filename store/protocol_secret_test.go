package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// TestSeedsNoSecretInAnError: whatever goes wrong, no error of the store holds the
// password or the connection string.
func TestSeedsNoSecretInAnError(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := pgx.ParseConfig(l.url)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2-secret"
	host := fmt.Sprintf("127.0.0.1:%d", config.Port)
	for name, dsn := range map[string]string{
		"wrong password":   "postgres://jobtop:" + secret + "@" + host + "/" + config.Database,
		"no such host":     "postgres://jobtop:" + secret + "@no-such-host.invalid/db",
		"refused":          "postgres://jobtop:" + secret + "@127.0.0.1:1/db",
		"unreadable URL":   "postgres://jobtop:" + secret + "%zz@" + host + "/db",
		"unreadable words": "host=127.0.0.1 port=x password=" + secret,
		"bad option":       "postgres://jobtop:" + secret + "@" + host + "/db?sslmode=nonsense",
	} {
		var errs []error
		db, err := store.Open(ctx, store.Options{DSN: dsn})
		errs = append(errs, err)
		if err == nil {
			defer db.Close()
			_, err := db.Enqueue(ctx, store.NewJob{ID: "a", Kind: "k"})
			errs = append(errs, err)
			_, err = db.Claim(ctx, store.ClaimRequest{Worker: "w", Token: newToken(), Kinds: []string{"k"}, Batch: 1})
			errs = append(errs, err)
			_, err = db.Heartbeat(ctx, store.Beat{JobID: "a", Token: newToken()})
			errs = append(errs, err)
			_, err = db.BeginEffect(ctx, "a", newToken())
			errs = append(errs, err)
			_, err = db.Complete(ctx, store.Completion{JobID: "a", Token: newToken(), ReceiptID: "r"})
			errs = append(errs, err)
			_, err = db.Fail(ctx, store.Failure{JobID: "a", Token: newToken(), Effect: "unknown"})
			errs = append(errs, err)
			_, err = db.Once(ctx, "a", time.Hour, "")
			errs = append(errs, err)
			_, err = db.Act(ctx, store.ActRequest{ActionID: newToken(), Verb: "dead", JobID: "a", SeenState: "pending", SeenVersion: 1, Operator: "ada", Reason: "x"})
			errs = append(errs, err)
			_, err = db.Server(ctx)
			errs = append(errs, err)
			_, err = db.Poll(ctx)
			errs = append(errs, err)
		}
		_, err = store.ApplySchema(ctx, dsn)
		errs = append(errs, err)
		_, err = store.CheckSchema(ctx, dsn)
		errs = append(errs, err)
		failed := 0
		for _, err := range errs {
			if err == nil {
				continue
			}
			failed++
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: the password is in %q", name, text)
				}
			}
		}
		if failed < 3 {
			t.Errorf("%s: %d calls failed, which were to", name, failed)
		}
	}
}
