package client

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// holdTimeout is the time for which the event of a failure is held: the end of its turn follows
// immediately.
const holdTimeout = 150 * time.Millisecond

// A failure is a message that reports one. The turn has failed if it ends before the agent continues.
// The event of such a message is held until then, since the turn's end repeats it.
type failure struct {
	err  *protocol.Error // nil: none, or the agent continued
	held protocol.Type   // of the event; empty: none is held
	data any
	due  time.Time // when the event is recorded at the latest
}

// fail records an event that reports a failure, or holds it during a turn.
func (t *turns) fail(now time.Time, typ protocol.Type, message string, data any) []codec.Entry {
	if t.current == nil {
		return []codec.Entry{t.event(typ, data)}
	}
	t.current.failure = failure{
		err: protocol.Errorf(protocol.CodeAgentFailed, "%s", message), held: typ, data: data, due: now.Add(holdTimeout),
	}
	return nil
}

// releaseFailure records the held event of a failure.
func (t *turns) releaseFailure() []codec.Entry {
	if t.current == nil || t.current.failure.held == "" {
		return nil
	}
	f := &t.current.failure
	typ := f.held
	f.held = ""
	return []codec.Entry{t.event(typ, f.data)}
}

// modelFailed records the failure of a model. After the turn that it ended, the server repeats it.
func (t *turns) modelFailed(now time.Time, st *protocol.State, text string) []codec.Entry {
	text = truncate(text)
	if t.current == nil && st.Last != nil && st.Last.Message == text {
		return nil
	}
	return t.fail(now, protocol.ErrorRaised, text, protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed, Message: text,
	})
}

// system records a system message. A message with a leading warning sign may be the failure that
// ends the turn, except at agentctl's server, which also sends an error.
func (t *turns) system(now time.Time, it *wire.Item, text string) []codec.Entry {
	sign := wire.WarningSign
	if !t.queues {
		sign = strings.TrimSpace(wire.WarningSign)
	}
	warning, ok := strings.CutPrefix(text, sign)
	switch d := (protocol.NoticeData{Level: protocol.LevelWarning, Message: truncate(warning)}); {
	case !ok:
		return []codec.Entry{t.notice(text)}
	case !t.queues:
		d.Message = strings.TrimSpace(d.Message)
		return t.fail(now, protocol.Notice, d.Message, d)
	case strings.HasPrefix(it.ID, wire.FailurePrefix): // the error follows
		return nil
	default:
		return []codec.Entry{t.event(protocol.Notice, d)}
	}
}

// notice records a text for users.
func (t *turns) notice(text string) codec.Entry {
	return t.event(protocol.Notice, protocol.NoticeData{Level: protocol.LevelInfo, Message: truncate(text)})
}

// decodeError returns the native error, and the details that are plain values.
func decodeError(d *wire.ErrorPayload) (*protocol.Error, map[string]string) {
	err := &protocol.Error{Code: protocol.CodeAgentFailed, Message: truncate(d.Message)}
	if strings.HasPrefix(d.Message, wire.NothingPending) {
		err.Code = protocol.CodeConflict
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.Details, &fields) != nil || len(fields) == 0 {
		return err, nil
	}
	details := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[name]
		if len(details) == 16 || len(name) > 80 {
			break
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		s = protocol.SplitText(protocol.ValidText(s), 1<<10)[0]
		switch {
		case name == "error" && s != "":
			err.Message += ": " + s
		case name == "code" && s != "":
			name = "provider_status"
			for _, code := range wire.KnownCodes {
				if string(code) == s {
					name, err.Code = "", code
				}
			}
		}
		if name != "error" && name != "" {
			details[protocol.ValidText(name)] = s
		}
	}
	if len(details) == 0 {
		details = nil
	}
	return err, details
}
