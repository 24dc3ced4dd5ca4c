package store

import "context"

// Next is what BeginNext answers.
type Next struct {
	// Completed is what Complete would have answered for the last job; empty where there was none.
	Completed string
	// Answer is IntentBegin, IntentHappened, IntentNone, or of a repeated call IntentLeaseLost.
	Answer string
	// Job is the next one; set for IntentBegin and IntentHappened. Its EffectKey is to be
	// sent to the provider as the idempotency key.
	Job Claimed
	// ReceiptID is what the effect has brought already; set for IntentHappened.
	ReceiptID string
}

// IntentNone is BeginNext's answer that there is no next job: none is due, all is paused,
// or the last one has still to be ended, as its receipt ID was AnswerReceiptInvalid.
const IntentNone = "none"

// BeginNext is for workers that call the provider as soon as they have a job: it completes
// the last job, where there is one (nil: none), claims the next under a new token and
// records its intent, with one commit and one round trip. It returns once that is
// committed and on disk. After an error that came from the server nothing was done of
// either; Complete may still record the last job's receipt then. Of the request, Batch
// and RecordsIntent count for nothing.
func (db *DB) BeginNext(ctx context.Context, r ClaimRequest, last *Completion) (Next, error) {
	var lastID, lastToken, lastReceipt, lastResult *string
	if last != nil {
		receipt := last.ReceiptID
		if storable(receipt) != receipt {
			receipt = "" // the database could not even read it, so it answers for an empty one
		}
		lastID, lastToken, lastReceipt, lastResult = &last.JobID, &last.Token, &receipt, jsonText(last.Result)
	}
	var n Next
	var completed, jobID, kind, effectKey, receiptID, payload *string
	var attempt, maxAttempts *int
	err := db.callAlone(ctx, "begin the next job",
		[]any{&completed, &n.Answer, &jobID, &kind, &attempt, &maxAttempts, &effectKey, &receiptID, &payload}, query("worker_begin_next"),
		r.Worker, r.Token, r.Kinds, lastID, lastToken, lastReceipt, lastResult, optional(r.SourceVersion),
		r.HeartbeatTimeout.Microseconds(), r.ProgressTimeout.Microseconds())
	if err != nil {
		return Next{}, err
	}
	n.Completed, n.ReceiptID = text(completed), text(receiptID)
	if jobID != nil {
		n.Job = Claimed{JobID: *jobID, Kind: text(kind), Attempt: *attempt, MaxAttempts: *maxAttempts, EffectKey: text(effectKey), Payload: jsonOf(payload)}
	}
	return n, nil
}
