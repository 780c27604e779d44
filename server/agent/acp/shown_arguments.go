package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

// shownArguments are the arguments of a call that its request shows. An agent may send others
// afterwards; turn.mu protects the fields.
type shownArguments struct {
	inputs   []json.RawMessage // of the call and of its request, and both merged
	call     string            // the agent's id
	request  protocol.Approval
	agent    *catalog.Agent
	pending  bool // the request waits for its decision
	allowed  bool
	newer    json.RawMessage // arguments sent while it was pending; nil: none
	withdraw context.CancelFunc
}

// cover reports whether arguments run nothing else than what was shown: they have no value that the
// shown ones lack, but words for people and the agent's records, or they tell what the request shows
// in another form. Fewer arguments are covered.
func (s *shownArguments) cover(input json.RawMessage) bool {
	more := protocol.ReadArguments(input)
	for _, shown := range s.inputs {
		in := protocol.ReadArguments(shown)
		if in.String() == more.String() {
			return true
		}
		if in.Opaque() != "" || more.Opaque() != "" {
			continue
		}
		fields, covered := in.Fields(), true
		for name, value := range more.Fields() {
			covered = covered && (bytes.Equal(fields[name], value) || protocol.IsDescription(name) ||
				s.isRecord(name, value, fields[name]))
		}
		if covered {
			return true
		}
	}
	return more.Opaque() == "" && s.shows(input, &more)
}

// isRecord reports whether a field is a record of the agent, whose value changes: a number, or a
// word that names nothing to be run.
func (s *shownArguments) isRecord(name string, value, shown json.RawMessage) bool {
	var word string
	var number json.Number
	return slices.Contains(s.agent.Records, name) && (json.Unmarshal(value, &number) == nil && number != "" ||
		json.Unmarshal(value, &word) == nil && len(shown) == 0 && isWord(word))
}

// isWord reports whether a text is short and has letters, digits, _ and - alone.
func isWord(text string) bool {
	return len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// shows reports whether the request shows all of some arguments: its command in its directory, or its
// changes of files.
func (s *shownArguments) shows(input json.RawMessage, more *protocol.Arguments) bool {
	fields := more.Fields()
	if s.request.Kind == protocol.ApprovePatch {
		edit := catalog.Edit{Call: s.call, Changes: s.request.Content}
		unseen := protocol.ReadArguments(s.agent.Unseen(&edit, input))
		fields = unseen.Fields()
	} else { // when it ends is not what runs
		delete(fields, "timeout")
		delete(fields, "timeout_ms")
	}
	told := s.request
	told.Input = protocol.MustEncode(fields)
	files, _ := told.Files()
	shown, _ := s.request.Files()
	if s.request.Kind == protocol.ApprovePatch &&
		slices.ContainsFunc(files, func(name string) bool { return !slices.Contains(shown, name) }) {
		return false
	}
	rest, opaque := told.RestArguments()
	return len(more.Fields()) > 0 && rest == "" && opaque == "" && len(told.CommandSettings()) == 0
}

// checkShown compares new arguments of a call with those that its request showed. A pending request is
// withdrawn, and asked again with the new ones. After the request was allowed the agent has the
// decision already: the turn gets a notice.
func (t *turn) checkShown(known *tool, input json.RawMessage) {
	s := known.shown
	if s == nil || !present(input) || !s.pending && !s.allowed || s.cover(input) {
		return
	}
	if s.pending {
		s.newer = input
		s.withdraw()
		return
	}
	s.inputs = append(s.inputs, input) // one notice
	t.warn(fmt.Sprintf("the agent changed the arguments of the call %q after its request was allowed: "+
		"check what it ran", known.call.Title))
}

// show makes the request of a call, and notes which arguments it shows. The context ends when the
// agent sends others. known is nil for a request that names no call.
func (t *turn) show(parent context.Context, known *tool, p *permissionParams) (context.Context, *shownArguments) {
	a := t.newApproval(p)
	ctx, withdraw := context.WithCancel(parent)
	s := &shownArguments{
		inputs: []json.RawMessage{p.Tool.Input, a.Input}, call: p.Tool.ID, request: a, agent: &t.agent, pending: true,
		withdraw: withdraw,
	}
	if known != nil {
		s.inputs = append(s.inputs, known.call.Input, mergeInput(known.call.Input, p.Tool.Input))
		known.shown = s
	}
	return ctx, s
}

// ask asks for a decision on the request of a call until it is about the newest arguments.
func (t *turn) ask(
	parent, ctx context.Context, known *tool, p *permissionParams, s *shownArguments,
) (agent.Verdict, error) {
	for {
		v, err := t.out.Ask(ctx, s.request)
		s.withdraw()
		t.mu.Lock()
		s.pending, s.allowed = false, err == nil && v.Outcome == protocol.Allowed
		if s.newer == nil || parent.Err() != nil || v.Outcome == protocol.Denied || v.Outcome == protocol.Expired {
			t.mu.Unlock()
			return v, err
		}
		t.warn(fmt.Sprintf("the agent changed the arguments of the call %q while its request waited: "+
			"it is asked again with the new ones", known.call.Title))
		p.Tool.Input = mergeInput(p.Tool.Input, s.newer)
		ctx, s = t.show(parent, known, p)
		t.mu.Unlock()
	}
}
