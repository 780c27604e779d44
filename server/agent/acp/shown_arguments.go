package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// shownArguments are the arguments of a call that its request shows. An agent may send others
// afterwards; turn.mu protects the fields.
type shownArguments struct {
	inputs   []json.RawMessage // of the call and of its request, and both merged
	pending  bool              // the request waits for its decision
	allowed  bool
	newer    json.RawMessage // arguments sent while it was pending; nil: none
	withdraw context.CancelFunc
}

// cover reports whether arguments have no value that was not shown, except words for people. Fewer
// arguments are covered.
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
			covered = covered && (bytes.Equal(fields[name], value) || protocol.IsDescription(name))
		}
		if covered {
			return true
		}
	}
	return false
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
func (t *turn) show(
	parent context.Context, known *tool, p *permissionParams,
) (context.Context, *shownArguments, protocol.Approval) {
	a := t.newApproval(p)
	ctx, withdraw := context.WithCancel(parent)
	s := &shownArguments{inputs: []json.RawMessage{p.Tool.Input, a.Input}, pending: true, withdraw: withdraw}
	if known != nil {
		s.inputs = append(s.inputs, known.call.Input, mergeInput(known.call.Input, p.Tool.Input))
		known.shown = s
	}
	return ctx, s, a
}

// ask asks for a decision on the request of a call until it is about the newest arguments.
func (t *turn) ask(
	parent, ctx context.Context, known *tool, p *permissionParams, s *shownArguments, a protocol.Approval,
) (agent.Verdict, error) {
	for {
		v, err := t.out.Ask(ctx, a)
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
		ctx, s, a = t.show(parent, known, p)
		t.mu.Unlock()
	}
}
