//go:build unix && !linux

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// children lists the processes that the process pid started.
func children(pid int) ([]int, error) {
	out, err := exec.CommandContext(context.Background(), "ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	var found []int
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var child, parent int
		if _, err := fmt.Sscan(lines.Text(), &child, &parent); err == nil && parent == pid {
			found = append(found, child)
		}
	}
	return found, nil
}

// alive says whether a process runs. A zombie does not.
func alive(pid int) bool {
	out, err := exec.CommandContext(context.Background(), "ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
