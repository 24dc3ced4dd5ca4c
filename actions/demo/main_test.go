package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// The test binary is also a worker, and a program that runs a demo.
const (
	workerWord  = "demo-worker"
	starterWord = "demo-starter"
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == workerWord:
		err = RunWorker(context.Background(), os.Stdin)
	case len(os.Args) > 1 && os.Args[1] == starterWord:
		err = runStarter()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// started is what a starter tells of its demo.
type started struct{ DSN, Provider, Dir string }

// runStarter runs a demo until SIGTERM.
func runStarter() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := Start(ctx, testOptions)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(started{d.DSN(), d.Provider(), d.Dir()}); err != nil {
		return err
	}
	<-ctx.Done()
	return d.Stop()
}

var testOptions = Options{Worker: []string{os.Args[0], workerWord}, Seed: 7, Workers: 4, Rate: 2}
