package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lockFile is what a server notes of itself in its data directory, in postmaster.pid. An orderly end
// removes the file; after any other its process ID tells which server wrote it. The zero value means
// that there is none.
type lockFile struct {
	pid    int // negative for the servers that initdb runs
	memory int // the ID of its System V shared memory segment, 0 before there is one
	status string
}

func readLockFile(data string) lockFile {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return lockFile{}
	}
	lines := append(strings.Split(string(text), "\n"), make([]string, 8)...)
	var f lockFile
	var key int
	// What is not there yet stays zero.
	_, _ = fmt.Sscan(lines[0], &f.pid)
	_, _ = fmt.Sscan(lines[6], &key, &f.memory)
	f.status = strings.TrimSpace(lines[7])
	return f
}

// ready says whether the server of this process ID accepts connections.
func (f lockFile) ready(pid int) bool {
	return f.pid == pid && (f.status == "ready" || f.status == "standby")
}

// freeMemory frees the segment of a server that was killed and so could not do it.
func (f lockFile) freeMemory() {
	if f.memory != 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = exec.CommandContext(ctx, "ipcrm", "-m", strconv.Itoa(f.memory)).Run() // it may be gone
	}
}
