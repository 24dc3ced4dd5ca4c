package lookup

import (
	"os/exec"
	"syscall"
)

// ownGroup lets the command's own children end with it: they are one process group, and
// none of the terminal's signals reach it.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
