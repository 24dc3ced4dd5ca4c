package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/ui/config"
)

// prepare reads the configuration and readies what all commands share. It connects to
// nothing.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	a.screen = newScreen(a.stdout, a.flags)
	if a.flags.refresh < 0 || cmd.Flags().Changed("refresh") && a.flags.refresh < 100*time.Millisecond {
		return usagef("--refresh is below 100ms")
	}
	if standsAlone(cmd) {
		return nil
	}
	var err error
	if a.config, err = config.Load(a.flags.config); err != nil {
		return usage(err)
	}
	if err := a.chooseProfile(); err != nil {
		return usage(err)
	}
	return a.openLog(cmd.Context())
}

// standsAlone reports whether a command needs no configuration, so that it works also
// with a broken one: help, completion and man.
func standsAlone(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		switch c.Name() {
		case "help", "completion", "man", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return true
		}
	}
	return false
}

// chooseProfile settles which profile holds, if any: the one that is named; the
// configuration's own where no database is named otherwise.
func (a *app) chooseProfile() error {
	name := a.flags.profile
	if name != "" && a.flags.db != "" {
		return fmt.Errorf("give either --db or --profile")
	}
	if name == "" && a.flags.db == "" && !databaseInEnvironment() {
		name = a.config.Profile
	}
	if name == "" {
		return nil
	}
	profile, err := a.config.Named(name)
	if err != nil {
		return err
	}
	a.profile, a.flags.profile = profile, name
	return nil
}

func databaseInEnvironment() bool {
	for _, name := range []string{"DATABASE_URL", "PGSERVICE", "PGDATABASE", "PGHOST", "PGHOSTADDR"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// operator is the name that acts are recorded under.
func (a *app) operator() (string, error) {
	for _, name := range []string{a.flags.operator, os.Getenv("JOBTOP_OPERATOR"), a.config.Operator} {
		if name != "" {
			return name, usage(actions.ValidOperator(name))
		}
	}
	name := os.Getenv("USER")
	if name == "" {
		if current, err := user.Current(); err == nil {
			name = current.Username
		}
	}
	if name == "" {
		name = "unknown"
	}
	name += "@" + hostname()
	return name, usage(actions.ValidOperator(name))
}

// readOnly reports whether the person asked to change nothing.
func (a *app) readOnly() bool { return a.flags.readOnly || a.profile.ReadOnly }

// openLog opens the log file, where one is asked for. A signal is told there as soon as it
// has its effect: what is under way then may take longer.
func (a *app) openLog(ctx context.Context) error {
	path := a.flags.logFile
	if path == "" {
		return nil
	}
	if path == "-" {
		directory, err := config.StateDir()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(directory, 0o700); err != nil {
			return fmt.Errorf("the directory of the log, %s, cannot be made: %w", directory, reason(err))
		}
		path = filepath.Join(directory, "jobtop.log")
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("the log file %s cannot be opened: %w", path, reason(err))
	}
	a.logFile = file
	a.log = slog.New(slog.NewTextHandler(file, nil)).With("pid", os.Getpid())
	context.AfterFunc(ctx, func() {
		if s := signalOf(ctx); s != 0 {
			a.log.Info("stopping", "signal", s.String())
		}
	})
	return nil
}
