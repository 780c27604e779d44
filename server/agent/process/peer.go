package process

import "errors"

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
