package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
	"jobtop/ui/console"
)

// runConsole opens the console. It does not wait for the database: the screen shows when
// that is away, and keeps trying.
func (a *app) runConsole(ctx context.Context) error {
	if err := console.CheckView(a.flags.view); err != nil {
		return usagef("--view %s: %w", short(a.flags.view), err)
	}
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return usagef("the console needs a terminal, for input and output; jobtop status, list and show need none")
	}
	operator, err := a.operator()
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, store.Options{DSN: a.dsn(), Application: store.ConsoleApplication(a.build.Version)})
	if err != nil {
		return err
	}
	defer db.Close()

	options := console.Options{
		DB: db, Operator: operator, View: a.flags.view, Refresh: a.flags.refresh,
		CrashDirectory: stateDirectory(), ASCII: a.flags.ascii, NoColor: a.screen.look == nil, Profile: a.flags.profile, Config: a.config,
	}
	if options.Refresh == 0 {
		options.Refresh = time.Duration(a.config.Refresh)
	}
	switch {
	case a.flags.readOnly:
		options.ReadOnly = "started with --readonly"
	case a.profile.ReadOnly:
		options.ReadOnly = fmt.Sprintf("the profile %s is marked readonly", a.flags.profile)
	default:
		// A state directory that cannot be written shows in what becomes of each act.
		var journal *actions.Journal
		if directory, err := config.StateDir(); err == nil {
			journal = actions.NewJournal(directory)
			defer func() { _ = journal.Close() }()
		}
		options.Runner = &actions.Runner{DB: db, Journal: journal, Operator: operator, Client: a.client()}
	}
	a.log.Info("console", "view", a.flags.view)
	err = console.Run(ctx, options)
	var crash *console.CrashError
	if errors.As(err, &crash) {
		a.log.Error("crash", "what", crash.What, "details", crash.Log)
	}
	return err
}

// stateDirectory is "" where there is none.
func stateDirectory() string {
	directory, err := config.StateDir()
	if err != nil {
		return ""
	}
	return directory
}
