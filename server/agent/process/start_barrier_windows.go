package process

import "os/exec"

// A startBarrier is a no-op on Windows: the platform reports no start times, so no group is recorded.
type startBarrier struct{}

func newStartBarrier(*exec.Cmd) (*startBarrier, error) { return &startBarrier{}, nil }
func (*startBarrier) release() error                   { return nil }
func (*startBarrier) close()                           {}
