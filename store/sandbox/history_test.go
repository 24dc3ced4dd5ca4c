package sandbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"jobtop/store"
	"jobtop/store/sandbox"
)

// TestHistory: a past gets past the guard, and nothing that comes later does.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	if err := s.CreateDatabase(t.Context(), "orders", sandbox.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.ApplySchema(t.Context(), s.URL("orders")); err != nil {
		t.Fatal(err)
	}
	if err := s.InsertHistory(t.Context(), "orders", sandbox.History{}); err != nil {
		t.Fatalf("an empty history: %v", err)
	}
	worker, old, minute := "w-1", 2*time.Hour, time.Minute
	job := sandbox.PastJob{
		ID: "a", EffectKey: "a", Kind: "k", State: "done", Version: 3, Attempt: 1, MaxAttempts: 5, Worker: &worker,
		Run: old, Created: old, Claimed: &old, Heartbeat: &old, Changed: old, HeartbeatTimeout: minute, ProgressTimeout: &minute,
	}
	if err := s.InsertHistory(t.Context(), "orders", sandbox.History{Jobs: []sandbox.PastJob{job}}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, s.URL("orders"))
	if !query[bool](t, conn, "select state = 'done' and heartbeat_timeout = '1 minute' and progress_timeout = '1 minute' and age(now(), created_at) between '2 h' and '2 h 1 min' from jobtop.jobs") {
		t.Error("the job is not what it was told to be")
	}
	for _, sql := range []string{"update jobtop.jobs set state = 'pending'", "delete from jobtop.jobs", "insert into jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) values ('b', 'k', 'r', 1, 'w')"} {
		if _, err := conn.Exec(t.Context(), sql); err == nil {
			t.Errorf("after the history, %s is allowed", sql)
		}
	}

	// What the tables themselves refuse is refused, and nothing of such a history stays.
	bad, good := job, job
	good.ID, good.EffectKey, bad.ID, bad.State = "good", "good", "bad", "running"
	if err := s.InsertHistory(t.Context(), "orders", sandbox.History{Jobs: []sandbox.PastJob{good, bad}}); err == nil {
		t.Error("a running job without a token is allowed")
	}
	if n := query[int](t, conn, "select count(*)::int from jobtop.jobs"); n != 1 {
		t.Errorf("%d jobs are there, want 1", n)
	}
}

func TestCreateLogin(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	conn := connect(t, s.URL("postgres"))
	execute(t, conn, "create role readers; create role writers; create table t (); grant select on t to readers; grant insert on t to writers")
	dsn, err := s.CreateLogin(t.Context(), `o"dd`, "postgres", "readers")
	if err != nil {
		t.Fatal(err)
	}
	login := connect(t, dsn)
	if name := query[string](t, login, "select session_user::text"); name != `o"dd` {
		t.Errorf("logged in as %s", name)
	}
	execute(t, login, "select * from t")
	_, err = login.Exec(t.Context(), "insert into t default values")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("it may do more than a member of its group: %v", err)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "wrong"
	if wrong, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		_ = wrong.Close(t.Context())
		t.Error("any password will do")
	}
}
