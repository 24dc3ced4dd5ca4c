package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"jobtop/store/sandbox"
	"jobtop/store/sandbox/fetch"
	"jobtop/ui/text"
)

// repositoryEnv names another Maven repository, such as a company's mirror.
const repositoryEnv = "JOBTOP_PG_REPOSITORY"

// haveServer makes sure that there are server programs for the demo. Where find finds none, it fetches
// them if the person wants that, which only a terminal or the flag tells.
func (a *app) haveServer(ctx context.Context, unasked bool, find func() (sandbox.Programs, error)) error {
	_, missing := find()
	if missing == nil {
		return nil
	}
	ask := isTerminal(a.stdin) && isTerminal(a.stderr)
	if !errors.Is(missing, sandbox.ErrNoPrograms) || os.Getenv("JOBTOP_PG_BIN") != "" || !unasked && !ask {
		return a.explainDemo(ctx, missing)
	}
	o := fetch.Options{Repository: os.Getenv(repositoryEnv)}
	if o.Repository == "" {
		o.Repository = fetch.MavenCentral
	}
	var err error
	if o.Dir, err = sandbox.CacheDir(); err != nil {
		return a.explainDemo(ctx, errors.Join(missing, err))
	}
	what := fmt.Sprintf("PostgreSQL %s from %s into %s", fetch.Version, short(o.Repository), short(o.Dir))
	if unasked {
		fmt.Fprintf(a.stderr, "demo: no PostgreSQL server programs found; fetching %s\n", what)
	} else {
		o.Confirm = func(size int64) bool {
			fmt.Fprintf(a.stderr, "No PostgreSQL server programs were found, and the demo needs some.\nFetch %s (%s)? [y/N] ", what, archiveSize(size))
			return a.yes(ctx)
		}
	}
	var done, shown int64
	rewrite := isTerminal(a.stderr) && os.Getenv("TERM") != "dumb"
	o.Progress = func(n, total int64) {
		const step = 1 << 18 // often enough for the eye
		done = n
		switch {
		case !rewrite || n != total && n-shown < step:
		case n == total:
			fmt.Fprintf(a.stderr, "\r\x1b[Kfetched %s, unpacking", text.Bytes(n))
		default:
			shown = n
			fmt.Fprintf(a.stderr, "\r\x1b[Kfetching PostgreSQL %s: %s of %s", fetch.Version, text.Bytes(n), archiveSize(total))
		}
	}
	programs, err := fetch.Fetch(ctx, o)
	if rewrite && done > 0 {
		fmt.Fprint(a.stderr, "\r\x1b[K")
	}
	switch {
	case errors.Is(err, fetch.ErrDeclined):
		return a.explainDemo(ctx, missing)
	case err != nil:
		return a.explainDemo(ctx, fmt.Errorf(`PostgreSQL %s could not be fetched, and nothing of it was kept:
  %w
Try again, or name a mirror of Maven Central in %s, or install PostgreSQL %d to %d
with the system's packages, or say which directory has it: JOBTOP_PG_BIN=/path/to/bin`,
			fetch.Version, err, repositoryEnv, sandbox.OldestMajor, sandbox.NewestMajor))
	}
	if done > 0 {
		fmt.Fprintf(a.stderr, "demo: fetched PostgreSQL %s (%s); it stays in %s\n", programs.Version, text.Bytes(done), short(o.Dir))
	}
	return nil
}

func archiveSize(n int64) string {
	if n < 0 {
		return "size not told"
	}
	return text.Bytes(n)
}

// yes waits for a line on the terminal, and reports whether it agrees.
func (a *app) yes(ctx context.Context) bool {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n') // a terminal gives one line at a time
		answer <- line
	}()
	select {
	case line := <-answer:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes"
	case <-ctx.Done():
		return false
	}
}
