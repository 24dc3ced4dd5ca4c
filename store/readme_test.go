package store_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"jobtop/store/sandbox/sandboxtest"
)

// fenced returns the README's nth code block of a language, from 0.
func fenced(t *testing.T, language string, n int) string {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```"+language+"\n")
	if len(blocks) < n+2 {
		t.Fatalf("README.md has only %d %s blocks", len(blocks)-1, language)
	}
	block, _, closed := strings.Cut(blocks[n+1], "\n```")
	if !closed {
		t.Fatalf("the %s block %d of README.md does not end", language, n)
	}
	return block
}

func TestReadmeSQLWorkerCompletesItsJob(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := newLedger(t).session()
	for statement := range strings.SplitSeq(fenced(t, "sql", 0), ";\n") {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var state, receipt string
	err := conn.QueryRow(ctx, `SELECT j.state, r.receipt_id FROM jobtop.jobs j JOIN jobtop.receipts r ON r.job_id = j.id WHERE j.id = 'invoice-1'`).Scan(&state, &receipt)
	if err != nil || state != "done" || receipt != "in_1" {
		t.Fatalf("state %q, receipt %q, %v", state, receipt, err)
	}
}

func TestReadmeGoesFromJobToJob(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := newLedger(t).session()
	if _, err := conn.Exec(ctx, `SELECT jobtop.enqueue('invoice-2', 'invoice.send'), jobtop.enqueue('invoice-3', 'invoice.send')`); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for statement := range strings.SplitSeq(fenced(t, "sql", 1), ";\n") {
		var completed, answer, id *string
		if err := conn.QueryRow(ctx, statement).Scan(&completed, &answer, &id, nil, nil, nil, nil, nil, nil); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if completed != nil {
			answers = append(answers, *completed)
		}
		answers = append(answers, *answer, *id)
	}
	if got := strings.Join(answers, " "); got != "begin invoice-2 done begin invoice-3" {
		t.Fatal(got)
	}
}

func TestReadmePythonWorkerDrainsTheQueue(t *testing.T) {
	t.Parallel()
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(candidate, "-c", "import psycopg").Run() == nil {
			python = candidate
			break
		}
	}
	if python == "" {
		t.Skip("needs Python with psycopg 3 (Debian: apt install python3-psycopg)")
	}
	url := sandboxtest.Database(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	pool := sandboxtest.Pool(t, url)
	if _, err := pool.Exec(ctx, `SELECT jobtop.enqueue('c' || i, 'card.charge', jsonb_build_object('cents', i)) FROM generate_series(0, 24) i`); err != nil {
		t.Fatal(err)
	}

	worker := exec.CommandContext(ctx, python, "-c", fenced(t, "python", 0))
	worker.Env = append(os.Environ(), "DATABASE_URL="+url)
	var output strings.Builder
	worker.Stdout, worker.Stderr = &output, &output
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
	}()

	for {
		var done, refused int
		err := pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE j.state = 'done' AND r.receipt_id = 'ch_' || j.id), count(*) FILTER (WHERE a.outcome = 'refused')
			FROM jobtop.jobs j LEFT JOIN jobtop.receipts r ON r.job_id = j.id LEFT JOIN jobtop.attempts a ON a.job_id = j.id`).Scan(&done, &refused)
		if err != nil {
			t.Fatalf("%v; the worker said: %s", err, output.String())
		}
		if done == 24 && refused == 1 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d done, %d refused; the worker said: %s", done, refused, output.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
