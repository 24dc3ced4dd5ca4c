package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"jobtop/ui/console"
)

// interrupted is why a context ended: a signal.
type interrupted struct{ signal syscall.Signal }

func (i *interrupted) Error() string { return i.signal.String() }

// Is lets it pass for what cancels contexts otherwise.
func (i *interrupted) Is(target error) bool { return target == context.Canceled }

// withSignals returns a context that the first SIGINT, SIGTERM or SIGHUP cancels. The
// second one finds the signals as they were, and ends the program at once. A signal
// that was ignored before, as under nohup, stays so.
func withSignals(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(&interrupted{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// endedBy is the signal that made a command fail, 0 where it failed by itself.
func endedBy(ctx context.Context, err error) syscall.Signal {
	var ended *console.SignalError
	if errors.As(err, &ended) {
		number, _ := ended.Signal.(syscall.Signal)
		return number
	}
	if errors.Is(err, context.Canceled) {
		return signalOf(ctx)
	}
	return 0
}

// signalOf is the signal that ended a context, 0 where none did.
func signalOf(ctx context.Context) syscall.Signal {
	var i *interrupted
	if errors.As(context.Cause(ctx), &i) {
		return i.signal
	}
	return 0
}

// stoppedBy ends the program as one that a signal stopped.
func stoppedBy(s syscall.Signal) *statusError {
	return &statusError{status: 128 + int(s), err: fmt.Errorf("stopped by a signal: %s", s)}
}
