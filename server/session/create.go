package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentctl/protocol"
)

const maxAgent = 64 << 10 // bytes of an agent's name, which is in session.created

// create makes a session. Its answer comes when session.created (and the start of its prompt) is visible.
func (h *Hub) create(a *action, d *protocol.CreateData) error {
	if d.Agent == "" {
		d.Agent = h.cfg.DefaultAgent
	}
	if len(d.Agent) > maxAgent {
		return &protocol.Error{Code: protocol.CodeTooLarge, Limit: maxAgent, Message: "agent: too long"}
	}
	for k, v := range d.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.Contains(v, "\x00") {
			return protocol.Errorf(protocol.CodeInvalidMessage, "env: %.80q is not a name", k)
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
	return h.make(a, Spec{Agent: d.Agent, CWD: d.CWD, Env: d.Env}, d.Name, func(s *Session) (protocol.CreateResult, error) {
		s.record(protocol.SessionCreated, &a.by, protocol.SessionCreatedData{
			Name: d.Name, Title: protocol.SplitText(protocol.ValidText(d.Title), 1<<10)[0], Agent: d.Agent, CWD: d.CWD,
		})
		r := protocol.CreateResult{Session: s.id, Name: d.Name}
		if d.Prompt == "" {
			return r, nil
		}
		sent, err := s.accept(a, protocol.Message{Text: d.Prompt, ClientMessageID: d.ClientMessageID}, false)
		if err != nil {
			return r, err
		}
		message := sent.(protocol.SendResult)
		r.Message = &message
		return r, nil
	})
}

// make makes a session that begins with what begin records.
func (h *Hub) make(a *action, spec Spec, name string, begin func(*Session) (protocol.CreateResult, error)) error {
	raw, err := encode(spec)
	if err != nil {
		return err
	}
	if !h.enter() {
		return stopping()
	}
	s := h.newSession(NewID(idSession), NewEpoch(), 0, spec)
	s.pending().Create = &Record{ID: s.id, Epoch: s.log.epoch, Created: time.Now(), Spec: raw}
	result, err := s.found(name, begin)
	if err != nil {
		s.closeAgent()
		s.halt()
		s.timer.Stop()
		h.sessions.Done()
		return err
	}
	result.Position = protocol.Position{Epoch: s.log.epoch, Seq: s.state.Seq}
	r := &row{session: s, summary: s.summarize()}
	s.then(func(failed error) {
		if failed != nil {
			h.free(name)
			s.ending = true
			return
		}
		h.mu.Lock()
		h.rows[s.id] = r
		h.tell(r.summary)
		h.mu.Unlock()
	})
	if a.key != "" {
		s.answers.put(a.key, &kept{hash: a.hash})
	}
	s.answer(a, result, nil)
	go s.run()
	return nil
}

// found takes the new session's name, opens its agent and records how it begins. After an error the name is free.
func (s *Session) found(name string, begin func(*Session) (protocol.CreateResult, error)) (protocol.CreateResult, error) {
	if name != "" {
		if err := s.hub.reserve(name, s.id); err != nil {
			return protocol.CreateResult{}, err
		}
	}
	_, err := s.open()
	var result protocol.CreateResult
	if err == nil {
		result, err = begin(s)
	}
	if err != nil && name != "" {
		s.hub.free(name)
	}
	return result, err
}

// once carries out a command that makes a session, unless its key was used before.
func (h *Hub) once(ctx context.Context, a *action, carryOut func() error) error {
	if a.key == "" {
		return carryOut()
	}
	if err := h.reserveKey(ctx, a.key); err != nil {
		return err
	}
	reply := a.reply
	a.reply = func(body json.RawMessage, err error) {
		h.mu.Lock()
		close(h.creating[a.key])
		delete(h.creating, a.key)
		h.mu.Unlock()
		reply(body, err)
	}
	stored, err := h.cfg.Store.Answer(ctx, a.key)
	switch {
	case errors.Is(err, ErrNotFound):
		err = carryOut()
	case err != nil:
		h.log.Error("read answer", "err", err)
		err = unanswered()
	case !bytes.Equal(stored.Hash, a.hash):
		err = keyReused(a.key)
	default:
		a.reply(stored.Body, nil)
	}
	if err != nil {
		a.reply(nil, err)
	}
	return nil
}

// reserveKey waits until no other command with the key is under way.
func (h *Hub) reserveKey(ctx context.Context, key string) error {
	for {
		h.mu.Lock()
		wait := h.creating[key]
		if wait == nil {
			h.creating[key] = make(chan struct{})
		}
		h.mu.Unlock()
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return fmt.Errorf("wait for the command of the same key: %w", context.Cause(ctx))
		}
	}
}
