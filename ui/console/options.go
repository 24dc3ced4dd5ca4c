// Package console is jobtop's screen: a Bubble Tea program that polls a database, shows
// what needs a person and carries out what that person decides.
//
// Three rules hold everywhere in it. Nothing waits: whatever takes time is a command, and
// its answer is dropped when a newer question has been asked meanwhile. Commands change no
// state; their answers do, in Update. Text that came from outside goes through ui/text
// before it is drawn.
package console

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
)

// Reader is what the console needs of a store.DB besides what its Runner does.
type Reader interface {
	Server(ctx context.Context) (store.Server, error)
	Poll(ctx context.Context) (store.Poll, error)
	Jobs(ctx context.Context, q store.JobQuery) (store.JobPage, error)
	Row(ctx context.Context, id string) (store.Job, error)
	Job(ctx context.Context, id string) (store.Detail, error)
	Payload(ctx context.Context, id string) (json.RawMessage, error)
	Actions(ctx context.Context, q store.ActionQuery) (store.ActionPage, error)
	Overview(ctx context.Context) (store.Overview, error)
	CountOpen(ctx context.Context, states []string, bound int64) (map[string]store.Count, time.Duration, error)
	TallyDone(ctx context.Context, t store.DoneTally, rows int64) (store.DoneTally, error)
	// CountExactly is not in ServerTime.
	CountExactly(ctx context.Context, limit time.Duration, progress func(store.Counting)) (store.ExactCounts, error)
	ContradictionsNow(ctx context.Context) (found []store.Contradiction, looked int, err error)
	Pause(ctx context.Context, r store.PauseRequest) (bool, error)
	Resume(ctx context.Context, r store.PauseRequest) (bool, error)
	// ServerTime is what the reads have cost the server so far, all together.
	ServerTime() time.Duration
}

// Options say what to show, to whom, and what may be done.
type Options struct {
	DB Reader
	// Runner carries out what the operator decides; nil makes the console read-only.
	Runner *actions.Runner
	// Operator is the name that acts are recorded under, for showing.
	Operator string
	// Refresh is the pause between two looks at the database; DefaultRefresh if zero.
	Refresh time.Duration
	// ReadOnly is why nothing may be changed, such as "started with --readonly"; "" when
	// the database's rights decide.
	ReadOnly string
	// View is the command to begin with, such as "review" or "job charge-10442"; "" is
	// the overview.
	View string
	// ASCII keeps to characters up to U+007E; NoColor to bold and reversed.
	ASCII, NoColor bool
	// Profile and its settings mark the console of one database; "" is none.
	Profile string
	Config  config.Config

	// CrashDirectory is where the details of a panic are kept; the system's for temporary
	// files if empty.
	CrashDirectory string

	// Input and Output are the terminal; the process's own if nil.
	Input  io.Reader
	Output io.Writer
}

// DefaultRefresh is the pause between two looks at the database.
const DefaultRefresh = 2 * time.Second
