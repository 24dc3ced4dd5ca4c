package actions

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// The races of act and settle. Each is forced: one side stands at a lock, seen in
// pg_locks, before the other goes on.

// session is one connection with its transactions in the test's hands.
type session struct {
	*pgx.Conn
	l   *ledger
	pid uint32
}

// session opens one. Whoever waits for it at a lock waits as long as the test takes.
func (l *ledger) session() *session {
	l.t.Helper()
	conn, err := pgx.Connect(context.Background(), l.url)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.(testing.TB).Cleanup(func() { _ = conn.Close(context.Background()) })
	l.exec(patient)
	return &session{Conn: conn, l: l, pid: conn.PgConn().PID()}
}

// patient gives the functions more time to wait for a lock than any test takes.
const patient = `DO $$ DECLARE f regprocedure; BEGIN
	FOR f IN SELECT p.oid FROM pg_proc p
	          WHERE p.pronamespace = 'jobtop'::regnamespace AND EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c ~ '^lock_timeout=' AND c <> 'lock_timeout=10min') LOOP
		EXECUTE format('ALTER FUNCTION %s SET lock_timeout = ''10min''', f);
	END LOOP;
END $$`

func (s *session) exec(sql string, arguments ...any) {
	s.l.t.Helper()
	if _, err := s.Exec(context.Background(), sql, arguments...); err != nil {
		s.l.t.Fatalf("%s: %v", sql, err)
	}
}

// answer is what a call brought: outcome and refusal, or an error.
type answer struct {
	text string
	err  error
}

// call runs a query for one text in the background.
func (s *session) call(sql string, arguments ...any) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		var text *string
		err := s.QueryRow(context.Background(), sql, arguments...).Scan(&text)
		got <- answer{str(text), err}
	}()
	return got
}

// waits returns once a session stands at a lock.
func (s *session) waits() {
	s.l.t.Helper()
	eventually(s.l.t, "a session waits for a lock", func() bool {
		return s.l.get("SELECT count(*)::text FROM pg_locks WHERE pid = $1 AND NOT granted", int64(s.pid)) != "0"
	})
}

const actSQL = `SELECT concat_ws(' ', a.outcome, a.refusal) FROM jobtop.act($1::text::uuid, $2::text, $3::text, $4::text, $5::bigint, 'alice', $6::text,
	receipt_id => $7::text, confirmations => $8::text[]) a`

func (o Order) arguments() []any {
	var receipt *string
	if o.ReceiptID != "" {
		receipt = &o.ReceiptID
	}
	confirmations := o.Confirmations
	if confirmations == nil {
		confirmations = []string{}
	}
	return []any{o.ActionID, string(o.Verb), o.JobID, string(o.SeenState), o.SeenVersion, o.Reason, receipt, confirmations}
}

const settleSQL = `SELECT a.outcome FROM jobtop.settle($1::text::uuid, $2::text, $3::text, 'alice') a`

func (l *ledger) expect(what string, got <-chan answer, want string) {
	l.t.Helper()
	select {
	case a := <-got:
		if a.err != nil || a.text != want {
			l.t.Errorf("%s: %q, %v; want %q", what, a.text, a.err, want)
		}
	case <-time.After(time.Minute):
		l.t.Fatalf("%s: no answer", what)
	}
}

func (l *ledger) keyed(v Verb, id string) Order {
	l.t.Helper()
	o := l.order(v, id)
	o.ActionID = uuid.NewString()
	return o
}

// Settle comes while the act waits for the job's lock. The act has written nothing
// yet, so settle does not wait and voids it; the act then finds the void row and
// changes nothing.
func TestRaceSettleWhileActWaitsForTheJob(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.keyed(VerbDead, id)
	before := l.row(id)
	holder, actor := l.session(), l.session()
	holder.exec("BEGIN")
	holder.exec("SELECT FROM jobtop.jobs WHERE id = $1 FOR UPDATE", id)
	acted := actor.call(actSQL, o.arguments()...)
	actor.waits()
	settled := l.session().call(settleSQL, o.ActionID, string(o.Verb), id)
	l.expect("settle", settled, "void")
	holder.exec("COMMIT")
	l.expect("act", acted, "void")
	if after := l.row(id); after != before {
		t.Errorf("a voided act changed the job:\n%s\n%s", before, after)
	}
}

// Settle comes when the act has written its row and not yet committed: it waits, and
// tells what the act became, be that a commit or a rollback.
func TestRaceSettleWhileActCommits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for end, want := range map[string]string{"COMMIT": "applied", "ROLLBACK": "void"} {
		id, _ := l.bring(Review, false)
		o := l.keyed(VerbDead, id)
		actor, settler := l.session(), l.session()
		actor.exec("BEGIN")
		l.expect("act", actor.call(actSQL, o.arguments()...), "applied")
		settled := settler.call(settleSQL, o.ActionID, string(o.Verb), id)
		settler.waits()
		actor.exec(end)
		l.expect("settle after "+end, settled, want)
		if state := map[string]State{"applied": Dead, "void": Review}[want]; l.state(id) != state {
			t.Errorf("settled as %s, and the job is %s", want, l.state(id))
		}
	}
}

// The act comes when a settle has written its void row and not yet committed: it
// waits, and yields to it; or goes through, if the settle is rolled back.
func TestRaceActWhileSettleCommits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for end, want := range map[string]string{"COMMIT": "void", "ROLLBACK": "applied"} {
		id, _ := l.bring(Review, false)
		o := l.keyed(VerbDead, id)
		actor, settler := l.session(), l.session()
		settler.exec("BEGIN")
		l.expect("settle", settler.call(settleSQL, o.ActionID, string(o.Verb), id), "void")
		acted := actor.call(actSQL, o.arguments()...)
		actor.waits()
		settler.exec(end)
		l.expect("act after "+end, acted, want)
		if state := map[string]State{"applied": Dead, "void": Review}[want]; l.state(id) != state {
			t.Errorf("answered %s, and the job is %s", want, l.state(id))
		}
	}
}

// A settle before the act arrives: the act never happens, however often it comes.
func TestRaceVoidBeforeTheActArrives(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.keyed(VerbRequeue, id)
	before := l.row(id)
	l.expect("settle", l.session().call(settleSQL, o.ActionID, string(o.Verb), id), "void")
	for range 2 {
		l.expect("act", l.session().call(actSQL, o.arguments()...), "void")
	}
	r := l.runner("alice")
	result := l.must(r, o, NotHappened)
	if line := Explain(result); !strings.Contains(line, "was not requeued, and will not be by that act") {
		t.Errorf("explained as %q", line)
	}
	if after := l.row(id); after != before {
		t.Errorf("a voided act changed the job:\n%s\n%s", before, after)
	}
}

// A worker thought dead records its intent while a requeue waits for the job: the
// evidence is read under the lock, so the requeue is refused as uncertain.
func TestRaceIntentCommitsWhileARequeueWaits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, kind := l.enqueue()
	token := l.claim(id, kind, true)
	l.silence(id)
	o := l.keyed(VerbRequeue, id)
	if len(o.Confirmations) != 0 {
		t.Fatalf("before its intent a requeue should be safe: %v", o.Confirmations)
	}
	worker, actor := l.session(), l.session()
	worker.exec("BEGIN")
	l.expect("intent", worker.call("SELECT answer FROM jobtop.record_intent($1, $2::text::uuid)", id, token), "begin")
	acted := actor.call(actSQL, o.arguments()...)
	actor.waits()
	worker.exec("COMMIT")
	l.expect("act", acted, "refused uncertain")
	if l.state(id) != Running {
		t.Errorf("it is %s", l.state(id))
	}
}

// A heartbeat comes back while a requeue of a stuck job waits: it is not stuck any
// more, and the worker keeps it.
func TestRaceHeartbeatComesBackWhileARequeueWaits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, kind := l.enqueue()
	token := l.claim(id, kind, true)
	l.silence(id)
	o := l.keyed(VerbRequeue, id)
	worker, actor := l.session(), l.session()
	worker.exec("BEGIN")
	l.expect("heartbeat", worker.call("SELECT jobtop.heartbeat($1, $2::text::uuid)::text", id, token), "true")
	acted := actor.call(actSQL, o.arguments()...)
	actor.waits()
	worker.exec("COMMIT")
	l.expect("act", acted, "refused alive")
	l.begin(id, token)
	l.complete(id, token)
}

// A receipt comes while a requeue waits: the job is done, and the requeue is refused.
// The other way round the receipt is a late report.
func TestRaceReceiptAgainstARequeue(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	setUp := func() (id, token string, o Order) {
		id, kind := l.enqueue()
		token = l.claim(id, kind, true)
		l.begin(id, token)
		l.silence(id)
		return id, token, l.keyed(VerbRequeue, id)
	}
	const completeSQL = "SELECT jobtop.complete($1, $2::text::uuid, 'ch_' || $1)"

	id, token, o := setUp()
	worker, actor := l.session(), l.session()
	worker.exec("BEGIN")
	l.expect("complete", worker.call(completeSQL, id, token), "done")
	acted := actor.call(actSQL, o.arguments()...)
	actor.waits()
	worker.exec("COMMIT")
	l.expect("act", acted, "refused changed")
	if l.state(id) != Done {
		t.Errorf("it is %s", l.state(id))
	}

	id, token, o = setUp()
	actor.exec("BEGIN")
	l.expect("act", actor.call(actSQL, o.arguments()...), "applied")
	completed := worker.call(completeSQL, id, token)
	worker.waits()
	actor.exec("COMMIT")
	l.expect("complete", completed, "lease_lost")
	if e := l.see(id).Evidence; l.state(id) != Pending || Headline(e) != "HAPPENED (LATE)" {
		t.Errorf("it is %s, %s", l.state(id), Headline(e))
	}
}

// Two acts under one key at once are one act, and both are told the same.
func TestRaceTwoActsWithOneKey(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.keyed(VerbDead, id)
	one, two := l.session(), l.session()
	one.exec("BEGIN")
	l.expect("the first", one.call(actSQL, o.arguments()...), "applied")
	second := two.call(actSQL, o.arguments()...)
	two.waits()
	one.exec("COMMIT")
	l.expect("the second", second, "applied")
	if job := l.see(id); job.Version != o.SeenVersion+1 {
		t.Errorf("version %d", job.Version)
	}
	if got := l.get("SELECT count(*)::text FROM jobtop.actions WHERE job_id = $1", id); got != "1" {
		t.Errorf("%s actions", got)
	}
}

// The same key at once for two jobs: the locks do not meet, the key does.
func TestRaceOneKeyForTwoJobs(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	other, _ := l.bring(Review, false)
	o, p := l.keyed(VerbDead, id), l.keyed(VerbDead, other)
	p.ActionID = o.ActionID
	one, two := l.session(), l.session()
	one.exec("BEGIN")
	l.expect("the first", one.call(actSQL, o.arguments()...), "applied")
	second := two.call(actSQL, p.arguments()...)
	two.waits()
	one.exec("COMMIT")
	if a := <-second; sqlState(a.err) != "JT011" {
		t.Errorf("the second: %q, %v", a.text, a.err)
	}
	if l.state(id) != Dead || l.state(other) != Review {
		t.Errorf("they are %s and %s", l.state(id), l.state(other))
	}
}

// A key that is used again with any other argument is refused and changes nothing; with
// the same ones it is answered as before, whatever the job is by then.
func TestRaceKeyUsedAgain(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, kind := l.bring(Review, false)
	r := l.runner("alice")
	first := l.must(r, l.order(VerbRequeue, id), Applied)
	o := first.Order
	l.claim(id, kind, true)
	before := l.row(id)

	again := l.must(r, o, Applied)
	if line := Explain(again); !strings.HasPrefix(line, id+" was requeued (version 4); since then w-7 claimed it") || !strings.HasSuffix(line, "it is running, version 5") {
		t.Errorf("explained as %q", line)
	}
	for name, change := range map[string]func(*Order){
		"verb":          func(o *Order) { o.Verb = VerbHold },
		"job":           func(o *Order) { o.JobID, _ = l.bring(Review, false) },
		"state":         func(o *Order) { o.SeenState = Dead },
		"version":       func(o *Order) { o.SeenVersion++ },
		"reason":        func(o *Order) { o.Reason = "another" },
		"confirmations": func(o *Order) { o.Confirmations = nil },
		"delay":         func(o *Order) { o.Delay = time.Hour },
	} {
		other := o
		change(&other)
		result := l.must(r, other, Errored)
		if line := Explain(result); !strings.Contains(line, "was made with other arguments") || !strings.Contains(line, "nothing was changed") {
			t.Errorf("%s: explained as %q", name, line)
		}
	}
	l.must(l.runner("bob"), o, Errored)
	if after := l.row(id); after != before {
		t.Errorf("it was changed:\n%s\n%s", before, after)
	}
	if got := l.get("SELECT count(*)::text FROM jobtop.actions WHERE operator IN ('alice', 'bob')"); got != "1" {
		t.Errorf("%s actions", got)
	}
}

// Two jobs of a kind are marked done with one receipt at once: one is, the other is
// refused and told which.
func TestRaceOneReceiptForTwoJobs(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, kind := l.bring(Review, false)
	other := id + "-b"
	l.exec("SELECT jobtop.enqueue($1, $2)", other, kind)
	o, p := l.keyed(VerbDone, id), l.keyed(VerbDone, other)
	o.ReceiptID, p.ReceiptID = "ch_one", "ch_one"
	one, two := l.session(), l.session()
	one.exec("BEGIN")
	l.expect("the first", one.call(actSQL, o.arguments()...), "applied")
	second := two.call(actSQL, p.arguments()...)
	two.waits()
	one.exec("COMMIT")
	l.expect("the second", second, "refused receipt_conflict")
	result := l.must(l.runner("alice"), l.orderWith(VerbDone, other, "ch_one"), Refused)
	if line := Explain(result); line != other+" was not marked done: receipt ch_one belongs to job "+id+"; one receipt proves one job, so compare the two at the provider" {
		t.Errorf("explained as %q", line)
	}
	if l.state(id) != Done || l.state(other) != Pending {
		t.Errorf("they are %s and %s", l.state(id), l.state(other))
	}
}

func (l *ledger) orderWith(v Verb, id, receipt string) Order {
	l.t.Helper()
	o := l.order(v, id)
	o.ReceiptID = receipt
	return o
}

// A job whose lock is not to be had in time is busy: that is recorded, and told.
func TestRaceBusy(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.order(VerbDead, id)
	holder, err := l.pool.Begin(context.Background()) // no session: the act's patience is the matter
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(context.Background(), "SELECT FROM jobtop.jobs WHERE id = $1 FOR UPDATE", id); err != nil {
		t.Fatal(err)
	}
	result := l.must(l.runner("alice"), o, Refused)
	if line := Explain(result); line != "somebody else holds "+id+" at this moment; it is in review, version 3; nothing was changed, try again" {
		t.Errorf("explained as %q", line)
	}
	if err := holder.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	o.ActionID = result.Order.ActionID
	if again := l.must(l.runner("alice"), o, Refused); str(again.Answer.Refusal) != "busy" {
		t.Errorf("under the same key: %s", Explain(again))
	}
	o.ActionID = ""
	l.must(l.runner("alice"), o, Applied)
}

// Under a fixed snapshot act could decide on what is no longer true, and settle could
// miss an act that landed: both refuse to run.
func TestRaceFixedSnapshots(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.keyed(VerbDead, id)
	before := l.row(id)
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		for what, ask := range map[string]func(*session) <-chan answer{
			"act":    func(s *session) <-chan answer { return s.call(actSQL, o.arguments()...) },
			"settle": func(s *session) <-chan answer { return s.call(settleSQL, o.ActionID, string(o.Verb), id) },
		} {
			s := l.session()
			s.exec("BEGIN ISOLATION LEVEL " + level)
			if a := <-ask(s); sqlState(a.err) != "JT010" {
				t.Errorf("%s under %s: %q, %v", what, level, a.text, a.err)
			}
			s.exec("ROLLBACK")
		}
	}
	if got := l.get("SELECT count(*)::text FROM jobtop.actions"); got != "0" || l.row(id) != before {
		t.Errorf("%s actions", got)
	}

	// A role or a database whose default is such a level is none of our acts' business:
	// they say which they need.
	l.exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$")
	db, err := store.Open(context.Background(), store.Options{DSN: l.url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	r := l.runner("alice")
	r.DB = &fake{Database: db, onAct: cutAfter}
	l.must(r, o, Applied)
}

// A job that went round and came back to the state that was seen is another version:
// an act that waited all the while is refused.
func TestRaceRoundAndBackWhileAnActWaits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.keyed(VerbDead, id)
	p := l.keyed(VerbRequeue, id)
	q := l.keyed(VerbHold, id)
	q.SeenState, q.SeenVersion, q.Confirmations = Pending, p.SeenVersion+1, nil
	bob, actor := l.session(), l.session()
	bob.exec("BEGIN")
	l.expect("requeue", bob.call(actSQL, p.arguments()...), "applied")
	l.expect("hold", bob.call(actSQL, q.arguments()...), "applied")
	acted := actor.call(actSQL, o.arguments()...)
	actor.waits()
	bob.exec("COMMIT")
	l.expect("act", acted, "refused changed")
	if l.state(id) != Review {
		t.Errorf("it is %s", l.state(id))
	}
}
