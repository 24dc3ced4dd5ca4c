package store_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// Each read is one round trip, in a transaction that cannot write.
func TestReadsAreOneRoundTrip(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'k', '{"n":1}')`)
	for name, read := range reads {
		r := &recorder{}
		traced, err := store.Traced(db, r)
		if err != nil {
			t.Fatal(err)
		}
		err = read(ctx, traced)
		traced.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.batches != 1 || r.others != 0 || !strings.HasSuffix(r.list[0].sql, "READ ONLY") || r.list[len(r.list)-1].sql != "COMMIT" {
			t.Errorf("%s: %d round trips and %d others, %v", name, r.batches, r.others, r.list)
		}
	}
}

// activity counts this database's other sessions in a state.
const activity = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'jobtop' AND state LIKE $1`

func TestReadsGiveUpWaiting(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'k')`)
	if _, err := db.Poll(ctx); err != nil {
		t.Fatal(err)
	}
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, `LOCK TABLE jobtop.jobs IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(context.Context, *store.DB) error{"Poll": reads["Poll"], "Row": reads["Row"], "Jobs": reads["Jobs"]} {
		var gaveUp *store.Problem
		if err := read(ctx, db); !errors.Is(err, store.ErrTimeout) || !errors.As(err, &gaveUp) || gaveUp.Code != "55P03" { // at the lock, long before its time is up
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	var open, sessions int
	if err := pool.QueryRow(ctx, activity, "idle in transaction%").Scan(&open); err != nil || open != 0 {
		t.Errorf("%d transactions left open, %v", open, err)
	}
	if err := pool.QueryRow(ctx, activity, "idle").Scan(&sessions); err != nil || sessions != 1 {
		t.Errorf("%d sessions, not the one that was there, %v", sessions, err)
	}
	if _, err := db.Poll(ctx); err != nil {
		t.Error(err)
	}
}

func TestReadsAreCancelled(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	locked(ctx, t, pool, `LOCK TABLE jobtop.jobs IN ACCESS EXCLUSIVE MODE`)
	mine, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() {
		for { // it gives up waiting after a second, and is to be cancelled before
			if _, err := db.Poll(mine); !errors.Is(err, store.ErrTimeout) {
				result <- err
				return
			}
		}
	}()
	eventually(t, "the poll waits", func() bool {
		var waiting int
		return pool.QueryRow(ctx, activity, "active").Scan(&waiting) == nil && waiting == 1
	})
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReadsAfterTheServerEndedTheConnections(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	if _, err := db.Poll(ctx); err != nil {
		t.Fatal(err)
	}
	must(ctx, t, pool, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'jobtop'`)
	if _, err := db.Poll(ctx); err != nil && !errors.Is(err, store.ErrUnreachable) {
		t.Error(err)
	}
	if _, err := db.Poll(ctx); err != nil {
		t.Error(err)
	}
}

// Through pgbouncer in transaction mode nothing may rest on the session.
func TestReadsThroughPgbouncer(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if _, err = os.Stat("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("there is no pgbouncer")
		}
		program = "/usr/sbin/pgbouncer"
	}
	dsn := sandboxtest.Database(t)
	pool, ctx := sandboxtest.Pool(t, dsn), bounded(t)
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'k', '{"n":1}')`)
	through := bouncer(t, program, dsn)
	db := open(t, through)
	for range 3 {
		for name, read := range reads {
			if err := read(ctx, db); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := payload(ctx, db); err != nil {
			t.Error(err)
		}
		if s, err := db.Server(ctx); err != nil || !s.CanAct || len(s.Edges) == 0 {
			t.Errorf("%+v, %v", s, err)
		}
	}
	// What a read set for itself has not stayed behind on the server's connection.
	var bound string
	if err := sandboxtest.Pool(t, with(t, through, "default_query_exec_mode", "simple_protocol")).QueryRow(ctx, `SHOW statement_timeout`).Scan(&bound); err != nil || bound != "0" {
		t.Errorf("statement_timeout is %s, %v", bound, err)
	}
}

// bouncer starts a pgbouncer in transaction mode with one server connection, and returns
// the URL of a database through it.
func bouncer(t *testing.T, program, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	port, err := sandbox.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	directory, err := os.MkdirTemp("", "jobtop-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	config := filepath.Join(directory, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n%[1]s = host=%[2]s port=%[3]s dbname=%[1]s user=%[4]s password=%[5]s\n"+
		"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %[6]d\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 1\n",
		strings.TrimPrefix(u.Path, "/"), u.Hostname(), u.Port(), u.User.Username(), password, port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, config)
	if os.Geteuid() == 0 { // which pgbouncer refuses to run as
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Skip(err)
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		if err := errors.Join(os.Chown(directory, uid, gid), os.Chown(config, uid, gid)); err != nil {
			t.Fatal(err)
		}
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	eventually(t, "pgbouncer listens", func() bool {
		conn, err := net.Dial("tcp", u.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return u.String()
}

// locked holds a lock until the test has ended.
func locked(ctx context.Context, t *testing.T, pool *pgxpool.Pool, statement string) {
	t.Helper()
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(ctx)) })
	if _, err := tx.Exec(ctx, statement); err != nil {
		t.Fatal(err)
	}
}
