package session

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentctl/protocol"
)

const (
	maxAgent = 64 << 10 // bytes of an agent's name, which is stored in session.created
	maxTitle = 1 << 10  // bytes
)

// create makes a session. Its answer comes when session.created, and the start of its prompt, are
// visible.
func (h *Hub) create(cmd *command, d *protocol.CreateData) error {
	if d.Agent == "" {
		d.Agent = h.cfg.DefaultAgent
	}
	if len(d.Agent) > maxAgent {
		return &protocol.Error{Code: protocol.CodeTooLarge, Limit: maxAgent, Message: "agent: too long"}
	}
	for k, v := range d.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.Contains(v, "\x00") {
			return protocol.Errorf(protocol.CodeInvalidMessage, "env: %.80q is not a valid variable", k)
		}
	}
	if d.CWD != "" {
		if !filepath.IsAbs(d.CWD) {
			return protocol.Errorf(protocol.CodeInvalidMessage, "cwd: %.200q is not an absolute path", d.CWD)
		}
		if info, err := os.Stat(d.CWD); err != nil || !info.IsDir() {
			return protocol.Errorf(protocol.CodeInvalidMessage, "cwd: %.200q is not a directory on the server", d.CWD)
		}
	}
	spec := Spec{Agent: d.Agent, CWD: d.CWD, Env: d.Env}
	return h.createSession(cmd, spec, d.Name, func(s *Session) (protocol.CreateResult, error) {
		s.record(protocol.SessionCreated, &cmd.by, protocol.SessionCreatedData{
			Name: d.Name, Title: truncateTitle(d.Title), Agent: d.Agent, CWD: d.CWD,
		})
		r := protocol.CreateResult{Session: s.id, Name: d.Name}
		if d.Prompt == "" {
			return r, nil
		}
		sent, err := s.acceptMessage(cmd, protocol.Message{Text: d.Prompt, ClientMessageID: d.ClientMessageID}, false)
		if err != nil {
			return r, err
		}
		message := sent.(protocol.SendResult)
		r.Message = &message
		return r, nil
	})
}

// createSession makes a session whose first events are those that begin records.
func (h *Hub) createSession(
	cmd *command, spec Spec, name string, begin func(*Session) (protocol.CreateResult, error),
) error {
	raw, err := encode(spec)
	if err != nil {
		return err
	}
	if !h.addSession() {
		return errShuttingDown()
	}
	s := h.newSession(NewID(idSession), NewEpoch(), 0, spec)
	s.nextBatch().Create = &Record{ID: s.id, Epoch: s.log.epoch, Created: time.Now(), Spec: raw}
	result, err := s.initialize(name, begin)
	if err != nil {
		s.closeAgent()
		s.cancelBackground()
		s.deadlines.timer.Stop()
		h.sessions.Done()
		return err
	}
	result.Position = protocol.Position{Epoch: s.log.epoch, Seq: s.state.Seq}
	r := &row{session: s, summary: s.summarize()}
	s.afterCommit(func(failed error) {
		if failed != nil {
			h.releaseName(name)
			s.exit.ending = true
			return
		}
		h.addRow(r)
	})
	if cmd.key != "" {
		s.idempotency.add(cmd.key, &cachedAnswer{hash: cmd.hash})
	}
	s.answer(cmd, result, nil)
	go s.run()
	return nil
}

// initialize reserves the new session's name, opens its agent and calls begin. After an error the
// name is free again.
func (s *Session) initialize(
	name string,
	begin func(*Session) (protocol.CreateResult, error),
) (protocol.CreateResult, error) {
	if name != "" {
		if err := s.hub.reserveName(name, s.id); err != nil {
			return protocol.CreateResult{}, err
		}
	}
	_, err := s.openAgent()
	var result protocol.CreateResult
	if err == nil {
		result, err = begin(s)
	}
	if err != nil && name != "" {
		s.hub.releaseName(name)
	}
	return result, err
}

// rename reserves the new name at once. The old name is free when the commit succeeds, the new one
// when it fails.
func (s *Session) rename(cmd *command, d *protocol.RenameData) (any, error) {
	if d.Name != nil && *d.Name != "" {
		if err := s.hub.reserveName(*d.Name, s.id); err != nil {
			return nil, err
		}
	}
	if d.Title != nil {
		title := truncateTitle(*d.Title)
		d.Title = &title
	}
	old := s.state.Name
	s.record(protocol.SessionUpdated, &cmd.by, protocol.SessionUpdatedData{Name: d.Name, Title: d.Title})
	if d.Name != nil {
		s.afterCommit(func(failed error) {
			unused := old
			if failed != nil {
				unused = *d.Name
			}
			if unused != s.state.Name {
				s.hub.releaseName(unused)
			}
		})
	}
	return protocol.Empty{}, nil
}

// setAgentTitle sets a title that the agent gives to the session. A title that a user gave stays.
func (s *Session) setAgentTitle(title string) {
	title = truncateTitle(title)
	if title == s.state.Title || s.state.Title != "" && s.state.Title != s.spec.Title {
		return
	}
	s.recordIn("", protocol.SessionUpdated, nil, protocol.SessionUpdatedData{Title: &title})
	s.published.stale = true
	s.spec.Title = title
	s.storeSpec()
}

func truncateTitle(title string) string {
	return protocol.SplitText(protocol.ValidText(title), maxTitle)[0]
}
