//go:build unix && !linux

package demo

import "syscall"

// memberAttributes put a worker into a group of its own, out of reach of the terminal's
// signals. When the demo is killed the group is orphaned, and the kernel wakes a frozen
// worker, which then finds that its standard input has ended.
func memberAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
