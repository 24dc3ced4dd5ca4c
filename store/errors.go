package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Sentinels that callers tell apart with errors.Is. Each is wrapped in a Problem.
var (
	// ErrUnreachable: no connection could be made, or it broke. Returned by every call.
	ErrUnreachable = errors.New("database unreachable")
	// ErrTimeout: the server or we gave up waiting. Returned by every call.
	ErrTimeout = errors.New("timed out")
	// ErrNoRights: the database role lacks a right. Returned by every call.
	ErrNoRights = errors.New("no rights")
	// ErrReadOnly: the server takes no writes (a replica, or a demoted primary). Returned
	// by Act, Settle, Pause, Resume and the worker's calls.
	ErrReadOnly = errors.New("read-only server")
	// ErrNotFound: there is no job with that id. Returned by Job and Payload.
	ErrNotFound = errors.New("no such job")
	// ErrKeyReused: the action id was used before, with other arguments. Returned by Act.
	ErrKeyReused = errors.New("action id used before")
	// ErrSchema: the schema is missing or of another version; see SchemaError.
	ErrSchema = errors.New("schema")
	// ErrBadQuery: a filter, an order or a cursor that says nothing. Returned by Jobs and Actions.
	ErrBadQuery = errors.New("bad query")
	// ErrUnserved: no index serves the filter or the order, so it would have to read every
	// job. Returned by Jobs.
	ErrUnserved = errors.New("not served by an index")
	// ErrBadDSN: the connection string cannot be read. Returned by Open and the schema calls.
	ErrBadDSN = errors.New("bad connection string")
)

// Problem is an error in the user's words: what happened and what to do next. It never
// holds a connection string. Code is the SQLSTATE where the server gave one.
type Problem struct {
	What string
	Next string
	Code string
	kind error
}

func (p *Problem) Error() string {
	if p.Next == "" {
		return p.What
	}
	return p.What + "; " + p.Next
}

func (p *Problem) Unwrap() error { return p.kind }

// SchemaError says that the database's schema is not the one this program needs.
type SchemaError struct{ Status SchemaStatus }

func (e *SchemaError) Error() string {
	switch {
	case e.Status.Have == 0:
		return "this database has no jobtop schema; jobtop schema apply makes it, jobtop schema print shows it first"
	case e.Status.Have < e.Status.Want:
		return fmt.Sprintf("the database's jobtop schema is version %d and this program needs %d; run jobtop schema apply",
			e.Status.Have, e.Status.Want)
	default:
		return fmt.Sprintf("the database's jobtop schema is version %d, newer than this program's %d; install a newer jobtop",
			e.Status.Have, e.Status.Want)
	}
}

// Is makes errors.Is(err, ErrSchema) hold.
func (e *SchemaError) Is(target error) bool { return target == ErrSchema }

// explain puts an error of the driver into a user's words. The one place that maps
// SQLSTATEs; nothing is ever decided from an error's text.
func explain(doing string, err error) error {
	var problem *Problem
	var schema *SchemaError
	if err == nil || errors.As(err, &problem) || errors.As(err, &schema) {
		return err
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return explainServer(doing, server)
	}
	var netErr net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err), errors.As(err, &netErr) && netErr.Timeout():
		return &Problem{What: "could not " + doing + ": no answer in time", Next: "nothing else was changed; try again", kind: ErrTimeout}
	}
	return &Problem{What: "could not " + doing + ": the connection to the database broke", Next: "jobtop tries again by itself where it can", kind: ErrUnreachable}
}

// The roles that a call may take.
const (
	viewerRole   = "jobtop_viewer"
	operatorRole = "jobtop_operator"
	workerRole   = "jobtop_worker"
)

// lacking adds to a refusal for want of rights which role the call takes.
func (db *DB) lacking(role string, err error) error {
	return advise(err, askFor(role, db.user()))
}

// advise says what to do about a refusal for want of rights. That of a connection says so
// itself.
func advise(err error, next string) error {
	var problem *Problem
	if errors.As(err, &problem) && errors.Is(problem, ErrNoRights) && !errors.Is(err, ErrNotSent) {
		problem.Next = next
	}
	return err
}

func askFor(role, user string) string {
	return fmt.Sprintf("ask for GRANT %s TO %s", role, identifier(user))
}

// identifier writes a name as SQL takes it.
func identifier(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// plainName is what SQL takes without quotes.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

func explainServer(doing string, server *pgconn.PgError) error {
	p := &Problem{Code: server.Code}
	what := func(format string, arguments ...any) {
		p.What = "could not " + doing + ": " + fmt.Sprintf(format, arguments...)
	}
	switch {
	case server.Code == "42501":
		p.kind = ErrNoRights
		what("%s", server.Message)
	case takesNoWrites(server):
		p.kind = ErrReadOnly
		what("the server takes no writes (a replica, or a primary that was demoted)")
		p.Next = "connect to the primary (target_session_attrs=primary with several hosts)"
	case server.Code == "57014" || server.Code == "55P03" || server.Code == "25P03":
		p.kind = ErrTimeout
		what("the server gave up waiting")
		p.Next = "nothing was changed; try again, or look who holds locks"
	case strings.HasPrefix(server.Code, "57P") || strings.HasPrefix(server.Code, "08"):
		p.kind = ErrUnreachable
		what("the server ended the connection")
		p.Next = "it may be restarting or failing over; try again"
	case server.Code == "JT011":
		p.kind = ErrKeyReused
		what("%s", server.Message)
		p.Next = "nothing was changed"
	case server.Code == "3F000" || server.Code == "42P01" || server.Code == "42883":
		return &SchemaError{Status: SchemaStatus{Want: SchemaVersion()}}
	default:
		what("%s (%s)", server.Message, server.Code)
		p.Next = server.Hint
	}
	return p
}

// takesNoWrites: the server is a standby, or its transactions are read-only. A standby
// answers BEGIN READ WRITE with 0A000, which nothing else that we send can bring.
func takesNoWrites(server *pgconn.PgError) bool {
	return server.Code == "25006" || server.Code == "0A000"
}
