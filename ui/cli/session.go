package cli

import (
	"context"
	"errors"
	"fmt"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
)

// session is a connection to a database with the schema that this program knows.
type session struct {
	*app
	db     *store.DB
	server store.Server
}

// connect opens the database and makes sure that it can be read. The caller closes it.
func (a *app) connect(ctx context.Context) (*session, error) {
	db, err := store.Open(ctx, store.Options{DSN: a.dsn(), Application: a.client()})
	if err != nil {
		return nil, err
	}
	s := &session{app: a, db: db}
	s.server, err = db.Server(ctx)
	if err = s.usable(err); err != nil {
		db.Close()
		return nil, err
	}
	a.log.Info("connected", "database", s.server.Database, "host", s.server.Host, "role", s.server.Role)
	return s, nil
}

// client is how this program calls itself in the database.
func (a *app) client() string { return "jobtop " + a.build.Version }

func (s *session) close() { s.db.Close() }

// usable says why the database cannot be read, if so; err is what asking it gave.
func (s *session) usable(err error) error {
	switch {
	case errors.Is(err, store.ErrNoRights) && s.server.Role != "", err == nil && s.server.Schema.Current() && !s.server.CanView:
		return fmt.Errorf("the role %s may not read jobtop's tables; ask for GRANT jobtop_viewer TO %s", s.server.Role, s.server.Role)
	case err != nil:
		return err
	case !s.server.Schema.Current():
		return &store.SchemaError{Status: s.server.Schema}
	}
	return nil
}

// mayAct says why nothing can be changed here, if so.
func (s *session) mayAct() error {
	switch {
	case s.flags.readOnly:
		return usagef("--readonly is given, so nothing is changed")
	case s.profile.ReadOnly:
		return usagef("the profile %s is marked readonly, so nothing is changed", s.flags.profile)
	case s.server.Replica:
		return fmt.Errorf("%s is a replica, which takes no writes; connect to the primary (several hosts with target_session_attrs=primary)", s.server.Host)
	case s.server.WritesOff:
		return fmt.Errorf("writes are off for this session (default_transaction_read_only); connect to the primary, or ask who turned them off")
	case !s.server.CanAct:
		return fmt.Errorf("the role %s may look but not act; ask for GRANT jobtop_operator TO %s", s.server.Role, s.server.Role)
	}
	return actions.CompareEdges(s.server.Edges)
}

// newRunner returns what carries out acts, and tells on standard error what became of
// those that an earlier process did not bring to their end. The caller closes the journal.
func (s *session) newRunner(ctx context.Context) (*actions.Runner, error) {
	operator, err := s.operator()
	if err != nil {
		return nil, err
	}
	runner := &actions.Runner{DB: s.db, Operator: operator, Client: s.client()}
	if directory, err := config.StateDir(); err != nil {
		s.complain("no journal: " + err.Error())
	} else {
		runner.Journal = actions.NewJournal(directory)
		if err := runner.Journal.Ready(); err != nil {
			s.complain(err.Error())
			runner.Journal = nil
		}
	}
	results, err := runner.Recover(ctx)
	for _, r := range results {
		s.complain(fmt.Sprintf("left open by an earlier jobtop, an act of %s: %s", r.Operator, explainRecovered(r)))
		s.log.Info("recovered", "action_id", r.Order.ActionID, "verb", r.Order.Verb, "job_id", r.Order.JobID, "outcome", r.Outcome)
	}
	if err != nil {
		s.complain("what an earlier jobtop left open could not be settled: " + err.Error())
	}
	return runner, nil
}
