package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// thisMachine says where this runs, as far as the system tells.
func thisMachine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Load: -1}
	m.CPU = line("/proc/cpuinfo", "model name")
	if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(line("/proc/meminfo", "MemTotal"), " kB"), 10, 64); err == nil {
		m.Memory = kilobytes * 1024
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		if load, err := strconv.ParseFloat(first, 64); err == nil {
			m.Load = load
		}
	}
	return m
}

// line is what stands after a name and a colon in a file of the system, "" if nothing.
func line(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(l, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// ProcessorTime is what all threads of some processes have used, 0 where it cannot be
// told. It is exact for those that wait.
func ProcessorTime(pids ...int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
		if err != nil || len(threads) == 0 {
			return 0
		}
		for _, name := range threads {
			text, err := os.ReadFile(name)
			if err != nil {
				continue // it has ended
			}
			first, _, _ := strings.Cut(string(text), " ")
			nanoseconds, err := strconv.ParseInt(first, 10, 64)
			if err != nil {
				return 0
			}
			sum += time.Duration(nanoseconds)
		}
	}
	return sum
}
