package process

import (
	"errors"
	"os"
	"strings"
)

// SessionVariable names the session of an agent in the environment of its processes.
const SessionVariable = "AGENTCTL_SESSION"

// ErrPeerGone is the error of Peer for a process that has ended.
var ErrPeerGone = errors.New("the process that connected has ended")

// An Ancestor is a process in an ancestry.
type Ancestor struct {
	PID     int
	Start   string // start time, platform-specific
	Group   int    // number of its process group
	Session string // SessionVariable at its start; "" where unset or not readable
}

// maxAncestors bounds an ancestry.
const maxAncestors = 256

// ancestry returns a running process, its parent, and so on, without this process and the first one
// of the system. A child is looked up again after its parent: if it still has that parent, the
// parent's number was not reused by a later process.
func ancestry(pid int) ([]Ancestor, error) {
	var list []Ancestor
	self := os.Getpid()
	for pid > 1 && pid != self && len(list) < maxAncestors {
		a, parent, ok := lookup(pid)
		if n := len(list); n > 0 {
			_, now, running := lookup(list[n-1].PID)
			if !running {
				return list, ErrPeerGone
			}
			if now != pid {
				pid = now
				continue
			}
		}
		if !ok {
			return list, ErrPeerGone
		}
		a.Session = sessionIn(environment(pid))
		list = append(list, a)
		pid = parent
	}
	return list, nil
}

// sessionIn returns the value of SessionVariable in an environment whose variables end with NUL.
func sessionIn(environment string) string {
	for kv := range strings.SplitSeq(environment, "\x00") {
		if value, ok := strings.CutPrefix(kv, SessionVariable+"="); ok {
			return value
		}
	}
	return ""
}

// marked returns the running processes that have a mark in their environment.
func marked(mark string) (list []Group) {
	for _, g := range descendants(0) { // all processes
		if strings.Contains(environment(g.PID), mark) {
			list = append(list, g)
		}
	}
	return list
}
