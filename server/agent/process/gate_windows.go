package process

import "os/exec"

// A gate is always open here: no group is recorded where its start time cannot be told.
type gate struct{}

func newGate(*exec.Cmd) (*gate, error) { return &gate{}, nil }
func (*gate) pass() error              { return nil }
func (*gate) close()                   {}
