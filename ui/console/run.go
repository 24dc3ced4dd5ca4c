package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// framesPerSecond bounds how often the screen is drawn.
const framesPerSecond = 20

// SignalError says that a signal ended the console. The terminal is as it was before.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "ended by a signal: " + e.Signal.String() }

// Run shows the console until its user leaves it, ctx is cancelled or a signal ends it,
// and gives the terminal back as it was. It returns nil when the user left, ctx's error
// when that ended, a *SignalError after SIGHUP, SIGTERM or SIGINT, and a *CrashError after
// a panic. A bad Option (a theme, a key) is an error before anything is drawn.
func Run(ctx context.Context, o Options) error {
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if file, ok := o.Output.(*os.File); ok {
		o.Output = &terminal{File: file}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	go func() {
		select {
		case s := <-signals:
			cancel(&SignalError{s})
		case <-ctx.Done():
		}
	}()

	m, err := newModel(ctx, o)
	if err != nil {
		return err
	}
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithAltScreen(), tea.WithFPS(framesPerSecond), tea.WithOutput(o.Output), tea.WithoutSignalHandler(),
	}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	var program *tea.Program
	var once sync.Once
	crashes := make(chan *CrashError, 1)
	crashed := func(what any, stack []byte) {
		once.Do(func() {
			crash := keepCrash(o.CrashDirectory, what, stack)
			crashes <- crash
			// In good order, which waits for the reader of keys, and from outside the loop
			// that may be what panicked; by force where that does not listen.
			go program.Quit()
			time.AfterFunc(crashGrace, func() { cancel(crash) })
		})
	}
	program = tea.NewProgram(guarded{m, crashed}, options...)
	_, err = program.Run()
	select {
	case crash := <-crashes:
		return crash
	default:
	}
	var ended *SignalError
	switch {
	case errors.As(context.Cause(ctx), &ended):
		return ended
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the screen ended: %w", err)
	}
	return nil
}

// terminal lets what is drawn and what is sent beside it (a bell, a copied text) take
// turns.
type terminal struct {
	*os.File
	mutex sync.Mutex
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.File.Write(p)
}
