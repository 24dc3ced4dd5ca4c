package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"jobtop/actions/demo"
	"jobtop/store/sandbox"
	"jobtop/ui/config"
)

// demoFlags are those of jobtop demo.
type demoFlags struct {
	headless bool
	seed     uint64
	workers  int
	rate     float64
	limit    time.Duration
	fetch    bool
}

func (a *app) newDemoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupOperate,
		Short:   "Try jobtop on a throwaway database, with workers that go wrong",
		Long: `demo starts a PostgreSQL server of its own in a temporary directory, worker processes
that are killed, hang or make no progress now and then, a made-up payment provider that
loses answers, and the console on top. When it ends, nothing of it is left.

It needs the server programs of PostgreSQL 14 to 18; JOBTOP_PG_BIN names their directory
where they are in an unusual one. Where there are none, demo offers to fetch prebuilt ones
from Maven Central, or from the repository in JOBTOP_PG_REPOSITORY, checks them, and keeps
them in $XDG_CACHE_HOME/jobtop. Without a terminal only --fetch makes it do that.`,
		Example: `  jobtop demo
  jobtop demo --fetch                    without asking, where PostgreSQL is not installed
  jobtop demo --headless --for 10m       no console; prints the database's URL first`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.checkDemo(cmd, f); err != nil {
				return err
			}
			if err := a.haveServer(cmd.Context(), f.fetch, sandbox.Find); err != nil {
				return err
			}
			return a.runDemo(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.headless, "headless", false, "open no console; print the database's URL on the first line, and run until stopped")
	flags.Uint64Var(&f.seed, "seed", 0, "make it repeatable: the same jobs go wrong in the same way (default random)")
	flags.IntVar(&f.workers, "workers", 6, "worker processes")
	flags.Float64Var(&f.rate, "rate", 2, "jobs a second")
	flags.DurationVar(&f.limit, "for", 0, "end after this long, such as 10m (default never)")
	flags.BoolVar(&f.fetch, "fetch", false, "fetch PostgreSQL without asking, where none is installed")
	cmd.AddCommand(a.newDemoWorkerCommand(), a.newDemoLookupCommand())
	return cmd
}

func (a *app) checkDemo(cmd *cobra.Command, f demoFlags) error {
	switch {
	case a.flags.db != "" || cmd.Flags().Changed("profile"):
		return usagef("jobtop demo brings a database of its own; leave out --db and --profile")
	case f.workers < 1 || f.workers > demo.MaxWorkers:
		return usagef("--workers must be 1 to %d, not %d", demo.MaxWorkers, f.workers)
	case !(f.rate > 0 && f.rate <= demo.MaxRate):
		return usagef("--rate must be above 0 and at most %g jobs a second, not %g", demo.MaxRate, f.rate)
	case f.limit < 0 || cmd.Flags().Changed("for") && f.limit == 0:
		return usagef("--for must be above 0, not %s", f.limit)
	case !f.headless && (!isTerminal(a.stdin) || !isTerminal(a.stdout)):
		return usagef("the console needs a terminal; use jobtop demo --headless without one")
	}
	return nil
}

// errDemoOver: --for has gone by.
var errDemoOver = errors.New("the demo's time is over")

func (a *app) runDemo(ctx context.Context, f demoFlags) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the program does not find itself to start workers with: %w", err)
	}
	if f.seed == 0 {
		f.seed = rand.Uint64N(1_000_000) // short enough to be typed again
	}
	progress := newDemoProgress(a)
	d, err := demo.Start(ctx, demo.Options{
		Worker: []string{self, demoName, demoWorkerName}, Seed: f.seed, Workers: f.workers, Rate: f.rate, Progress: progress.stage,
	})
	took := progress.clear()
	if err != nil {
		return a.explainDemo(ctx, err)
	}
	// Also after a panic, which goes on from here.
	defer func() { err = errors.Join(err, d.Stop()) }()

	// The time runs from here, so that all of it can be looked at.
	if f.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.limit, errDemoOver)
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	broken := make(chan error, 1)
	go func() {
		select {
		case err := <-d.Failed():
			broken <- err
			cancel(err)
		case <-ctx.Done():
		}
	}()

	lookup := []string{self, demoName, demoLookupName, "--provider", d.Provider()}
	file, err := writeDemoConfig(d, lookup)
	if err != nil {
		return err
	}
	if f.headless {
		err = a.waitForDemo(ctx, d, fmt.Sprintf("PostgreSQL %s, seed %d, up in %.1f s", d.ServerVersion(), f.seed, took.Seconds()), file)
	} else {
		err = a.showDemo(ctx, d, lookup)
	}
	select {
	case failure := <-broken:
		return fmt.Errorf("the demo broke down: %w", failure)
	default:
	}
	if errors.Is(context.Cause(ctx), errDemoOver) {
		return nil
	}
	return err
}

// waitForDemo prints where the demo is and waits until it is stopped, which is how it is
// meant to end.
func (a *app) waitForDemo(ctx context.Context, d *demo.Demo, what, file string) error {
	fmt.Fprintln(a.out, d.DSN())
	if err := a.out.Flush(); err != nil {
		return fmt.Errorf("the database's URL could not be printed: %w", reason(err))
	}
	fmt.Fprintf(a.stderr, `%s. In another terminal:
  jobtop --config %s --profile demo   with a lookup at the made-up provider
  jobtop -d THAT_URL   without
It runs until it is stopped (ctrl-c), and leaves nothing behind.
`, what, file)
	<-ctx.Done()
	return nil
}

// demoShare is what the console may take of the demo's server, which nobody else needs.
const demoShare = 0.5

// showDemo opens the console on the demo, with the operator's own settings but for the
// database and the lookup.
func (a *app) showDemo(ctx context.Context, d *demo.Demo, lookup []string) error {
	a.flags.db, a.flags.profile, a.profile = d.DSN(), "", config.Profile{}
	a.config.Lookup = map[string]config.Lookup{"*": {Command: lookup}}
	a.config.Share = demoShare
	return a.runConsole(ctx)
}

// writeDemoConfig writes a configuration for other jobtops, which goes with the demo.
func writeDemoConfig(d *demo.Demo, lookup []string) (string, error) {
	text, err := toml.Marshal(map[string]any{
		"profile":  demoName,
		"share":    demoShare,
		"profiles": map[string]any{demoName: map[string]string{"dsn": d.DSN()}},
		"lookup":   map[string]any{"*": map[string]any{"command": lookup}},
	})
	if err != nil {
		return "", err
	}
	file := filepath.Join(d.Dir(), "jobtop.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", fmt.Errorf("the demo's configuration could not be written: %w", err)
	}
	return file, nil
}

// explainDemo tells why a demo could not start, on as many lines as that takes.
func (a *app) explainDemo(ctx context.Context, err error) error {
	if signalOf(ctx) != 0 {
		return context.Canceled
	}
	fmt.Fprintln(a.stderr, "jobtop: the demo could not start")
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(a.stderr, a.screen.charset.Line(strings.TrimRight(line, "\n"), messageWidth))
	}
	return &statusError{status: exitError}
}

// demoProgress tells on standard error how the start goes: on a terminal one line that is
// rewritten, elsewhere a line a stage.
type demoProgress struct {
	app      *app
	terminal bool
	began    time.Time

	mu   sync.Mutex
	name string        // of the stage that runs
	over chan struct{} // closed by clear
}

func newDemoProgress(a *app) *demoProgress {
	p := &demoProgress{app: a, terminal: isTerminal(a.stderr) && os.Getenv("TERM") != "dumb", began: time.Now(), over: make(chan struct{})}
	if p.terminal {
		go p.rewrite()
	}
	return p
}

// stage is called as a stage begins, and with the time that it took when it has ended.
func (p *demoProgress) stage(name string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name = name
	if !p.terminal && took > 0 {
		fmt.Fprintf(p.app.stderr, "demo: %-10s %5.2f s\n", name, took.Seconds())
	}
}

func (p *demoProgress) rewrite() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		p.mu.Lock()
		select {
		case <-p.over:
			p.mu.Unlock()
			return
		default:
			fmt.Fprintf(p.app.stderr, "\r\x1b[Kstarting the demo  %4.1f s  %s", time.Since(p.began).Seconds(), p.name)
		}
		p.mu.Unlock()
		<-tick.C
	}
}

// clear makes room for what comes next, and returns how long the start took.
func (p *demoProgress) clear() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.over)
	if p.terminal {
		fmt.Fprint(p.app.stderr, "\r\x1b[K")
	}
	return time.Since(p.began)
}

// The names of the demo's commands.
const (
	demoName       = "demo"
	demoWorkerName = "worker"
	demoLookupName = "lookup"
)

// newDemoWorkerCommand is one worker process of a demo, which starts it.
func (a *app) newDemoWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use: demoWorkerName, Hidden: true, Args: noArguments, PersistentPreRunE: a.prepareBare,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo.RunWorker(cmd.Context(), a.stdin) },
	}
}

// newDemoLookupCommand asks the provider of a demo for an effect: a lookup command as
// anybody may configure one. The effect key is the argument, or in the environment.
func (a *app) newDemoLookupCommand() *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use: demoLookupName + " [EFFECT_KEY]", Hidden: true, Args: cobra.MaximumNArgs(1), PersistentPreRunE: a.prepareBare,
		RunE: func(cmd *cobra.Command, arguments []string) error {
			key := os.Getenv("JOBTOP_EFFECT_KEY")
			if len(arguments) > 0 {
				key = arguments[0]
			}
			if key == "" || provider == "" {
				return usagef("%s needs an effect key, and the provider's URL in --provider or %s", cmd.CommandPath(), demo.ProviderEnv)
			}
			answer, err := demo.LookUp(cmd.Context(), provider, key)
			if err != nil {
				return err
			}
			return json.NewEncoder(a.out).Encode(answer)
		},
	}
	cmd.Flags().StringVar(&provider, "provider", os.Getenv(demo.ProviderEnv), "the provider's `URL`")
	return cmd
}

// prepareBare is for commands that heed no configuration.
func (a *app) prepareBare(*cobra.Command, []string) error {
	a.screen = newScreen(a.stdout, a.flags)
	return nil
}
