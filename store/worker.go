package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
)

// What workers call. Each call is one round trip and one transaction, and can be
// repeated with the same arguments: whatever became of the first, the repetition brings
// the same answer. So an error says only that there was no answer, and the remedy is to
// call again. Calls heed the caller's context and have a deadline of their own.

// NewJob is a job to enqueue. Zero values leave the defaults of the schema.
type NewJob struct {
	ID      string // stable, chosen by the caller: the id is the job
	Kind    string
	Payload json.RawMessage // nil: NULL
	// EffectKey is the idempotency key for the provider; the id if empty.
	EffectKey string
	// Delay keeps the job from being claimed for that long.
	Delay            time.Duration
	MaxAttempts      int           // 5
	HeartbeatTimeout time.Duration // 60 s
	ProgressTimeout  time.Duration // none
	SourceVersion    string
}

// Enqueue adds a job. False: the id was there already, and nothing was changed.
func (db *DB) Enqueue(ctx context.Context, j NewJob) (bool, error) {
	var added bool
	err := db.call(ctx, "enqueue the job", workerServerTimeout, scalar(&added), query("worker_enqueue"),
		j.ID, j.Kind, jsonText(j.Payload), optional(j.EffectKey), j.Delay.Microseconds(), int64(j.MaxAttempts),
		j.HeartbeatTimeout.Microseconds(), j.ProgressTimeout.Microseconds(), optional(j.SourceVersion))
	return added, err
}

// ClaimRequest asks for due jobs of some kinds. Token is a UUID, best a version 7 one,
// chosen for this claim and repeated only while its answer is unknown.
type ClaimRequest struct {
	Worker string
	Token  string
	Kinds  []string
	Batch  int // 1 to 1000
	// RecordsIntent: this worker calls BeginEffect before every effect, so an attempt
	// without an intent proves that none began.
	RecordsIntent    bool
	SourceVersion    string        // of the worker; empty: the job keeps its own
	HeartbeatTimeout time.Duration // 0: the job keeps its own
	ProgressTimeout  time.Duration // 0: the job keeps its own
}

// Claimed is a job that a token holds.
type Claimed struct {
	JobID       string
	Kind        string
	Attempt     int
	MaxAttempts int
	EffectKey   string
	Payload     json.RawMessage // nil: NULL
}

// Claim takes up to Batch due jobs, oldest first; none when nothing is due or all is
// paused. A token that claimed before gets the jobs that it still holds and no others.
func (db *DB) Claim(ctx context.Context, r ClaimRequest) ([]Claimed, error) {
	var jobs []Claimed
	read := func(rows pgx.Rows) error {
		var j Claimed
		var payload *string
		if err := rows.Scan(&j.JobID, &j.Kind, &j.Attempt, &j.MaxAttempts, &j.EffectKey, &payload); err != nil {
			return err
		}
		j.Payload = jsonOf(payload)
		jobs = append(jobs, j)
		return nil
	}
	err := db.call(ctx, "claim jobs", workerServerTimeout, read, query("worker_claim"),
		r.Worker, r.Token, r.Kinds, int64(r.Batch), r.RecordsIntent, optional(r.SourceVersion),
		r.HeartbeatTimeout.Microseconds(), r.ProgressTimeout.Microseconds())
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// Failure is how an attempt ended that brought no receipt.
type Failure struct {
	JobID string
	Token string
	// Effect is what is known of the effect: one of the Effect constants.
	Effect string
	// Retry: try again while attempts are left. It counts for nothing where the effect
	// is unknown: that goes to review.
	Retry    bool
	Category string // a short word to group by, without anything secret; cut to 128 characters
	Detail   string // for a person to read; nothing secret
	// Backoff is the wait before the next attempt; nil: 3 s doubled with each attempt, at most 300 s.
	Backoff *Backoff
}

// What a Failure may say of the effect.
const (
	EffectNotBegun = "not_begun" // the provider was never called
	EffectRefused  = "refused"   // the provider definitely did not do it
	EffectUnknown  = "unknown"   // it may have happened
)

// Backoff is min(Cap, Base * 2^attempt), of which the last fifth is left to chance.
type Backoff struct{ Base, Cap time.Duration }

// What Complete and Fail answer, beside the state that the job went to.
const (
	// AnswerLeaseLost: the token no longer holds. No job was changed; what was reported
	// is kept as a late report.
	AnswerLeaseLost = "lease_lost"
	// AnswerNotFound: there is no such job; what was reported is kept as a late report.
	AnswerNotFound = "not_found"
	// AnswerReceiptInvalid: the receipt ID is empty, longer than 200 characters, or holds
	// control characters or outer blanks. Nothing was done. Of Complete only.
	AnswerReceiptInvalid = "receipt_invalid"
)

// Fail ends an attempt without a receipt. It answers with the state that the job went
// to, failed, dead or review, or with AnswerLeaseLost or AnswerNotFound.
func (db *DB) Fail(ctx context.Context, f Failure) (string, error) {
	backoff := Backoff{Base: 3 * time.Second, Cap: 300 * time.Second}
	if f.Backoff != nil {
		backoff = *f.Backoff
	}
	var answer string
	err := db.call(ctx, "record the failure", workerServerTimeout, scalar(&answer), query("worker_fail"),
		f.JobID, f.Token, f.Effect, f.Retry, optional(storable(f.Category)), optional(storable(f.Detail)),
		backoff.Base.Microseconds(), backoff.Cap.Microseconds())
	return answer, err
}

// Once takes a run-once key for ttl. True for whoever takes it first, and for its holder
// again; everybody else gets false and is counted as a skip. It spares work; it never
// stands in for the effect key. An empty holder is nobody: its repeated call is a skip.
func (db *DB) Once(ctx context.Context, key string, ttl time.Duration, holder string) (bool, error) {
	var won bool
	err := db.call(ctx, "take the run-once key", workerServerTimeout, scalar(&won), query("worker_once"),
		key, ttl.Microseconds(), optional(holder))
	return won, err
}
