package session

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"agentctl/protocol"
)

// A Caller is who a command comes from.
type Caller struct {
	By   protocol.Actor
	Conn string // the connection's id, for edit holds
}

// Do carries out a command about sessions. reply is called exactly once, at any time and on any goroutine, when
// everything that the answer tells is visible; it must not block. What connections themselves are asked (hello, subscribe,
// unsubscribe, ack, watch, ping) is not for Do.
func (h *Hub) Do(ctx context.Context, c *protocol.Command, who Caller, reply func(json.RawMessage, error)) {
	if err := h.do(ctx, c, who, reply); err != nil {
		reply(nil, err)
	}
}

func (h *Hub) do(ctx context.Context, c *protocol.Command, who Caller, reply func(json.RawMessage, error)) error {
	t := protocol.CommandOf(c.Command)
	data := t.Data()
	if err := c.DecodeData(data); err != nil {
		return err
	}
	a := &action{verb: c.Command, data: data, by: who.By, conn: who.Conn, reply: reply}
	if t.Changes && c.Key != "" {
		a.key, a.hash = c.Key, hashOf(c)
	}
	now := func(result any, err error) error {
		if err == nil {
			reply(protocol.MustEncode(result), nil)
		}
		return err
	}
	switch d := data.(type) {
	case *protocol.ListData:
		return now(protocol.ListResult{Sessions: h.List(d.Closed)}, nil)
	case *protocol.HistoryData:
		return now(h.history(ctx, c.Session, d))
	case *protocol.BlobData:
		return now(h.blob(ctx, c.Session, d))
	case *protocol.SearchData:
		return protocol.Errorf(protocol.CodeUnsupported, "this server cannot search yet")
	case *protocol.CreateData:
		return h.once(ctx, a, func() error { return h.create(a, d) })
	case *protocol.RestoreData:
		return h.once(ctx, a, func() error { return h.restore(a, d) })
	}
	err := h.with(ctx, c.Session, func(s *Session) { s.do(a) })
	if a.key != "" && protocol.CodeOf(err) == protocol.CodeNoSession { // by this very command, it may be
		if known, again := h.answered(ctx, a); known {
			return again
		}
	}
	return err
}

// Attach lets a peer follow a session; see Session.attach. reply is called exactly once and must not block.
func (h *Hub) Attach(ctx context.Context, name string, p Peer, d *protocol.SubscribeData, reply func(*Attachment, error)) {
	if err := h.with(ctx, name, func(s *Session) { s.attach(p, d, reply) }); err != nil {
		reply(nil, err)
	}
}

// Detach ends what Attach began; reason is told to the other followers. A session that is not in memory has no followers.
func (h *Hub) Detach(id, conn, reason string) {
	h.mu.Lock()
	r := h.rows[id]
	h.mu.Unlock()
	if r == nil {
		return
	}
	r.load.Lock()
	s := r.session
	r.load.Unlock()
	if s != nil {
		s.post(func() { s.detach(conn, reason) })
	}
}

const maxName = 128

// reserve takes a name for a session, which may have it already.
func (h *Hub) reserve(name, id string) error {
	if len(name) > maxName || name != protocol.ValidText(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, idSession+"_") {
		return protocol.Errorf(protocol.CodeInvalidMessage, "name: at most %d bytes of text, without control characters, outer spaces or a leading %q", maxName, idSession+"_")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if owner, taken := h.names[name]; taken && owner != id {
		return protocol.Errorf(protocol.CodeNameTaken, "another session has the name %.80q", name)
	}
	h.names[name] = id
	return nil
}

func (h *Hub) free(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.names, name)
}

// keep leaves a session one of the names reserved for it; empty: none.
func (h *Hub) keep(name, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for other, owner := range h.names {
		if owner == id && other != name {
			delete(h.names, other)
		}
	}
}

// once runs f unless the action's key was used before: then the first answer is given again. An error of f is replied.
func (h *Hub) once(ctx context.Context, a *action, f func() error) error {
	if a.key != "" {
		known, err := h.made(ctx, a)
		if known || err != nil {
			return err
		}
		answer := a.reply
		a.reply = func(body json.RawMessage, err error) {
			h.mu.Lock()
			close(h.creating[a.key])
			delete(h.creating, a.key)
			h.mu.Unlock()
			answer(body, err)
		}
	}
	if err := f(); err != nil {
		a.reply(nil, err)
	}
	return nil
}

// create makes a session. Its answer comes when session.created (and the start of its prompt) is visible.
func (h *Hub) create(a *action, d *protocol.CreateData) error {
	if d.Agent == "" {
		d.Agent = h.cfg.DefaultAgent
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

// make makes a session that begins with what begin records. Nothing of it is left when it returns an error.
func (h *Hub) make(a *action, spec Spec, name string, begin func(*Session) (protocol.CreateResult, error)) error {
	s := h.newSession(newID(idSession), NewEpoch(), 0, spec)
	if name != "" {
		if err := h.reserve(name, s.id); err != nil {
			return err
		}
	}
	abandon := func(err error) error {
		h.free(name)
		s.closeAgent()
		s.halt()
		s.timer.Stop()
		return err
	}
	if _, err := s.open(); err != nil {
		return abandon(err)
	}
	raw, err := encode(spec)
	if err != nil {
		return abandon(err)
	}
	s.pending().Create = &Record{ID: s.id, Epoch: s.log.epoch, Created: time.Now(), Spec: raw}
	result, err := begin(s)
	if err != nil {
		return abandon(err)
	}
	result.Position = protocol.Position{Epoch: s.log.epoch, Seq: s.state.Seq}
	if !h.enter() {
		return abandon(stopping())
	}
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
	s.tellSummary()
	s.flush()
	go s.run()
	return nil
}

// made answers a create whose key was used before; a first use is noted until its reply.
func (h *Hub) made(ctx context.Context, a *action) (known bool, err error) {
	for {
		h.mu.Lock()
		wait := h.creating[a.key]
		if wait == nil {
			h.creating[a.key] = make(chan struct{})
		}
		h.mu.Unlock()
		if wait == nil {
			break
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	if known, err = h.answered(ctx, a); known {
		h.mu.Lock()
		close(h.creating[a.key])
		delete(h.creating, a.key)
		h.mu.Unlock()
	}
	return known, err
}

// answered gives the stored answer to an action's key again, if there is one.
func (h *Hub) answered(ctx context.Context, a *action) (known bool, err error) {
	stored, err := h.cfg.Store.Answer(ctx, a.key)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		h.log.Error("read answer", "err", err)
		return true, protocol.Errorf(protocol.CodeStorage, "the store did not answer; nothing was changed, try again")
	case string(stored.Hash) != string(a.hash):
		return true, keyReused(a.key)
	}
	a.reply(stored.Body, nil)
	return true, nil
}
