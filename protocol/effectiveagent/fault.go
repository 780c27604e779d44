package effectiveagent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// fault takes an error of the server. It has no id: it is of the command whose agent runtime it names, else of the oldest.
func (c *Client) fault(m *message) {
	kind, text, details := code(word(m.Code)), word(m.Message), word(m.Details)
	if text == "" {
		if text = string(kind); text == "" {
			text = string(unknownError)
		}
	}
	text = protocol.SplitText(text, 1<<10)[0]
	e := protocol.Errorf(kind.native(details), "%s", protocol.ValidText(text))
	if kind == subscribeFailed {
		if s := c.named(text); s != nil {
			c.refuse(s, e)
			return
		}
	} else if w := c.meant(kind, text); w != nil {
		c.forget(w)
		c.desk.Fail(c.out, &w.cmd, e)
		return
	}
	d := protocol.ErrorData{Kind: protocol.ErrorKindExecution, Code: e.Code, Message: e.Message, Details: map[string]string{}}
	switch kind {
	case parseError, validationError, serializationError, unknownMessageType:
		d.Kind = protocol.ErrorKindValidation
	}
	for name, v := range map[string]string{"code": string(kind), "details": details} {
		if v != "" {
			d.Details[name] = protocol.SplitText(v, maxID)[0]
		}
	}
	of := c.ordered()
	if s := c.named(text); s != nil {
		of = []*session{s}
	}
	for _, s := range of {
		if s.refused == nil {
			c.add(s, codec.Entry{Type: protocol.ErrorRaised, Turn: s.turn(), Data: d})
		}
	}
}

// refuse tells our client that a session is not followed after all. It asks again, and is then told why.
func (c *Client) refuse(s *session, e *protocol.Error) {
	if s.refused != nil {
		return
	}
	s.refused = e
	c.leave(s)
	if s.log.Following() {
		s.log.Detach()
		gone := protocol.Client{Client: c.desk.Epoch, By: *c.me(), Reason: string(e.Code)}
		c.out.Native = append(c.out.Native, codec.Ephemeral(s.id, protocol.ClientDetached, c.now, gone))
		return
	}
	delete(c.sessions, s.id)
	for i := range s.held {
		c.desk.Fail(c.out, &s.held[i], e)
	}
}

// named returns the followed session that a text names: of several, the longest id; without any, the only one that nothing was
// heard of yet.
func (c *Client) named(text string) *session {
	var found *session
	var silent []*session
	for _, s := range c.ordered() {
		if names(text, s.id) && (found == nil || len(s.id) > len(found.id)) {
			found = s
		}
		if !s.heard {
			silent = append(silent, s)
		}
	}
	if found == nil && len(silent) == 1 {
		found = silent[0]
	}
	return found
}

// meant returns the command that an error is of: the oldest one for the agent runtime that it names, else the oldest.
func (c *Client) meant(kind code, text string) *wait {
	var found *wait
	waiting := c.waiting
	if kind == sendFailed {
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(w *wait) bool { return w.looks })
	}
	for _, w := range waiting {
		if names(text, w.cmd.Session) && (found == nil || len(w.cmd.Session) > len(found.cmd.Session)) {
			found = w
		}
	}
	if found == nil && len(waiting) > 0 {
		found = waiting[0]
	}
	return found
}

// names reports whether a text names an id, and not only a longer word that holds it.
func names(text, id string) bool {
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, id)
		if !ok {
			return false
		}
		if last, _ := utf8.DecodeLastRuneInString(before); !partOfID(last) {
			if next, _ := utf8.DecodeRuneInString(after); !partOfID(next) {
				return true
			}
		}
		rest = rest[len(before)+1:]
	}
}

func partOfID(r rune) bool {
	return r != utf8.RuneError && (r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
