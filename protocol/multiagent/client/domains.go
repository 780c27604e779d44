package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// domainsPath is the HTTP path of the real system's domains.
const domainsPath = "/v1/domains"

// maxDomains bounds the domains that an error names.
const maxDomains = 32

// readDomains delays the error of a conversation of an unknown domain until the server's domains
// were read.
func (c *Conn) readDomains(failed *creation) {
	failed.deadline = c.Now.Add(answerTimeout)
	if c.unknown = append(c.unknown, failed); len(c.unknown) == 1 {
		c.paths = append(c.paths, domainsPath)
	}
}

// Paths implements dialect.HTTPReader.
func (c *Conn) Paths() []string {
	paths := c.paths
	c.paths = nil
	return paths
}

// PathRead implements dialect.HTTPReader.
func (c *Conn) PathRead(now time.Time, _ string, body []byte) codec.Output {
	return c.run(now, func() {
		var domains []struct{ ID string }
		_ = json.Unmarshal(body, &domains) // without it the error names none
		var names []string
		for _, d := range domains[:min(len(domains), maxDomains)] {
			if d.ID != "" && len(d.ID) <= wire.MaxName {
				names = append(names, protocol.ValidText(d.ID))
			}
		}
		slices.Sort(names)
		c.failUnknown(names)
	})
}

// failUnknown fails the conversations of unknown domains. names are the server's domains, if known.
func (c *Conn) failUnknown(names []string) {
	failed := c.unknown
	c.unknown = nil
	for _, created := range failed {
		message := fmt.Sprintf("the server has no domain %q", created.domain)
		if len(names) > 0 {
			message += ": want one of " + strings.Join(names, ", ")
		}
		c.Fail(created.command, &protocol.Error{Code: protocol.CodeNoAgent, Message: message})
	}
}
