package hook

import (
	"bytes"
	"path"
	"slices"

	"agentctl/protocol"
)

// matches reports whether notifications of a session are sent.
func (f *Filter) matches(s *protocol.Summary) bool {
	if f.Agent != "" && f.Agent != s.Agent {
		return false
	}
	for k, v := range f.Labels {
		if s.Labels[k] != v {
			return false
		}
	}
	ok, _ := path.Match(f.Name, s.Name) // the pattern is valid
	return f.Name == "" || ok
}

// has reports whether notifications of a type are sent.
func (f *Filter) has(typ string) bool { return len(f.Types) == 0 || slices.Contains(f.Types, typ) }

// typeOf returns the most specific type of an event's notification that the hook sends; "": none.
func (f *Filter) typeOf(e *protocol.Event) string {
	switch e.Type {
	case protocol.ApprovalRequested, protocol.ApprovalResolved:
		if f.has(string(e.Type)) {
			return string(e.Type)
		}
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if e.Decode(&d) != nil {
			return ""
		}
		switch {
		case d.Reason == protocol.ReasonBudget && f.has(TypeBudget):
			return TypeBudget
		case d.Reason == protocol.ReasonLimited && f.has(TypeLimited):
			return TypeLimited
		case d.Reason != protocol.ReasonBudget && d.Failed() && f.has(TypeError):
			return TypeError
		case f.has(TypeTurnEnded):
			return TypeTurnEnded
		}
	}
	return ""
}

// fields are parts of the lines of events that have notifications.
var fields = [][]byte{
	[]byte(`"type":"` + protocol.ApprovalRequested + `"`),
	[]byte(`"type":"` + protocol.ApprovalResolved + `"`),
	[]byte(`"type":"` + protocol.TurnEnded + `"`),
}

// mayMatch reports whether a line is worth decoding.
func mayMatch(line []byte) bool {
	return slices.ContainsFunc(fields, func(f []byte) bool { return bytes.Contains(line, f) })
}
