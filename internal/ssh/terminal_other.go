//go:build !unix

package ssh

import "syscall"

func withoutTerminal() *syscall.SysProcAttr { return nil }
