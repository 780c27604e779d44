package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// defaultDomain is the domain in the protocol's document.
const defaultDomain = "software_development"

func (c *Conn) handleCreate(cmd *protocol.Command) {
	var d protocol.CreateData
	if !c.DecodeData(cmd, &d) {
		return
	}
	// A one-shot client ends before it could use them.
	unused := c.Options.OneShot && (d.Name != "" || d.Title != "")
	if unused || len(d.Env)+len(d.Settings)+len(d.Load)+len(d.Labels) > 0 || d.Policy != nil ||
		d.Sandbox != (protocol.Sandbox{}) {
		c.FailUnsupported(cmd, "the name, title, labels, environment, settings, policy, sandbox or stored session of an agent")
		return
	}
	if len(d.Parts) > 0 {
		c.FailUnsupported(cmd, textOnly)
		return
	}
	if len(c.creations.started) >= maxRequests {
		c.Fail(cmd, codec.TooMany(maxRequests))
		return
	}
	if d.Name != "" && c.resume.sessions.find(d.Name) != nil {
		c.Failf(cmd, protocol.CodeNameTaken, "another session is called %q", d.Name)
		return
	}
	domain := cmp.Or(d.Agent, c.Options.Options["domain"], defaultDomain)
	created := &creation{cmd, d, domain, c.Now.Add(answerTimeout)}
	c.creations.started = append(c.creations.started, created)
	c.send(wire.Frame{Type: wire.TypeStart, Payload: wire.StartPayload{Domain: domain}})
}

// handleStarted handles conversation_started, the answer to the oldest creation.
func (c *Conn) handleStarted(m wire.Message) {
	id := m.Conversation()
	if len(c.creations.started) == 0 || id == "" {
		if c.lastSession != nil {
			c.lastSession.recordRaw(wire.TypeStarted, protocol.MustEncode(m))
		}
		return
	}
	created := c.creations.take()
	s := c.sessionByID(id)
	if s == nil {
		s = c.addSession(id, protocol.SessionCreatedData{
			Name: created.data.Name, Title: created.data.Title,
			Agent: cmp.Or(m.Payload().Name("activeAgent"), created.domain),
		})
	}
	if s == nil {
		c.Fail(created.command, tooManySessions())
		return
	}
	c.lastSession, s.requests.updates = s, true
	r := &protocol.CreateResult{Session: id, Name: created.data.Name}
	if created.data.Prompt == "" || s.turns.current != nil {
		s.outbox.answerCreate(created.command, r)
		return
	}
	s.outbox.send(&request{command: created.command, created: r, message: protocol.Message{
		MessageID: c.Options.ID("m"), ClientMessageID: created.data.ClientMessageID, Text: created.data.Prompt,
		By: c.User(),
	}})
}

// failCreate fails a conversation that the server did not start. Only an error of agentctl's server
// names the domains.
func (c *Conn) failCreate(created *creation, code, message string) {
	if code == wire.CodeNotFound && !c.Options.PeerIsAgentctl {
		c.creations.readDomains(created, c.Now.Add(answerTimeout))
		return
	}
	c.Fail(created.command, nativeError(code, message, protocol.CodeNoAgent))
}

// maxDomains bounds the domains that an error names.
const maxDomains = 32

// Paths implements dialect.HTTPReader.
func (c *Conn) Paths() []string { return c.creations.takePaths() }

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
	for _, created := range c.creations.takeUnknown() {
		message := fmt.Sprintf("the server has no domain %q", created.domain)
		if len(names) > 0 {
			message += ": want one of " + strings.Join(names, ", ")
		}
		c.Fail(created.command, &protocol.Error{Code: protocol.CodeNoAgent, Message: message})
	}
}
