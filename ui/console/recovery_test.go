package console

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// tries counts the looks at a database.
type tries struct {
	*store.DB
	n atomic.Int64
}

func (t *tries) Poll(ctx context.Context) (store.Poll, error) {
	t.n.Add(1)
	return t.DB.Poll(ctx)
}

// ordersOn makes a database with some jobs on a server of its own.
func ordersOn(t *testing.T, server *sandbox.Server) string {
	t.Helper()
	if err := server.CreateDatabase(t.Context(), "orders", sandbox.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	dsn := server.URL("orders")
	if _, err := store.ApplySchema(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	live(t, dsn)
	return dsn
}

// However long the database was away, the screen is fresh after one try more, and that one
// comes within seconds. The time is the console's own, so that a slow machine fails nobody.
func TestLiveRecoveryIsSoonSeen(t *testing.T) {
	server := sandboxtest.Server(t, sandbox.Options{})
	db, err := store.Open(t.Context(), store.Options{DSN: ordersOn(t, server)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	looks := &tries{DB: db}
	// The whole core: a look that was dear on a busy machine is to put off none.
	d := start(t, scene(), 100, 30, func(o *Options) { o.DB, o.View, o.Config.Share = looks, "review", 1 })
	d.wants("charge-5")

	for _, away := range []time.Duration{2 * time.Second, time.Minute, 10 * time.Minute} {
		if err := server.Halt(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.pass(away)
		d.wants("STALE", "next try", "charge-5")
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := looks.n.Load()
		since := d.clock
		for d.m.env.poller.failures > 0 && d.clock.Sub(since) < time.Minute {
			d.pass(100 * time.Millisecond)
		}
		if n, took := looks.n.Load()-before, d.clock.Sub(since); n != 1 || took > 5*time.Second {
			t.Errorf("away for %s: fresh after %d tries and %s", away, n, took)
		}
		d.wants("the database answers again", "charge-5")
		d.lacks("STALE")
		d.pass(5 * time.Second)
	}
}

// Connections on which nothing answers any more are not tried one after the other, each for
// its whole time: after the first the store connects anew.
func TestLiveSilentConnectionsAreLeft(t *testing.T) {
	dsn := sandboxtest.Database(t)
	target, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	wall := newWall(t, target.Host)
	target.Host = wall.address()
	db, err := store.Open(t.Context(), store.Options{DSN: target.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	t.Cleanup(wall.close) // before it, or each connection waits for a last answer
	fill(t, sandboxtest.Pool(t, dsn), db)
	wall.silence()
	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := db.Poll(brief); err == nil {
		t.Fatal("a silent connection answers")
	}
	if _, err := db.Poll(t.Context()); err != nil {
		t.Errorf("the next try: %v", err)
	}
}

// fill has a DB make all its connections: a lock keeps looks from ending until each has one
// to itself.
func fill(t *testing.T, pool *pgxpool.Pool, db *store.DB) {
	t.Helper()
	const looks = 3
	lock, err := pool.Begin(t.Context())
	if err == nil {
		_, err = lock.Exec(t.Context(), `LOCK TABLE jobtop.jobs`)
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range looks {
		all.Go(func() {
			for {
				_, _ = db.Poll(t.Context()) // which soon gives up
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for one[int](t, pool, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'jobtop'`) < looks {
		time.Sleep(5 * time.Millisecond)
	}
	close(stop)
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// wall stands between the console and a server, and can let what was connected go silent.
type wall struct {
	listener net.Listener
	server   string
	mutex    sync.Mutex
	conns    []net.Conn
	silent   []chan struct{} // closed: nothing passes any more
}

func newWall(t *testing.T, server string) *wall {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wall{listener: listener, server: server}
	go w.accept()
	return w
}

func (w *wall) close() {
	_ = w.listener.Close()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
}

func (w *wall) address() string { return w.listener.Addr().String() }

// silence keeps everything from passing on the connections that there are.
func (w *wall) silence() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, silent := range w.silent {
		close(silent)
	}
	w.silent = nil
}

func (w *wall) accept() {
	for {
		here, err := w.listener.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", w.server)
		if err != nil {
			_ = here.Close()
			continue
		}
		silent := make(chan struct{})
		w.mutex.Lock()
		w.conns, w.silent = append(w.conns, here, there), append(w.silent, silent)
		w.mutex.Unlock()
		go pass(there, here, silent)
		go pass(here, there, silent)
	}
}

// pass copies until the connection ends, and loses what comes once it is silent.
func pass(to io.WriteCloser, from io.Reader, silent <-chan struct{}) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-silent:
			if err != nil {
				return
			}
			continue
		default:
		}
		if _, writeErr := to.Write(buffer[:n]); err != nil || writeErr != nil {
			_ = to.Close()
			return
		}
	}
}
