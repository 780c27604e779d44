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
		return h.create(ctx, a, d)
	case *protocol.RestoreData:
		return h.restore(ctx, a, d)
	case *protocol.RenameData:
		return h.rename(ctx, c.Session, a, d)
	}
	return h.with(ctx, c.Session, func(s *Session) { s.do(a) })
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

// rename reserves the name before the session takes it.
func (h *Hub) rename(ctx context.Context, session string, a *action, d *protocol.RenameData) error {
	id, err := h.Resolve(session)
	if err != nil {
		return err
	}
	if d.Name != nil && *d.Name != "" {
		fresh, err := h.reserve(*d.Name, id)
		if err != nil {
			return err
		}
		answer, name := a.reply, *d.Name
		a.reply = func(body json.RawMessage, err error) {
			if err != nil && fresh {
				h.free(name)
			}
			answer(body, err)
		}
	}
	old := h.nameOf(id)
	if d.Name != nil && old != *d.Name {
		answer := a.reply
		a.reply = func(body json.RawMessage, err error) {
			if err == nil {
				h.free(old)
			}
			answer(body, err)
		}
	}
	return h.with(ctx, id, func(s *Session) { s.do(a) })
}

func (h *Hub) nameOf(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rows[id]; r != nil {
		return r.summary.Name
	}
	return ""
}

const maxName = 128

// reserve takes a name for a session. fresh is false when it has it already.
func (h *Hub) reserve(name, id string) (fresh bool, err error) {
	if len(name) > maxName || name != protocol.ValidText(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, idSession+"_") {
		return false, protocol.Errorf(protocol.CodeInvalidMessage, "name: at most %d bytes of text, without control characters, outer spaces or a leading %q", maxName, idSession+"_")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if owner, taken := h.names[name]; taken && owner != id {
		return false, protocol.Errorf(protocol.CodeNameTaken, "another session has the name %.80q", name)
	} else if taken {
		return false, nil
	}
	h.names[name] = id
	return true, nil
}

func (h *Hub) free(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.names, name)
}

// create makes a session. Its answer comes when session.created (and the start of its prompt) is visible.
func (h *Hub) create(ctx context.Context, a *action, d *protocol.CreateData) error {
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
	return h.make(ctx, a, Spec{Agent: d.Agent, CWD: d.CWD, Env: d.Env}, d.Name, func(s *Session) (protocol.CreateResult, error) {
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
func (h *Hub) make(ctx context.Context, a *action, spec Spec, name string, begin func(*Session) (protocol.CreateResult, error)) error {
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
	refuse := func(err error) error {
		a.reply(nil, err)
		return nil
	}
	s := h.newSession(newID(idSession), NewEpoch(), 0, spec)
	if name != "" {
		if _, err := h.reserve(name, s.id); err != nil {
			return refuse(err)
		}
	}
	abandon := func(err error) error {
		h.free(name)
		s.closeAgent()
		s.halt()
		s.timer.Stop()
		return refuse(err)
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
	stored, err := h.cfg.Store.Answer(ctx, a.key)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	h.mu.Lock()
	close(h.creating[a.key])
	delete(h.creating, a.key)
	h.mu.Unlock()
	if err != nil {
		return false, err
	}
	if string(stored.Hash) != string(a.hash) {
		return true, keyReused(a.key)
	}
	a.reply(stored.Body, nil)
	return true, nil
}
