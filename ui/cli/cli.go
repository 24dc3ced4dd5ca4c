// Package cli is jobtop's command line. Its root command is the console; every other
// command shows or does one thing that the console does, with the same names, the same
// guards and an exit status for scripts.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/ui/config"
	"jobtop/ui/text"
)

// The exit status of commands.
const (
	exitOK      = 0
	exitError   = 1 // it did not work
	exitUsage   = 2 // it was called wrongly
	exitRefused = 3 // an act was refused
	exitUnknown = 4 // nobody knows whether an act happened
)

// app is one run of the program.
type app struct {
	build  Build
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	out    *bufio.Writer // over stdout; written out at the end and after each page
	screen screen

	flags   globalFlags
	config  config.Config
	profile config.Profile
	log     *slog.Logger
	logFile io.Closer
}

// Main runs jobtop and returns its exit status. SIGINT, SIGTERM and SIGHUP cancel what
// it does; a second one ends it at once.
func Main(build Build, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	arguments = unseen(arguments)
	if err := actions.Prove(); err != nil {
		fmt.Fprintln(stderr, "jobtop: this program's own state machine is wrong, so it does nothing:", err)
		return exitError
	}
	ctx, stop := withSignals(context.Background())
	defer stop()

	a := &app{build: build.complete(), stdin: stdin, stdout: stdout, stderr: stderr, out: bufio.NewWriter(stdout), log: slog.New(slog.DiscardHandler)}
	root := a.newRoot()
	if len(arguments) > 0 && arguments[0] == cobra.ShellCompRequestCmd {
		plainUsage(root)
	}
	root.SetArgs(arguments)
	root.SetIn(stdin)
	root.SetOut(a.out)
	root.SetErr(stderr)
	a.strict(root)
	command, err := root.ExecuteContextC(ctx)
	if flushErr := a.out.Flush(); flushErr != nil && err == nil {
		err = fmt.Errorf("the output could not be written: %w", reason(flushErr))
	}
	if a.logFile != nil {
		_ = a.logFile.Close()
	}
	return a.exit(ctx, command, err)
}

// exit tells the error, if any, and returns the status that goes with it.
func (a *app) exit(ctx context.Context, command *cobra.Command, err error) int {
	var status *statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
	case endedBy(ctx, err) != 0:
		status = stoppedBy(endedBy(ctx, err))
	default:
		status = &statusError{status: exitError, err: err}
	}
	if command.Name() == checkName {
		return a.exitCheck(status)
	}
	if status.err != nil {
		a.complain(status.err.Error())
	}
	return status.status
}

// complain prints one message, made safe for the terminal, to standard error.
func (a *app) complain(message string) {
	fmt.Fprintln(a.stderr, "jobtop: "+a.screen.charset.Line(message, messageWidth))
}

// messageWidth bounds a message, which may hold an id of any length.
const messageWidth = 2000

// statusError ends the program with a status. A nil err says that all is told already.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usagef is an error about how the command was called.
func usagef(format string, arguments ...any) error {
	return &statusError{status: exitUsage, err: fmt.Errorf(format, arguments...)}
}

// usage makes any error one about how the command was called.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{status: exitUsage, err: err}
}

// reason is what the system says, without the file's name.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// short is an id or the like for the middle of a message: on one line, and not longer
// than a line.
func short(s string) string { return text.ASCII.TruncateMiddle(text.ASCII.Sanitize(s), 72) }
