package sandbox

import (
	"bytes"
	"os"
	"strconv"
)

// children lists the processes that the process pid started.
func children(pid int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if _, parent, ok := procStat(child); ok && parent == pid {
			found = append(found, child)
		}
	}
	return found, nil
}

// alive says whether a process runs. A zombie does not.
func alive(pid int) bool {
	state, _, ok := procStat(pid)
	return ok && state != 'Z' && state != 'X'
}

// procStat returns a process's state letter and its parent; see proc_pid_stat(5).
func procStat(pid int) (state byte, parent int, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The program's name, in parentheses, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err == nil
}
