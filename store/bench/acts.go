package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// supply hands out jobs of one state, each once.
type supply struct {
	db    *store.DB
	query store.JobQuery
	jobs  []store.Job
	ended bool
}

func newSupply(t *table, name string) *supply {
	return &supply{db: t.db, query: store.JobQuery{Conditions: state(name), Order: store.NewestFirst, Limit: store.PageLimit}}
}

// take returns n jobs that were not handed out before.
func (s *supply) take(ctx context.Context, n int) ([]store.Job, error) {
	for len(s.jobs) < n && !s.ended {
		page, err := s.db.Jobs(ctx, s.query)
		if err != nil {
			return nil, err
		}
		s.jobs = append(s.jobs, page.Jobs...)
		s.query.After, s.ended = page.Next, page.Next == ""
	}
	if len(s.jobs) < n {
		return nil, fmt.Errorf("the table has too few jobs for so many rounds")
	}
	taken := s.jobs[:n]
	s.jobs = s.jobs[n:]
	return taken, nil
}

// acts in each round, beside as many bare updates.
const actsEach = 20

// planActs times one act after the other as the console sends them, and beside them the
// least that any tool must do: a guarded UPDATE of the same row in the same table, with
// the same indexes, but without the guard's triggers, evidence or record.
func (b *bench) planActs(_ context.Context, t *table) error {
	n := min(actsEach, int(t.size.review)/2/(b.Rounds+1))
	if n == 0 {
		return fmt.Errorf("--jobs is too small for so many rounds of acts")
	}
	review := newSupply(t, "review")
	ours := &measurement{what: oneAct, table: t, clock: AtClient}
	ours.run = func(ctx context.Context) ([]time.Duration, error) {
		jobs, err := review.take(ctx, n)
		if err != nil {
			return nil, err
		}
		return each(jobs, func(j store.Job) error {
			answer, err := t.db.Act(ctx, store.ActRequest{ActionID: newID(), Verb: "requeue", JobID: j.ID, SeenState: j.State, SeenVersion: j.Version,
				Operator: "bench", Reason: "measuring", Client: "jobtop bench", Confirmations: []string{"may_have_happened"}})
			if err == nil && answer.Outcome != "applied" {
				err = fmt.Errorf("it was %s", answer.Outcome)
			}
			return err
		})
	}
	bare := &measurement{what: bareUpdate, table: t, clock: AtClient}
	bare.run = b.withConnection(t, func(ctx context.Context, conn *pgx.Conn) ([]time.Duration, error) {
		jobs, err := review.take(ctx, n)
		if err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, "SET session_replication_role = replica"); err != nil {
			return nil, err
		}
		return each(jobs, func(j store.Job) error {
			tag, err := conn.Exec(ctx, `UPDATE jobtop.jobs SET state = 'pending', version = version + 1, run_at = clock_timestamp(), state_changed_at = clock_timestamp(),
				error_category = NULL, error_detail = NULL WHERE id = $1::text AND state = $2::text AND version = $3::bigint`, j.ID, j.State, j.Version)
			if err == nil && tag.RowsAffected() != 1 {
				err = fmt.Errorf("%d rows were updated", tag.RowsAffected())
			}
			return err
		})
	})
	b.all = append(b.all, ours, bare)
	return nil
}

func each(jobs []store.Job, do func(store.Job) error) ([]time.Duration, error) {
	taken := make([]time.Duration, 0, len(jobs))
	for _, j := range jobs {
		started := time.Now()
		if err := do(j); err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		taken = append(taken, time.Since(started))
	}
	return taken, nil
}

// bulkRounds is how often a bulk is measured.
const bulkRounds = 5

// planBulk times a bulk of up to 1,000 jobs as the console runs it, and beside it the same
// acts in the tightest loop that one connection allows.
func (b *bench) planBulk(_ context.Context, t *table) error {
	if b.Hold == nil {
		return nil
	}
	rounds := min(bulkRounds, b.Rounds)
	n := min(1_000, int(t.size.pending)/3/(rounds+1))
	if n == 0 {
		return fmt.Errorf("--jobs is too small for a bulk")
	}
	pending := newSupply(t, "pending")
	all := func(do func(context.Context, []store.Job) error) func(context.Context) ([]time.Duration, error) {
		return func(ctx context.Context) ([]time.Duration, error) {
			jobs, err := pending.take(ctx, n)
			if err != nil {
				return nil, err
			}
			started := time.Now()
			err = do(ctx, jobs)
			return []time.Duration{time.Since(started) / time.Duration(n)}, err
		}
	}
	note := fmt.Sprintf("%s jobs a time", count(int64(n)))
	ours := &measurement{what: bulk, table: t, clock: AtClient, rounds: rounds, parts: n, note: note}
	ours.run = all(func(ctx context.Context, jobs []store.Job) error { return b.Hold(ctx, t.db, jobs) })
	tight := &measurement{what: loop, table: t, clock: AtClient, rounds: rounds, parts: n, note: note}
	var conn *pgx.Conn
	tight.run = all(func(ctx context.Context, jobs []store.Job) error {
		if conn == nil {
			var err error
			if conn, err = connect(ctx, t.dsn); err != nil {
				return err
			}
			b.conns = append(b.conns, conn)
		}
		for _, j := range jobs {
			var outcome string
			err := conn.QueryRow(ctx, `SELECT outcome FROM jobtop.act(gen_random_uuid(), 'hold', $1::text, $2::text, $3::bigint, 'bench', 'measuring')`,
				j.ID, j.State, j.Version).Scan(&outcome)
			if err != nil || outcome != "applied" {
				return fmt.Errorf("the act was %s: %w", outcome, err)
			}
		}
		return nil
	})
	b.all = append(b.all, ours, tight)
	return nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
