//go:build !linux && !darwin

package process

import "net"

// startTime is unknown on this platform, so a later server does not end groups.
func startTime(int) string { return "" }

func (g Group) isCurrent() bool { return false }

func (g Group) running() bool { return false }

func descendants(int) []Group { return nil }

// groupRunning assumes that the group runs: this system does not tell zombies from live processes.
func groupRunning(int) bool { return true }

// Peer returns nothing: the process at the other end is unknown on this platform.
func Peer(*net.UnixConn) ([]Ancestor, error) { return nil, nil }

func lookup(int) (a Ancestor, parent int, ok bool) { return a, 0, false }

// environment is unknown on this platform, so marked finds no process.
func environment(int) string { return "" }

// waitExited returns immediately: this system cannot wait for a child without reaping it.
func waitExited(int) bool { return false }
