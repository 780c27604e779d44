package session

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/eventlog"
	"agentctl/server/policy"
	"agentctl/server/session/confinement"
)

const (
	maxAgent = 64 << 10 // bytes of an agent's name, which is stored in session.created
	maxLoad  = 1 << 10  // bytes of the agent's id of a session
)

// create makes a session. Its answer comes when session.created, and the start of its prompt, are
// visible. past is recorded before the prompt; nil: no past.
func (h *Hub) create(cmd *command, d *protocol.CreateData, past *archive.Past) error {
	if d.Agent == "" {
		d.Agent = h.settings().DefaultAgent
	}
	if len(d.Agent) > maxAgent {
		return protocol.Exceeded(protocol.CodeTooLarge, maxAgent, "agent: too long")
	}
	if len(d.Load) > maxLoad {
		return protocol.Exceeded(protocol.CodeTooLarge, maxLoad, "load: too long")
	}
	if err := protocol.CheckLabels(d.Labels); err != nil {
		return err
	}
	for k, v := range d.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.Contains(v, "\x00") {
			return protocol.Errorf(protocol.CodeInvalidMessage, "env: %.80q is not a valid variable", k)
		}
	}
	if err := protocol.CheckMCPServers(d.MCPServers); err != nil {
		return err
	}
	if d.CWD != "" {
		if !filepath.IsAbs(d.CWD) {
			return protocol.Errorf(protocol.CodeInvalidMessage, "cwd: %.200q is not an absolute path", d.CWD)
		}
		elsewhere, ok := h.cfg.Agents.(confinement.Elsewhere) // a directory there is not known here
		here := !ok || !elsewhere.RunsElsewhere(d.Agent)
		if info, err := os.Stat(d.CWD); here && (err != nil || !info.IsDir()) {
			return protocol.Errorf(protocol.CodeInvalidMessage, "cwd: %.200q is not a directory on the server", d.CWD)
		}
	}
	spec := agent.Spec{
		Agent: d.Agent, CWD: d.CWD, Env: d.Env, Settings: d.Settings, Choice: policy.Choice{File: d.Policy},
		Sandbox: d.Sandbox, Load: d.Load, Lazy: d.Lazy, Checking: d.Check && !d.Lazy, Parent: cmd.Agent, Imported: past != nil,
		MCPServers: d.MCPServers,
	}
	c := creation{
		cmd: cmd, name: d.Name, title: truncateTitle(d.Title), labels: d.Labels, discardUnused: d.DiscardUnused,
		past: past, stored: past != nil,
	}
	if d.Prompt != "" || len(d.Parts) > 0 {
		c.prompt = &protocol.Message{Text: d.Prompt, Parts: d.Parts, ClientMessageID: d.ClientMessageID}
	}
	return h.createSession(spec, c)
}

// A creation is a command that makes a session.
type creation struct {
	cmd    *command
	name   string
	title  string
	labels map[string]string

	discardUnused bool // as CreateData.DiscardUnused

	past   *archive.Past     // of a session made from another or from a log; nil: none
	prompt *protocol.Message // nil: none
	blobs  []agent.Blob      // that the state in the spec needs
	stored bool              // the sandbox of the spec is of an earlier session
	id     string            // of the session; empty: a new one
}

// createSession makes a session. Its agent starts immediately, unless the session is lazy. While
// the session is Checking, it is not in the index.
func (h *Hub) createSession(spec agent.Spec, c creation) error {
	if spec.SubAgent == nil { // a sub-agent runs in the process of its parent
		if err := confinement.Choose(h.cfg.Agents, &spec, c.stored, h.list.Summary); err != nil {
			return err
		}
	}
	raw, err := h.specs.Encode(spec)
	if err != nil {
		return err
	}
	if err := h.disk.Check(); err != nil {
		return err
	}
	if n := h.settings().Limits.Sessions; h.list.Len() >= n {
		return protocol.Exceeded(protocol.CodeSessionLimit, n, "the server has too many sessions: remove closed ones")
	}
	if !h.sessions.add() {
		return errShuttingDown()
	}
	s := h.newSession(cmp.Or(c.id, NewID(idSession)), NewEpoch(), 0, spec)
	batch := s.journal.NextBatch()
	batch.Blobs = c.blobs
	batch.Create = &eventlog.Record{ID: s.id, Epoch: s.journal.Log().Position().Epoch, Created: time.Now(), Spec: raw}
	var result protocol.CreateResult
	loaded := ""
	if spec.Load != "" {
		loaded = conversation(h.cfg.Agents, &spec)
	}
	if err = h.list.Reserve(s.id, c.name, loaded); err == nil {
		if result, err = s.initialize(c); err != nil {
			h.list.Release(s.id, c.name)
		}
	}
	if err != nil {
		s.closeAgent()
		s.cancelBackground()
		s.deadlines.timer.Stop()
		close(s.mail.done)
		h.sessions.running.Done()
		return err
	}
	if c.cmd.Key != "" {
		s.idempotency.Begin(&c.cmd.Command)
	}
	sum := s.recorder.Summary(s.subscribers.Len())
	s.journal.AfterCommit(func(failed error) {
		switch {
		case failed != nil:
			h.list.Release(s.id, c.name)
			s.exit.ending = true
			if spec.Checking {
				s.refuse(c, failed)
			}
		case spec.Checking:
			s.slot.SetCreator(c.cmd.Notify)
			s.startAgent(func(err error) { s.endCheck(c, err) }, func() { s.refuse(c, errShuttingDown()) })
		default:
			h.list.Add(sum, member(s))
			s.startEarly()
		}
	})
	if !spec.Checking {
		s.answer(c.cmd, result, nil)
	}
	go s.run()
	return nil
}

// initialize opens the new session's agent and records its first events. Unless the session is
// Checking, it returns the result of the command.
func (s *Session) initialize(c creation) (r protocol.CreateResult, err error) {
	opened, err := s.openAgent()
	if err != nil {
		return r, err
	}
	if err := takeSettings(s, c.cmd); err != nil {
		return r, err
	}
	if _, ok := opened.(agent.Configurer); !ok && len(s.spec.Settings) > 0 {
		return r, unsupported(s.state.Agent, "be configured")
	}
	servers, takes := protocol.MCPServerNames(s.spec.MCPServers), s.slot.Capabilities().TakesServers
	var given []string
	if takes {
		given = servers
	}
	s.recorder.Record(protocol.SessionCreated, &c.cmd.By, protocol.SessionCreatedData{
		Name: c.name, Title: c.title, Agent: s.spec.Agent, CWD: s.spec.CWD, Parent: s.spec.Parent,
		SubAgent: s.spec.SubAgent != nil, Sandbox: s.spec.Sandbox, Labels: protocol.ChangeLabels(nil, c.labels),
		MCPServers: given, DiscardUnused: c.discardUnused,
	})
	if servers != nil {
		s.recorder.Record(protocol.Notice, &c.cmd.By, serversNotice(takes, servers))
	}
	if c.past != nil {
		if err := s.recordPast(c.past); err != nil {
			return r, err
		}
	}
	if s.spec.File != nil || s.spec.AfterLimit != nil ||
		!s.slot.Capabilities().HasPolicy && s.decider().Name() != policy.Ask {
		s.recorder.RecordAll(optionsEvent(s, &c.cmd.By))
	}
	if s.spec.Checking {
		return r, nil
	}
	return s.finishCreation(c)
}

// serversNotice shows users the MCP servers that the creator of a session named.
func serversNotice(takes bool, names []string) protocol.NoticeData {
	list := strings.Join(names, ", ")
	if takes {
		return protocol.NoticeData{Level: protocol.LevelInfo, Message: "MCP servers of this session: " + list}
	}
	return protocol.NoticeData{
		Level: protocol.LevelWarning, Code: protocol.CodeUnsupported,
		Message: "this agent takes no MCP servers: it runs without " + list,
	}
}

// finishCreation sends the prompt and returns the result of the command.
func (s *Session) finishCreation(c creation) (protocol.CreateResult, error) {
	r := protocol.CreateResult{Session: s.id, Name: c.name, Sandbox: s.spec.Sandbox}
	if c.prompt != nil {
		sent, err := s.acceptMessage(c.cmd, *c.prompt, false)
		if err != nil {
			return r, err
		}
		message := sent.(protocol.SendResult)
		r.Message = &message
	}
	r.Position = protocol.Position{Epoch: s.journal.Log().Position().Epoch, Seq: s.state.Seq}
	return r, nil
}

// endCheck ends the creation of a session whose agent is ready. If the agent could not start, it
// removes the session completely.
func (s *Session) endCheck(c creation, err error) {
	var result protocol.CreateResult
	if err == nil {
		result, err = s.finishCreation(c)
	}
	if err == nil && s.exit.shuttingDown {
		err = errShuttingDown()
	}
	if err != nil {
		s.abandon(c, agentError(err))
		return
	}
	s.spec.Checking = false
	s.storeSpec()
	sum := s.recorder.Summary(s.subscribers.Len())
	s.journal.AfterCommit(func(failed error) {
		if failed == nil {
			s.hub.list.Add(sum, member(s))
		}
	})
	s.answer(c.cmd, result, nil)
}

// abandon deletes a session that was not created after all, then refuses its command.
func (s *Session) abandon(c creation, cause error) {
	s.closeAgent()
	s.journal.DiscardPending()
	s.exit.ending = true
	gone := s.slot.Former()
	s.hub.agents.Go(func() {
		if gone != nil {
			<-gone // its process group is recorded with the session
		}
		<-s.mail.done
		if err := s.hub.committer.Commit(&eventlog.Batch{Session: s.id, Delete: true}); err != nil {
			s.logger().Error("delete session", "err", err)
		}
		s.refuse(c, cause)
	})
}

// refuse answers the command of a session that was not created. It is called when the session has
// ended, or on its goroutine.
func (s *Session) refuse(c creation, cause error) {
	s.hub.list.Release(s.id, c.name)
	s.idempotency.Remove(c.cmd.Key, nil, cause)
	c.cmd.Answer(nil, cause)
}
