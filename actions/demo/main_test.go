package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"jobtop/actions/demo"
)

// The test binary is also a worker, and a program that runs a demo.
const (
	workerWord  = "demo-worker"
	starterWord = "demo-starter"
)

func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case workerWord:
		exit(demo.RunWorker(context.Background(), os.Stdin))
	case starterWord:
		exit(runStarter())
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// started is what a starter tells of its demo.
type started struct{ DSN, Provider, Dir string }

// runStarter runs a demo until SIGTERM.
func runStarter() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := demo.Start(ctx, options())
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(started{d.DSN(), d.Provider(), d.Dir()}); err != nil {
		return err
	}
	<-ctx.Done()
	return d.Stop()
}

func options() demo.Options {
	seed, _ := strconv.ParseUint(os.Getenv("DEMO_TEST_SEED"), 10, 64)
	return demo.Options{Worker: []string{os.Args[0], workerWord}, Seed: max(7, seed), Workers: 4, Rate: 2}
}
