package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// live is a database with jobs that went through the functions that workers call: in
// review with and without an intent, running and alive, and pending.
func live(t testing.TB, dsn string) *pgxpool.Pool {
	t.Helper()
	pool := sandboxtest.Pool(t, dsn)
	sql(t, pool, `SELECT jobtop.enqueue('wait-1', 'report.build')`)
	for i := range 6 {
		id := fmt.Sprintf("charge-%d", i)
		token := fmt.Sprintf("00000000-0000-7000-8000-00000000000%d", i)
		sql(t, pool, `SELECT jobtop.enqueue($1, 'card.charge')`, id)
		sql(t, pool, `SELECT jobtop.claim('w-1', $1::uuid, ARRAY['card.charge'], 1, true)`, token)
		if i%2 == 0 {
			sql(t, pool, `CALL jobtop.begin_effect($1, $2::uuid)`, id, token)
		}
		sql(t, pool, `SELECT jobtop.act(gen_random_uuid(), 'hold', $1, 'running', 2, 'bob', 'a look first', confirmations => ARRAY['stop'])`, id)
	}
	return pool
}

func sql(t testing.TB, pool *pgxpool.Pool, query string, arguments ...any) {
	t.Helper()
	if _, err := pool.Exec(context.Background(), query, arguments...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func one[T any](t testing.TB, pool *pgxpool.Pool, query string, arguments ...any) T {
	t.Helper()
	var v T
	if err := pool.QueryRow(context.Background(), query, arguments...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestLiveAnActThroughTheTerminal(t *testing.T) {
	dsn := sandboxtest.Database(t)
	pool := live(t, dsn)
	s := inTerminal(t, dsn, "review", 100, 30)
	s.shows("charge-0", "may have happened", "charge-5", "never started", "RW")

	// Five keys at once: four rows down, and back one.
	s.keys("jjjjk")
	s.shows(">  charge-3")
	s.keys("E")
	s.dialog("Requeue charge-3")
	s.keys("ticket 5512\r")
	s.shows("[ Requeue ]")
	time.Sleep(quietFor + 50*time.Millisecond)
	s.keys("\r")
	s.shows("charge-3 was requeued")
	if got := one[string](t, pool, `SELECT state FROM jobtop.jobs WHERE id = 'charge-3'`); got != "pending" {
		t.Errorf("charge-3 is %s", got)
	}
	if got := one[string](t, pool, `SELECT operator || ': ' || reason FROM jobtop.actions WHERE job_id = 'charge-3' AND verb = 'requeue'`); got != "alice: ticket 5512" {
		t.Errorf("the record has %q", got)
	}

	// Done, with a receipt, of one that may have happened; seen by the record.
	s.keys("gD")
	s.dialog("Mark done charge-0")
	s.keys("the provider has it\r")
	s.keys("ch_1\r")
	s.shows("[ Mark done ]")
	time.Sleep(quietFor + 50*time.Millisecond)
	s.keys("\r")
	s.shows("charge-0 was marked done")
	if got := one[string](t, pool, `SELECT receipt_id FROM jobtop.receipts WHERE job_id = 'charge-0'`); got != "ch_1" {
		t.Errorf("the receipt is %s", got)
	}

	// Refused: somebody else was faster, between the dialog's reading and the act.
	s.keys(":job charge-2\r")
	s.shows("MAY HAVE HAPPENED")
	s.keys("X")
	s.dialog("Mark dead charge-2")
	s.keys("nobody wants it\r")
	sql(t, pool, `SELECT jobtop.act(gen_random_uuid(), 'requeue', 'charge-2', 'review', 3, 'bob', 'faster', confirmations => ARRAY['may_have_happened'])`)
	s.shows("bob changed it (requeue)")
	s.keys("\x1b")
	s.drops("┌ Mark dead")
	s.keys("q\r")
	s.keys("\x03")
	s.ends(0)
}

func TestLiveRowsVanishAboveTheSelection(t *testing.T) {
	dsn := sandboxtest.Database(t)
	pool := live(t, dsn)
	s := inTerminal(t, dsn, "review", 80, 24)
	s.shows("charge-5")
	s.keys("jjj")
	s.shows(">  charge-3")
	for _, id := range []string{"charge-0", "charge-1", "charge-2"} {
		sql(t, pool, `SELECT jobtop.act(gen_random_uuid(), 'dead', $1, 'review', 3, 'bob', 'given up')`, id)
	}
	s.drops("charge-1")
	s.shows(">  charge-3")
	s.keys("q")
	s.shows("needs a person")
	s.keys("q")
	s.ends(0)
}

func TestLiveHostileText(t *testing.T) {
	dsn := sandboxtest.Database(t)
	pool := live(t, dsn)
	evil := "x\x1b]0;owned\x07\x1b[2J\x1b[?1049l\u202e\u200b\r\n\ttab"
	sql(t, pool, `SELECT jobtop.enqueue($1, $2, jsonb_build_object('note', $3::text))`, evil, "kind"+evil[:20], evil)
	sql(t, pool, `SELECT jobtop.act(gen_random_uuid(), 'hold', $1, 'pending', 1, $2, $3)`, evil, "bob"+evil, "because"+evil)
	s := inTerminal(t, dsn, "review", 140, 30)
	s.shows(`x\x1b]0;owned`)
	s.keys("G\r")
	s.shows("NEVER STARTED", `by bobx\x1b]0`)
	s.keys("\t\t")
	s.shows(`"note"`)
	s.keys("5")
	s.shows(`becausex\x1b`)
	if !s.mode("alternate") || s.mode("title") {
		t.Errorf("text of the database reached the terminal: alternate screen %v, title %v", s.mode("alternate"), s.mode("title"))
	}
	s.keys("\x03")
	s.ends(0)
}

func TestLiveSignalsGiveTheTerminalBack(t *testing.T) {
	dsn := sandboxtest.Database(t)
	live(t, dsn)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		s := inTerminal(t, dsn, "review", 80, 24)
		s.shows("charge-5", "RW") // only then is it known what may be done
		s.keys("E")
		s.shows("┌ Requeue")
		s.signal(sig)
		s.ends(3)
	}
}

func TestLiveSuspendAndResume(t *testing.T) {
	dsn := sandboxtest.Database(t)
	live(t, dsn)
	s := inTerminal(t, dsn, "review", 80, 24)
	s.shows("charge-5")
	s.keys("\x1a")
	s.eventually("the terminal is given back", func() bool { return !s.mode("alternate") && s.mode("cursor") })
	s.eventually("the screen is back", func() bool {
		s.signal(syscall.SIGCONT) // the shell's fg; again, should it come before the console waits for it
		return s.mode("alternate") && strings.Contains(s.text(), "charge-5")
	})
	s.keys("\x03")
	s.ends(0)
}

func TestLiveResize(t *testing.T) {
	dsn := sandboxtest.Database(t)
	live(t, dsn)
	s := inTerminal(t, dsn, "review", 80, 24)
	s.shows("charge-5")
	s.resize(50, 10)
	s.shows("jobtop needs 60x15, this is 50x10")
	s.resize(120, 40)
	s.shows("charge-5", "last word")
	s.keys("\x03")
	s.ends(0)
}

// The database is stopped and started again: the screen says so, stays readable, and
// recovers without a key.
func TestLiveDatabaseStopsAndStarts(t *testing.T) {
	server := sandboxtest.Server(t, sandbox.Options{})
	ctx := context.Background()
	if err := server.CreateDatabase(ctx, "orders", sandbox.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	dsn := server.URL("orders")
	if _, err := store.ApplySchema(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	live(t, dsn)
	s := inTerminal(t, dsn, "review", 100, 30)
	s.shows("charge-5")
	s.drops("no data yet") // the list may come before the first counts do
	if err := server.Halt(ctx); err != nil {
		t.Fatal(err)
	}
	s.shows("STALE", "next try", "charge-5")
	s.keys("j")
	s.shows(">  charge-1")
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	s.drops("STALE")
	s.shows("the database answers again", ">  charge-1")
	s.keys("\x03")
	s.ends(0)
}

// older lets all jobs have been in their state for two hours, past the guard.
func older(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	tx, err := pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`SET LOCAL session_replication_role = replica`,
		`UPDATE jobtop.jobs SET state_changed_at = state_changed_at - interval '2 hours', created_at = created_at - interval '2 hours'`,
	} {
		if _, err := tx.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// What a screen costs a slow line: a look that finds nothing new, and a cursor move. The
// median decides, so that one late repaint does not.
func TestLiveBytes(t *testing.T) {
	dsn := sandboxtest.Database(t)
	pool := sandboxtest.Pool(t, dsn)
	for i := range 60 {
		id := fmt.Sprintf("charge-%04d", i)
		sql(t, pool, `SELECT jobtop.enqueue($1, 'card.charge')`, id)
		sql(t, pool, `SELECT jobtop.act(gen_random_uuid(), 'hold', $1, 'pending', 1, 'bob', 'a look first')`, id)
	}
	older(t, pool)
	for _, c := range []struct{ width, height, refresh, move int }{{80, 24, 200, 350}, {140, 45, 400, 700}} {
		looks := filepath.Join(t.TempDir(), "looks")
		s := inTerminal(t, dsn, "review", c.width, c.height, asLooks+"="+looks)
		looked := func() int { // a byte for each
			info, err := os.Stat(looks)
			if err != nil {
				return 0
			}
			return int(info.Size())
		}
		next := func() {
			t.Helper()
			before := looked()
			s.eventually("the console looks again", func() bool { return looked() > before })
		}
		s.shows("charge-0009", "RW", "3 review 60")
		s.drops("no data yet")
		next() // what comes once has come
		next()
		var refreshes, moves []int
		for range 9 {
			bytes, n := s.sent(), looked()
			next()
			refreshes = append(refreshes, (s.sent()-bytes)/(looked()-n))
		}
		bytes := s.sent()
		for i := range 9 {
			s.keys("j")
			s.shows(fmt.Sprintf(">  charge-%04d", i+1))
			moves, bytes = append(moves, s.sent()-bytes), s.sent()
		}
		for what, m := range map[string]struct {
			sent []int
			most int
		}{"a refresh": {refreshes, c.refresh}, "a cursor move": {moves, c.move}} {
			slices.Sort(m.sent)
			if median := m.sent[len(m.sent)/2]; median > m.most {
				t.Errorf("%dx%d: %s sends %d bytes, at most %d: %v", c.width, c.height, what, median, m.most, m.sent)
			} else {
				t.Logf("%dx%d: %s sends %d bytes: %v", c.width, c.height, what, median, m.sent)
			}
		}
		s.keys("\x03")
		s.ends(0)
	}
}
