package store

import (
	"encoding/json"
	"time"
)

// Every age below was measured by the database at the moment of the read, and is
// negative where a clock went back. A *time.Duration is nil where the record holds
// nothing. Times (At) are for showing only; no Go time is ever subtracted from one.

// Job is one row of jobs, as a list shows it.
type Job struct {
	ID          string
	Kind        string
	State       string
	Version     int64
	Attempt     int
	MaxAttempts int
	// DueFor is how long ago run_at came; negative while it lies ahead.
	DueFor time.Duration
	// LockToken is the token of the attempt that runs; nil in every other state.
	LockToken *string
	// Worker ran the last attempt, or runs it now.
	Worker           *string
	ClaimedAge       *time.Duration
	HeartbeatAge     *time.Duration
	HeartbeatTimeout time.Duration
	Progress         *int64
	ProgressAge      *time.Duration
	ProgressTimeout  *time.Duration
	EffectKey        string
	// EffectAge is how long ago the last attempt recorded its intent.
	EffectAge     *time.Duration
	ErrorCategory *string
	// ErrorDetail is cut to ErrorDetailLimit characters in lists, whole in Detail.
	ErrorDetail   *string
	SourceVersion *string
	CreatedAge    time.Duration
	// StateAge is how long the job has been in its state.
	StateAge time.Duration
	// StuckFor is how long a running job has been past its own limit; nil while it is
	// within it, and in every other state.
	StuckFor *time.Duration
	Evidence Evidence
}

// ErrorDetailLimit bounds the error text of a job in a list, in characters.
const ErrorDetailLimit = 200

// Evidence is what the record holds about a job's effect: the verdict (one of the
// Verdict constants) and the fact that it rests on.
type Evidence struct {
	Verdict string
	// Attempt is the one that decides the verdict; nil before the first.
	Attempt *int
	// EffectAge is how long ago that attempt recorded its intent.
	EffectAge   *time.Duration
	ReceiptID   *string
	RecordedBy  *string
	RecordedAge *time.Duration
	// Late: the receipt is only in a late report; the job is not done by it.
	Late bool
}

// The verdicts, as jobtop.evidence gives them.
const (
	VerdictHappened        = "happened"
	VerdictMayHaveHappened = "may_have_happened"
	VerdictNotKnown        = "not_known"
	VerdictDidNotHappen    = "did_not_happen"
	VerdictNeverStarted    = "never_started"
)

// Attempt is one row of attempts.
type Attempt struct {
	Attempt       int
	LockToken     string
	Worker        string
	SourceVersion *string
	ClaimedFrom   string
	ClaimedAt     time.Time
	ClaimedAge    time.Duration
	RecordsIntent bool
	EffectAt      *time.Time
	EffectAge     *time.Duration
	// HeartbeatAge is the age of the last sign of life, once the attempt has ended; of
	// an attempt that runs it is in the job.
	HeartbeatAt   *time.Time
	HeartbeatAge  *time.Duration
	FinishedAt    *time.Time
	FinishedAge   *time.Duration
	Outcome       *string // done, not_begun, refused, unknown, fenced; nil while it runs
	ToState       *string
	ErrorCategory *string
	ErrorDetail   *string
}

// Action is one row of actions.
type Action struct {
	ID            string
	Verb          string
	JobID         *string
	Kind          *string
	FromState     *string
	ToState       *string
	SeenState     *string
	SeenVersion   *int64
	Version       *int64
	Attempt       *int
	LockToken     *string
	Operator      string
	DBRole        string
	Client        *string
	Reason        *string
	Confirmations []string
	Lookup        json.RawMessage
	ReceiptID     *string
	Delay         *time.Duration
	Outcome       string // applied, refused, void
	Refusal       *string
	At            time.Time
	Age           time.Duration
}

// LateReport is what a fenced worker still had to say.
type LateReport struct {
	ID            int64
	Attempt       *int
	LockToken     string
	Worker        *string
	ReceiptID     *string
	Effect        *string
	ErrorCategory *string
	ErrorDetail   *string
	At            time.Time
	Age           time.Duration
}

// Receipt is the proof that a job's effect happened.
type Receipt struct {
	JobID       string
	Kind        string
	ReceiptID   string
	Attempt     int
	RecordedBy  string
	ActionID    *string
	RecordedAt  time.Time
	RecordedAge time.Duration
}

// Detail is everything about one job but its payload. The attempts, actions and late
// reports are the newest DetailLimit of each, newest first; the counts are exact.
type Detail struct {
	Job         Job
	CreatedAt   time.Time
	ChangedAt   time.Time
	ChangedBy   *string // nil while it is as it was enqueued
	ChangedHow  *string // a verb, "direct", "claim", or an attempt's outcome
	Receipt     *Receipt
	Attempts    []Attempt
	Actions     []Action
	LateReports []LateReport
	Counts      struct{ Attempts, Actions, LateReports int }
}

// DetailLimit bounds each list of a Detail, in rows. An older attempt on which the verdict
// rests comes besides.
const DetailLimit = 500

// Precision says how a Count was come by.
type Precision string

// The precisions, in the words that JSON output uses too.
const (
	Exact     Precision = "exact"
	Capped    Precision = "capped"    // at least this many
	Estimated Precision = "estimated" // from the planner's statistics
)

// Count is a number of rows, how it was come by, and how old it is.
type Count struct {
	N         int64
	Precision Precision
	// Age is how long before the poll's end it was counted; 0 when it was counted in it.
	Age time.Duration
}

// StateCount is a line of the overview's table of states.
type StateCount struct {
	State string
	Count Count
	// OldestAge is how long the job longest in this state has been there.
	OldestAge *time.Duration
}

// Poll is what one look at the database brings.
type Poll struct {
	States []StateCount // all six, in the order of the design
	Due    Count        // pending or failed, and run_at has come
	// OldestDue is how long the longest waiting due job has waited.
	OldestDue *time.Duration
	Stuck     Count
	// OldestStuck is how long the worst stuck job has been past its limit.
	OldestStuck *time.Duration
	// NewestHeartbeat is the age of the newest heartbeat of all running jobs; nil
	// where none runs. See HeartbeatsStopped.
	NewestHeartbeat *time.Duration
	// SmallestTimeout is the smallest heartbeat timeout of the running jobs.
	SmallestTimeout *time.Duration
	// NewestEnd is how long ago a worker last ended an attempt, well or badly; nil where
	// none did lately.
	NewestEnd *time.Duration
	// SeveralWorkers: the running jobs are not all of one worker.
	SeveralWorkers bool
	Paused         []Paused
	// Consoles is how many consoles look at this database, this one included, as far as
	// their connections show; see ConsoleApplication.
	Consoles   int
	At         time.Time     // the database's clock, for showing
	ServerCost time.Duration // elapsed on the server
	RoundTrip  time.Duration // elapsed here
}

// Paused is a kind that no worker may claim.
type Paused struct {
	Kind     string
	By       string
	Reason   string
	SinceAge time.Duration
	// EndsIn is nil until somebody resumes it.
	EndsIn *time.Duration
}

// Server says whom we talk to and what we may do there.
type Server struct {
	Database string
	Host     string
	Role     string // the database role, which is certain; the operator's name is claimed
	Version  int    // server_version_num, e.g. 150018
	Replica  bool
	// WritesOff: default_transaction_read_only is on for this session.
	WritesOff      bool
	Schema         SchemaStatus
	CanView        bool
	CanAct         bool
	CanReadPayload bool
	CanWork        bool
	Edges          []Edge
}

// Edge is one row of edges.
type Edge struct{ From, To, Actor string }
