//go:build unix && !linux

package sandboxtest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processInfo returns the name of a process's program and when it started, in Unix seconds.
func processInfo(pid int) (name, start string, err error) {
	ps := exec.CommandContext(context.Background(), "ps", "-o", "lstart=,comm=", "-p", strconv.Itoa(pid))
	ps.Env = []string{"LC_ALL=C", "TZ=UTC"}
	out, err := ps.Output()
	if err != nil {
		return "", "", fmt.Errorf("ps: %w", err)
	}
	fields := strings.Fields(string(out)) // Mon Jan  2 15:04:05 2006 /path/to/program
	if len(fields) < 6 {
		return "", "", fmt.Errorf("ps: unknown format %q", out)
	}
	began, err := time.Parse("Mon Jan 2 15:04:05 2006", strings.Join(fields[:5], " "))
	if err != nil {
		return "", "", fmt.Errorf("ps: %w", err)
	}
	return filepath.Base(fields[len(fields)-1]), strconv.FormatInt(began.Unix(), 10), nil
}
