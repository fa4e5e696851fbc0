package main

import "syscall"

// ownGroup keeps Ctrl-C from a child, which is stopped in order, and has the kernel kill it when this process is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
