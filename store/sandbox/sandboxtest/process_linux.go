package sandboxtest

import (
	"bytes"
	"fmt"
	"os"
)

// processInfo returns the name of a process's program and when it started, in clock ticks since boot.
func processInfo(pid int) (name, start string, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", "", err
	}
	// The name, in parentheses, may hold anything; the start time is field 22, see proc_pid_stat(5).
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[to+1:])
	if from < 0 || to < from || len(fields) < 20 {
		return "", "", fmt.Errorf("/proc/%d/stat: unknown format", pid)
	}
	return string(stat[from+1 : to]), string(fields[19]), nil
}
