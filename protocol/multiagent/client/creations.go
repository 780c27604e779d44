package client

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A creation is a conversation being started.
type creation struct {
	command  *protocol.Command
	data     protocol.CreateData
	domain   string
	deadline time.Time
}

// creations are the conversations being started, and the failed ones whose error names the server's
// domains once they were read.
type creations struct {
	started []*creation // without an answer, oldest first
	unknown []*creation // of an unknown domain, oldest first
	paths   []string    // to read
}

// domainsPath is the HTTP path of the real system's domains.
const domainsPath = "/v1/domains"

// take removes and returns the oldest creation without an answer, or nil.
func (c *creations) take() *creation {
	if len(c.started) == 0 {
		return nil
	}
	oldest := c.started[0]
	c.started = c.started[1:]
	return oldest
}

// takeLate removes and returns the creations that the server did not answer in time.
func (c *creations) takeLate(now time.Time) (late []*creation) {
	for len(c.started) > 0 && !now.Before(c.started[0].deadline) {
		late = append(late, c.take())
	}
	return late
}

// readDomains keeps a creation of an unknown domain until the server's domains were read.
func (c *creations) readDomains(failed *creation, deadline time.Time) {
	failed.deadline = deadline
	if c.unknown = append(c.unknown, failed); len(c.unknown) == 1 {
		c.paths = append(c.paths, domainsPath)
	}
}

// takeUnknown removes and returns the creations of unknown domains.
func (c *creations) takeUnknown() (failed []*creation) {
	failed, c.unknown = c.unknown, nil
	return failed
}

// domainsLate reports whether the server's domains could not be read in time.
func (c *creations) domainsLate(now time.Time) bool {
	return len(c.unknown) > 0 && !now.Before(c.unknown[0].deadline)
}

// takePaths removes and returns the paths to read.
func (c *creations) takePaths() (paths []string) {
	paths, c.paths = c.paths, nil
	return paths
}

// wakeBy schedules a Wake for the next deadline.
func (c *creations) wakeBy(out *codec.Output) {
	for _, list := range [][]*creation{c.started, c.unknown} {
		if len(list) > 0 {
			out.WakeBy(list[0].deadline)
		}
	}
}
