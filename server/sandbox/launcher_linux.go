package sandbox

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A launcher starts processes on one thread. Where the kernel can, the thread is in a Landlock
// domain, which every process that it starts inherits: they reach no abstract socket and signal no
// process outside of it. The processes end with the thread. The zero value is ready; the thread
// starts with the first process.
type launcher struct {
	mu    sync.Mutex
	tasks chan func() // nil: no thread
	err   error       // of the thread's domain
	done  chan struct{}
}

// launch calls start on the thread.
func (l *launcher) launch(start func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tasks == nil {
		l.tasks, l.done = make(chan func()), make(chan struct{})
		ready := make(chan error)
		go l.run(l.tasks, l.done, ready)
		l.err = <-ready
	}
	if l.err != nil {
		return l.err
	}
	result := make(chan error, 1)
	l.tasks <- func() { result <- start() }
	return <-result
}

// run is the goroutine of the thread. The thread ends with it.
func (l *launcher) run(tasks chan func(), done chan struct{}, ready chan error) {
	defer close(done)
	runtime.LockOSThread()
	_, _ = unix.KeyctlJoinSessionKeyring("") // without the keys of the user
	ready <- enterDomain()
	for task := range tasks {
		task()
	}
}

// stop ends the thread.
func (l *launcher) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tasks != nil {
		close(l.tasks)
		<-l.done
		l.tasks = nil
	}
}

// Values of the kernel's uapi/linux/landlock.h: x/sys has no type with a scope.
const (
	landlockScopeAbstractUnixSocket = 1 << 0
	landlockScopeSignal             = 1 << 1
	landlockScopeVersion            = 6 // of the first ABI with scopes
)

// rulesetAttr is struct landlock_ruleset_attr.
type rulesetAttr struct{ fs, net, scoped uint64 }

// scopesSockets reports whether the kernel can close abstract sockets.
func scopesSockets() bool {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return errno == 0 && int(version) >= landlockScopeVersion
}

// enterDomain puts this thread into its own Landlock domain, if the kernel can.
func enterDomain() error {
	if !scopesSockets() {
		return nil
	}
	attr := rulesetAttr{scoped: landlockScopeAbstractUnixSocket | landlockScopeSignal}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("set up sandbox: Landlock: %w", errno)
	}
	defer unix.Close(int(fd)) //nolint:errcheck // nothing was written
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set up sandbox: no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("set up sandbox: Landlock: %w", errno)
	}
	return nil
}
