package faultproxy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store/sandbox/faultproxy"
	"jobtop/store/sandbox/sandboxtest"
)

// bench is a table behind a proxy, and a way to look at it that is not.
type bench struct {
	*testing.T
	proxy  *faultproxy.Proxy
	url    string // through the proxy
	direct *pgxpool.Pool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dsn := sandboxtest.EmptyDatabase(t)
	direct := sandboxtest.Pool(t, dsn)
	if _, err := direct.Exec(context.Background(), "CREATE TABLE marks (n integer)"); err != nil {
		t.Fatal(err)
	}
	proxy, url, err := faultproxy.New(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return &bench{T: t, proxy: proxy, url: url, direct: direct}
}

func (b *bench) connect() *pgx.Conn {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := pgx.ParseConfig(b.url)
	if err != nil {
		b.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// mark inserts in one pipelined transaction, and returns the row's own answer and what
// became of the whole.
func mark(conn *pgx.Conn, n int) (inserted bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	batch.Queue("INSERT INTO marks VALUES ($1)", n)
	batch.Queue("COMMIT")
	results := conn.SendBatch(ctx, batch)
	_, begun := results.Exec()
	_, err = results.Exec()
	inserted = begun == nil && err == nil
	if _, last := results.Exec(); err == nil {
		err = last
	}
	return inserted, errors.Join(err, results.Close())
}

func (b *bench) marks() (n int) {
	b.Helper()
	if err := b.direct.QueryRow(context.Background(), "SELECT count(*) FROM marks").Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

func (b *bench) wait(what string, happens <-chan struct{}) {
	b.Helper()
	select {
	case <-happens:
	case <-time.After(time.Minute):
		b.Fatalf("not in time: %s", what)
	}
}

var insert = faultproxy.Holding("INSERT INTO marks")

func TestFaultsAtTheirPoints(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		name               string
		fault              faultproxy.Fault
		inserted, answered bool // what the client hears
		marks              int  // what the server did
	}{
		{"pass", faultproxy.Pass, true, true, 1},
		{"drop before", faultproxy.DropBefore, false, false, 0},
		{"half sent", faultproxy.HalfSent, false, false, 0},
		{"forward then cut", faultproxy.ForwardThenCut, false, false, 1},
		{"cut answer", faultproxy.CutAnswer, true, false, 1},
	} {
		before := b.marks()
		conn := b.connect()
		s := b.proxy.Next(insert, c.fault)
		inserted, err := mark(conn, 1)
		b.wait(c.name, s.Over())
		if inserted != c.inserted || (err == nil) != c.answered {
			t.Errorf("%s: the client heard of the row: %t, of all: %v", c.name, inserted, err)
		}
		if got := b.marks() - before; got != c.marks {
			t.Errorf("%s: the server did it %d times, want %d", c.name, got, c.marks)
		}
		var server *pgconn.PgError
		if errors.As(err, &server) {
			t.Errorf("%s: the server's word was passed on: %v", c.name, err)
		}
	}
}

func TestHeldRequestGoesOnOrNot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, goesOn := range []bool{true, false} {
		before := b.marks()
		conn := b.connect()
		s := b.proxy.Next(insert, faultproxy.HoldRequest)
		done := make(chan error, 1)
		go func() { _, err := mark(conn, 1); done <- err }()
		b.wait("it is held", s.Reached())
		if b.marks() != before {
			t.Error("it was held, and the server has it")
		}
		if goesOn {
			s.Release()
		} else {
			s.Cut()
		}
		if err := <-done; (err == nil) != goesOn || b.marks()-before != map[bool]int{true: 1}[goesOn] {
			t.Errorf("released: %t, %v, %d marks", goesOn, err, b.marks()-before)
		}
	}
}

func TestHeldAnswerIsCommitted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	conn := b.connect()
	s := b.proxy.Next(insert, faultproxy.HoldAnswer)
	done := make(chan error, 1)
	go func() { _, err := mark(conn, 1); done <- err }()
	b.wait("the server is through", s.Reached())
	if b.marks() != 1 {
		t.Error("it is not committed")
	}
	select {
	case err := <-done:
		t.Errorf("the client was answered: %v", err)
	default:
	}
	s.Release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := mark(conn, 2); err != nil {
		t.Errorf("the connection did not go on: %v", err)
	}
}

func TestLateDelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	conn := b.connect()
	s := b.proxy.Next(insert, faultproxy.Late)
	if _, err := mark(conn, 1); err == nil || b.marks() != 0 {
		t.Fatalf("%v, %d marks", err, b.marks())
	}
	b.wait("the driver has asked to cancel it", conn.PgConn().CleanupDone())
	s.Release()
	b.wait("it is delivered", s.Over())
	if b.marks() != 1 {
		t.Errorf("%d marks", b.marks())
	}
}

// What was held for a client that died meanwhile is delivered all the same.
func TestHeldRequestOfADeadClient(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	conn := b.connect()
	s := b.proxy.Next(insert, faultproxy.HoldRequest)
	done := make(chan error, 1)
	go func() { _, err := mark(conn, 1); done <- err }()
	b.wait("it is held", s.Reached())
	_ = conn.PgConn().Conn().Close()
	if err := <-done; err == nil {
		t.Error("a dead client was answered")
	}
	b.wait("the driver has asked to cancel it", conn.PgConn().CleanupDone())
	s.Release()
	b.wait("it is delivered", s.Over())
	if b.marks() != 1 {
		t.Errorf("%d marks", b.marks())
	}
}

func TestBlackHolePassesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.connect()
	end := b.proxy.BlackHole()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := pgx.Connect(ctx, b.url); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a new connection: %v", err)
	}
	done := make(chan error, 1)
	go func() { _, err := mark(old, 1); done <- err }()
	end()
	if err := <-done; err != nil || b.marks() != 1 {
		t.Errorf("after it: %v, %d marks", err, b.marks())
	}
	if _, err := mark(b.connect(), 2); err != nil {
		t.Errorf("a new connection after it: %v", err)
	}
}

func TestCutIdleSparesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	idle, busy := b.connect(), b.connect()
	s := b.proxy.Next(insert, faultproxy.HoldRequest)
	done := make(chan error, 1)
	go func() { _, err := mark(busy, 1); done <- err }()
	b.wait("it is held", s.Reached())
	if n := b.proxy.CutIdle(); n != 1 {
		t.Errorf("cut %d connections", n)
	}
	s.Release()
	if err := <-done; err != nil {
		t.Errorf("the busy one: %v", err)
	}
	if _, err := mark(idle, 2); err == nil {
		t.Error("the idle one is still there")
	}
}

// A standing order is asked about what no order of Next is for; an order that is
// withdrawn does not strike.
func TestStandingAndWithdrawn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.proxy.Standing(func(r faultproxy.Request) faultproxy.Fault {
		if r.Has("INSERT INTO marks") {
			return faultproxy.ForwardThenCut
		}
		return faultproxy.Pass
	})
	s := b.proxy.Next(insert, faultproxy.DropBefore)
	if !s.Withdraw() || s.Withdraw() {
		t.Error("it could not be withdrawn once")
	}
	conn := b.connect()
	if _, err := conn.Exec(context.Background(), "SELECT 1"); err != nil {
		t.Error(err)
	}
	if _, err := mark(conn, 1); err == nil {
		t.Error("it was answered")
	}
	if b.marks() != 1 {
		t.Errorf("%d marks", b.marks())
	}
}
