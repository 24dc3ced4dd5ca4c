package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"jobtop/store/bench"
)

// What a console costs its terminal, as it is counted through a real one.
const (
	screenStart   = "start to the first full screen"
	screenRefresh = "sent for a refresh"
	screenCursor  = "sent for a cursor move"
	screenPage    = "sent for a page"
	screenAnswer  = "key to the screen's answer"
	screenMemory  = "memory of the console"
)

// measureScreens runs the console itself on a table, in terminals of two sizes.
func measureScreens(ctx context.Context, dsn string) ([]bench.ScreenFigure, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var figures []bench.ScreenFigure
	for _, size := range []pty.Winsize{{Cols: 80, Rows: 24}, {Cols: 140, Rows: 45}} {
		found, err := measureScreen(ctx, self, dsn, size)
		if err != nil {
			return nil, fmt.Errorf("the console in a terminal of %dx%d: %w", size.Cols, size.Rows, err)
		}
		figures = append(figures, found...)
	}
	full, err := measureFull(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("the console with much to show: %w", err)
	}
	return append(figures, full...), nil
}

func measureScreen(ctx context.Context, self, dsn string, size pty.Winsize) (figures []bench.ScreenFigure, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	began := time.Now()
	s, err := openScreen(ctx, self, dsn, size, "--refresh", "2s")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	add := func(what string, value float64, unit string) {
		figures = append(figures, bench.ScreenFigure{What: what, Size: fmt.Sprintf("%dx%d", size.Cols, size.Rows), Value: value, Unit: unit})
	}
	if err := s.until(ctx, "dead rows"); err != nil {
		return nil, err
	}
	add(screenStart, float64(time.Since(began).Milliseconds()), "ms")

	// The list of the open jobs, at rest.
	if _, _, err := s.press(ctx, "4"); err != nil {
		return nil, err
	}
	if err := s.until(ctx, "job-"); err != nil {
		return nil, err
	}
	if _, _, err := s.press(ctx, "j"); err != nil {
		return nil, err
	}
	// In the middle one nothing is new; once a minute all ages of a table grow at once.
	var idle []float64
	for range 5 {
		before := s.count()
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		idle = append(idle, float64(s.count()-before))
	}
	add(screenRefresh, middle(idle), "bytes")

	var answers []float64
	for _, m := range []struct{ what, key string }{{screenCursor, "j"}, {screenPage, "\x1b[6~"}} {
		var sent []float64
		for range 9 {
			n, answer, err := s.press(ctx, m.key)
			if err != nil {
				return nil, err
			}
			sent, answers = append(sent, float64(n)), append(answers, float64(answer.Microseconds())/1000)
		}
		add(m.what, middle(sent), "bytes")
	}
	add(screenAnswer, middle(answers), "ms")
	if kilobytes := peakMemory(s.cmd.Process.Pid); kilobytes > 0 {
		add(screenMemory, float64(kilobytes)/1024, "MiB")
	}
	return figures, nil
}

// eagerConsole looks at the stuck jobs as often as it can, until ctx is done.
func eagerConsole(ctx context.Context, dsn string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := openScreen(context.WithoutCancel(ctx), self, dsn, pty.Winsize{Cols: 120, Rows: 40}, "--refresh", "500ms", "--view", "stuck")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	// By hand too, but never so soon again that it would insist.
	tick := time.NewTicker(11 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if _, err := s.file.Write([]byte("R")); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// peakMemory is the most memory that a process has had, in kilobytes; 0 where the system
// does not tell.
func peakMemory(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(l, "VmHWM:"); found {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n
		}
	}
	return 0
}

// watched is a console in a terminal whose output is counted.
type watched struct {
	cmd  *exec.Cmd
	file *os.File
	home string

	mu    sync.Mutex
	text  bytes.Buffer
	n     int
	last  time.Time // when something came
	ended error
}

// openScreen starts the console on a database, with its own settings and journal.
func openScreen(ctx context.Context, self, dsn string, size pty.Winsize, flags ...string) (*watched, error) {
	home, err := os.MkdirTemp("", "jobtop-bench-")
	if err != nil {
		return nil, err
	}
	s := &watched{home: home, last: time.Now()}
	// Not through the arguments, which everybody on the machine can read.
	config := filepath.Join(home, "config.toml")
	if err = os.WriteFile(config, fmt.Appendf(nil, "profile = 'bench'\n[profiles.bench]\ndsn = %s\n", strconv.Quote(dsn)), 0o600); err == nil {
		s.cmd = exec.CommandContext(ctx, self, append([]string{"--config", config}, flags...)...)
		// A terminal of this kind is not asked anything that nobody here would answer.
		s.cmd.Env = append(os.Environ(), "TERM=screen-256color", "XDG_STATE_HOME="+home, "DATABASE_URL=", "PGSERVICE=", "PGDATABASE=", "PGHOST=", "PGHOSTADDR=", "NO_COLOR=", "TMUX=")
		s.file, err = pty.StartWithSize(s.cmd, &size)
	}
	if err != nil {
		_ = os.RemoveAll(home)
		return nil, err
	}
	go s.read()
	return s, nil
}

// close ends the console as a person would.
func (s *watched) close() error {
	_, _ = s.file.Write([]byte("\x03"))
	err := s.cmd.Wait()
	_ = s.file.Close()
	return errors.Join(err, os.RemoveAll(s.home))
}

func (s *watched) read() {
	b := make([]byte, 1<<16)
	for {
		n, err := s.file.Read(b)
		s.mu.Lock()
		s.text.Write(b[:n])
		s.n += n
		s.last = time.Now()
		s.ended = err
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *watched) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// mark forgets what was sent so far: until and shown look at what comes after it.
func (s *watched) mark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}

// shown reports whether something was sent.
func (s *watched) shown(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.text.Bytes(), []byte(text))
}

// wait looks again and again until something holds.
func (s *watched) wait(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		held, ended := holds(), s.ended
		s.mu.Unlock()
		switch {
		case held:
			return nil
		case ended != nil && !errors.Is(ended, io.EOF):
			return fmt.Errorf("it ended: %w", ended)
		case ended != nil:
			return errors.New("it ended")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *watched) until(ctx context.Context, text string) error {
	if err := s.wait(ctx, func() bool { return bytes.Contains(s.text.Bytes(), []byte(text)) }); err != nil {
		return fmt.Errorf("waiting for %q: %w", text, err)
	}
	return nil
}

// press presses a key and returns how much the screen sent for it, until it was quiet,
// and how soon it began to.
func (s *watched) press(ctx context.Context, key string) (sent int, answer time.Duration, err error) {
	const quiet = 150 * time.Millisecond
	if err := s.wait(ctx, func() bool { return time.Since(s.last) > quiet }); err != nil {
		return 0, 0, err
	}
	before, began := s.count(), time.Now()
	if _, err := s.file.Write([]byte(key)); err != nil {
		return 0, 0, err
	}
	if err := s.wait(ctx, func() bool { return s.n > before || time.Since(began) > time.Second }); err != nil {
		return 0, 0, err
	}
	answer = time.Since(began)
	err = s.wait(ctx, func() bool { return time.Since(s.last) > quiet })
	return s.count() - before, answer, err
}
