package effectiveagent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// handleError handles an error of the server. Errors have no id: an error belongs to the command
// whose agent runtime it names, else to the oldest.
func (c *client) handleError(m *message) {
	kind, text, details := errorCode(codec.String(m.Code)), codec.String(m.Message), codec.String(m.Details)
	if text == "" {
		if text = string(kind); text == "" {
			text = string(unknownError)
		}
	}
	text = protocol.SplitText(text, 1<<10)[0]
	e := protocol.Errorf(kind.decode(details), "%s", protocol.ValidText(text))
	if kind == subscribeFailed {
		if s := c.sessionInText(text); s != nil {
			c.failSession(s, e)
			return
		}
	} else if w := c.commandOfError(kind, text); w != nil {
		c.removePending(w)
		c.Fail(&w.command, e)
		return
	}
	d := protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: e.Code, Message: e.Message, Details: map[string]string{},
	}
	switch kind {
	case parseError, validationError, serializationError, unknownMessageType:
		d.Kind = protocol.ErrorKindValidation
	}
	for name, v := range map[string]string{"code": string(kind), "details": details} {
		if v != "" {
			d.Details[name] = protocol.SplitText(v, maxID)[0]
		}
	}
	of := c.orderedSessions()
	if s := c.sessionInText(text); s != nil {
		of = []*session{s}
	}
	for _, s := range of {
		if s.err == nil {
			s.turns.record(codec.Entry{Type: protocol.ErrorRaised, Turn: s.log.Turn(), Data: d})
		}
	}
}

// failSession ends a subscription that the server refused. The client's next subscribe gets the
// error.
func (c *client) failSession(s *session, e *protocol.Error) {
	if s.err != nil {
		return
	}
	s.err = e
	c.failPending(s.id, e)
	if s.log.Following() {
		s.log.Detach()
		c.Publish(
			s.id, protocol.ClientDetached,
			protocol.Client{Client: c.Epoch(), By: *c.User(), Reason: string(e.Code)},
		)
		return
	}
	delete(c.sessions, s.id)
	for i := range s.held {
		c.Fail(&s.held[i], e)
	}
}

// sessionInText returns the session whose id a text contains, the longest id of several. Without
// any, it returns the only session without activities.
func (c *client) sessionInText(text string) *session {
	var found *session
	var silent []*session
	for _, s := range c.orderedSessions() {
		if containsID(text, s.id) && (found == nil || len(s.id) > len(found.id)) {
			found = s
		}
		if !s.active {
			silent = append(silent, s)
		}
	}
	if found == nil && len(silent) == 1 {
		found = silent[0]
	}
	return found
}

// commandOfError returns the command that an error belongs to: the oldest for the agent runtime
// that it names, else the oldest. A server that answers commands reports their errors in notes.
func (c *client) commandOfError(kind errorCode, text string) *pendingCommand {
	var found *pendingCommand
	waiting := slices.DeleteFunc(slices.Clone(c.pending), func(w *pendingCommand) bool {
		return w.readsLog && kind == sendFailed || !w.readsLog && c.answers(w.command.Session)
	})
	for _, w := range waiting {
		if containsID(text, w.command.Session) &&
			(found == nil || len(w.command.Session) > len(found.command.Session)) {
			found = w
		}
	}
	if found == nil && len(waiting) > 0 {
		found = waiting[0]
	}
	return found
}

// containsID reports whether a text contains an id as a whole word.
func containsID(text, id string) bool {
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, id)
		if !ok {
			return false
		}
		if last, _ := utf8.DecodeLastRuneInString(before); !isIDRune(last) {
			if next, _ := utf8.DecodeRuneInString(after); !isIDRune(next) {
				return true
			}
		}
		rest = rest[len(before)+1:]
	}
}

func isIDRune(r rune) bool {
	return r != utf8.RuneError && (r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
