package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// The cost of the record: claim, intent and complete, with attempts, receipts and the
// guard, beside the same state changes written as two guarded UPDATEs on a bare copy of
// jobs. All on a durable server, by several clients, turn by turn in one run.
//
//	go test -run '^$' -bench Protocol -benchtime 3x ./store
//
// reports jobs a second and their ratio to the bare ones, through begin_next and through
// three calls a job; and the rate of batches of 100 over that of batches of 1 (three calls
// each). More clients than processors can serve make it a comparison of work alone; with
// fewer, all wait for the disk. As disks differ, there is a second one, which takes a
// millisecond longer for each flush.
func BenchmarkProtocol(b *testing.B) {
	for _, flush := range []struct {
		name     string
		settings map[string]string
	}{
		{"disk=this", nil},
		{"disk=1ms", map[string]string{"commit_delay": "1000", "commit_siblings": "0"}},
	} {
		for _, clients := range []int{2, 4, 8} {
			b.Run(fmt.Sprintf("%s/clients=%d", flush.name, clients), func(b *testing.B) { benchmarkProtocol(b, clients, flush.settings) })
		}
	}
}

func benchmarkProtocol(b *testing.B, clients int, settings map[string]string) {
	pool := durableDatabase(b, int32(clients), settings)
	ctx := context.Background()
	mustExec(b, pool, `CREATE TABLE bare (LIKE jobtop.jobs INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)`)

	// A few jobs run all the time, as they do anywhere. Without them the planner takes it that none
	// does, and looks for the one to complete among all that have run.
	const elsewhere = `INSERT INTO %s (id, kind, effect_key) SELECT 'elsewhere' || i, 'elsewhere', 'elsewhere' || i FROM generate_series(1, 1000) i`
	mustExec(b, pool, fmt.Sprintf(elsewhere, "jobtop.jobs"))
	mustExec(b, pool, `SELECT jobtop.claim('w', gen_random_uuid(), '{elsewhere}', 1000)`)
	mustExec(b, pool, fmt.Sprintf(elsewhere, "bare"))
	mustExec(b, pool, `UPDATE bare SET state = 'running', attempt = 1, lock_token = gen_random_uuid(), claimed_at = now(), heartbeat_at = now()`)

	// In slices that take turns, so that what else the machine does meets both alike.
	const slice, slices, batched = 250, 16, 8000
	const jobs = slice * slices
	var next, calls, bare, batches time.Duration
	b.ResetTimer()
	for n := range b.N {
		kind := fmt.Sprintf("bench-%d", n)
		mustExec(b, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key) SELECT $1::text || i, $1::text, $1::text || i FROM generate_series(1, $2::int) i`, kind, 2*jobs+batched+(100+3*slices)*clients)
		mustExec(b, pool, `INSERT INTO bare (id, kind, effect_key) SELECT $1::text || i, $1::text, $1::text || i FROM generate_series(1, $2::int) i`, kind, jobs+slices*clients)
		mustExec(b, pool, `VACUUM ANALYZE jobtop.jobs`)
		mustExec(b, pool, `VACUUM ANALYZE bare`)
		for range slices {
			bare += drain(b, pool, clients, slice, func(c *pgx.Conn) (int, error) { return bareJob(ctx, c, kind) })
			calls += drain(b, pool, clients, slice, func(c *pgx.Conn) (int, error) { return recordedJobs(ctx, c, kind, 1) })
			held := &sync.Map{} // by connection, between its calls
			next += drain(b, pool, clients, slice, func(c *pgx.Conn) (int, error) { return nextJob(ctx, c, kind, held) })
			held.Range(func(_, last any) bool {
				mustExec(b, pool, completeSQL, last.(heldJob).id, last.(heldJob).token)
				return true
			})
		}
		batches += drain(b, pool, clients, batched, func(c *pgx.Conn) (int, error) { return recordedJobs(ctx, c, kind, 100) })
	}
	b.StopTimer()
	total := float64(jobs * b.N)
	b.ReportMetric(total/bare.Seconds(), "bare/s")
	b.ReportMetric(total/next.Seconds(), "next/s")
	b.ReportMetric(bare.Seconds()/next.Seconds(), "next/bare")
	b.ReportMetric(total/calls.Seconds(), "calls/s")
	b.ReportMetric(bare.Seconds()/calls.Seconds(), "calls/bare")
	b.ReportMetric(float64(batched*b.N)/batches.Seconds(), "by-100/s")
	b.ReportMetric(calls.Seconds()/batches.Seconds()*batched/jobs, "batch100/batch1")
	b.ReportMetric(0, "ns/op")
}

// drain lets the clients work off jobs and returns the time it took.
func drain(b *testing.B, pool *pgxpool.Pool, clients, jobs int, work func(*pgx.Conn) (int, error)) time.Duration {
	b.Helper()
	connections := make([]*pgxpool.Conn, clients)
	for i := range connections {
		c, err := pool.Acquire(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		connections[i] = c
		defer c.Release()
	}
	var left sync.WaitGroup
	var mu sync.Mutex
	done := 0
	start := time.Now()
	for _, c := range connections {
		left.Go(func() {
			for {
				n, err := work(c.Conn())
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				done += n
				finished := done >= jobs
				mu.Unlock()
				if finished {
					return
				}
			}
		})
	}
	left.Wait()
	elapsed := time.Since(start)
	if done < jobs {
		b.Fatalf("only %d of %d jobs were done", done, jobs)
	}
	return elapsed
}

// bareJob claims and completes one job with two guarded UPDATEs; 0 when there is none left.
func bareJob(ctx context.Context, c *pgx.Conn, kind string) (int, error) {
	token := uuid.Must(uuid.NewV7()).String()
	var id string
	err := c.QueryRow(ctx, `UPDATE bare SET state = 'running', version = version + 1, attempt = attempt + 1, lock_token = $1::text::uuid, worker = 'w',
		claimed_at = now(), heartbeat_at = now(), state_changed_at = now()
		WHERE id = (SELECT id FROM bare WHERE state IN ('pending', 'failed') AND kind = $2 AND run_at <= now() ORDER BY run_at, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
		AND state IN ('pending', 'failed') RETURNING id`, token, kind).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	tag, err := c.Exec(ctx, `UPDATE bare SET state = 'done', version = version + 1, lock_token = NULL, state_changed_at = now()
		WHERE id = $1 AND state = 'running' AND lock_token = $2::text::uuid`, id, token)
	if err != nil {
		return 0, err
	}
	return int(tag.RowsAffected()), nil
}

const completeSQL = `SELECT jobtop.complete($1::text, $2::text::uuid, 'r-' || $1::text)`

type heldJob struct{ id, token string }

// nextJob completes the connection's last job and begins the next, by one call; it counts
// what was completed.
func nextJob(ctx context.Context, c *pgx.Conn, kind string, held *sync.Map) (int, error) {
	token := uuid.Must(uuid.NewV7()).String()
	last, holds := held.Load(c)
	arguments := []any{token, []string{kind}, nil, nil}
	if holds {
		arguments = []any{token, []string{kind}, last.(heldJob).id, last.(heldJob).token}
	}
	var completed, id *string
	err := c.QueryRow(ctx, `CALL jobtop.begin_next('w', $1::text::uuid, $2::text[], $3::text, $4::text::uuid, 'r-' || $3::text)`, arguments...).
		Scan(&completed, nil, &id, nil, nil, nil, nil, nil, nil)
	if err != nil || id == nil || holds && *completed != "done" {
		return 0, fmt.Errorf("begin_next completed %v and began %v: %w", completed, id, err)
	}
	held.Store(c, heldJob{*id, token})
	if holds {
		return 1, nil
	}
	return 0, nil
}

// recordedJobs claims, begins and completes up to batch jobs through the functions.
func recordedJobs(ctx context.Context, c *pgx.Conn, kind string, batch int) (int, error) {
	token := uuid.Must(uuid.NewV7()).String()
	rows, err := c.Query(ctx, `SELECT job_id FROM jobtop.claim('w', $1::text::uuid, $2::text[], $3::int, true)`, token, []string{kind}, batch)
	if err != nil {
		return 0, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if batch == 1 {
		if _, err := c.Exec(ctx, `CALL jobtop.begin_effect($1::text, $2::text::uuid)`, ids[0], token); err != nil {
			return 0, err
		}
	} else if _, err := c.Exec(ctx, `CALL jobtop.begin_effects($1::text[], $2::text::uuid)`, ids, token); err != nil {
		return 0, err
	}
	if batch == 1 {
		var answer string
		if err := c.QueryRow(ctx, completeSQL, ids[0], token).Scan(&answer); err != nil || answer != "done" {
			return 0, fmt.Errorf("complete answered %q: %w", answer, err)
		}
		return 1, nil
	}
	var n int
	err = c.QueryRow(ctx, `SELECT count(*) FROM unnest(jobtop.complete_all($1::text[], array_fill($2::text::uuid, ARRAY[cardinality($1::text[])]), ARRAY(SELECT 'r-' || id FROM unnest($1::text[]) id))) AS a(answer) WHERE a.answer = 'done'`, ids, token).Scan(&n)
	if err != nil {
		return 0, err
	}
	return n, nil
}

func durableDatabase(b *testing.B, clients int32, settings map[string]string) *pgxpool.Pool {
	b.Helper()
	server := sandboxtest.Server(b, sandbox.Options{Durable: true, Settings: settings})
	url := server.URL("postgres")
	if _, err := store.ApplySchema(context.Background(), url); err != nil {
		b.Fatal(err)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = clients + 1
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}

func mustExec(b *testing.B, pool *pgxpool.Pool, sql string, arguments ...any) {
	b.Helper()
	if _, err := pool.Exec(context.Background(), sql, arguments...); err != nil {
		b.Fatal(err)
	}
}
