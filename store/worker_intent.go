package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Intent is what BeginEffect answers: one of the Intent constants, and what goes with it.
type Intent struct {
	Answer string
	// EffectKey is to be sent to the provider as its idempotency key; set for IntentBegin
	// and IntentHappened.
	EffectKey string
	// ReceiptID is what the effect has brought already; set for IntentHappened.
	ReceiptID string
}

// What BeginEffect answers.
const (
	IntentBegin     = "begin"      // the intent stands: call the provider
	IntentHappened  = "happened"   // do not call; complete with the receipt
	IntentLeaseLost = "lease_lost" // stop
	IntentNotFound  = "not_found"  // stop
)

// BeginEffect records that the job's effect begins, and returns once that is committed
// and on disk. Only then may the provider be called.
func (db *DB) BeginEffect(ctx context.Context, jobID, token string) (Intent, error) {
	var i Intent
	var effectKey, receiptID *string
	err := db.callAlone(ctx, "record the intent", []any{&i.Answer, &effectKey, &receiptID}, query("worker_begin_effect"), jobID, token)
	i.EffectKey, i.ReceiptID = text(effectKey), text(receiptID)
	return i, err
}

// BeginEffects is BeginEffect for jobs under one token, with one commit. The answers
// stand in the order of the ids; a lost lease keeps no other from beginning.
func (db *DB) BeginEffects(ctx context.Context, jobIDs []string, token string) ([]Intent, error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	var answers []string
	var effectKeys, receiptIDs []*string
	err := db.callAlone(ctx, "record the intents", []any{&answers, &effectKeys, &receiptIDs}, query("worker_begin_effects"), jobIDs, token)
	if err != nil {
		return nil, err
	}
	intents := make([]Intent, len(answers))
	for n := range answers {
		intents[n] = Intent{answers[n], text(effectKeys[n]), text(receiptIDs[n])}
	}
	return intents, nil
}

// callAlone sends one statement outside any transaction block, as a procedure that
// commits needs it. No timeout can be set on the server that way; when the client's own
// has passed, the statement is cancelled.
func (db *DB) callAlone(ctx context.Context, doing string, into []any, sql string, arguments ...any) error {
	ctx, cancel := context.WithTimeout(ctx, workerServerTimeout+answerAllowance)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return notSent{db.explainAcquire(err)}
	}
	defer conn.Release()
	rows, err := conn.Query(ctx, sql, arguments...)
	if err == nil {
		_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
			return struct{}{}, row.Scan(into...)
		})
	}
	if err != nil {
		db.forget(err)
		return db.lacking(workerRole, explain(doing, err))
	}
	return nil
}
