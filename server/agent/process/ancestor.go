//go:build linux || darwin

package process

import (
	"os"
	"strings"
)

// maxAncestors bounds an ancestry.
const maxAncestors = 256

// ancestry returns a running process, its parent, and so on, without this process and the first one
// of the system. A child is looked up again after its parent: only while it still has that parent,
// the number cannot be that of a later process.
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
