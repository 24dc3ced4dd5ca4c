package demo

import "syscall"

// memberAttributes put a worker into a group of its own, out of reach of the terminal's
// signals, and have the kernel kill it when the demo is killed, even while it is frozen.
func memberAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
