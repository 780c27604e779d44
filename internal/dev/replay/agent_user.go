package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// cause makes agentctl's client send a message of the recorded client, by the command that a user
// would give. It returns false if agentctl's client never sends such a message.
func (p *agentPlayer) cause(m rpcLine) bool {
	p.t.Helper()
	i := slices.IndexFunc(p.dialect.Commands, func(row Command) bool { return row.Type == m.Method })
	if i < 0 {
		return false
	}
	row := &p.dialect.Commands[i]
	data, _ := row.Data.run(m.Params, nil)
	if row.Verb != protocol.DoSend {
		p.later(row.Verb, row.typed(data))
		return true
	}
	p.until("the session to be idle", func() bool { return p.state().Status() == protocol.Idle })
	p.do(row.Verb, row.typed(data))
	return true
}

// isSetting reports whether a method changes a setting. agentctl's client may use another one of
// them than the recorded client.
func isSetting(method string) bool { return strings.HasPrefix(method, "session/set_") }

// decide decides the pending request as the recorded client did, unless a rule does.
func (p *agentPlayer) decide(request permissionRequest, m rpcLine, isAnswer func(rpcLine) bool) {
	p.t.Helper()
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(m.Result, &r)
	if r.Outcome.Outcome != "selected" {
		return
	}
	var pending []protocol.Approval
	p.until("request "+string(m.ID), func() bool {
		pending = p.state().Approvals
		_, answered := p.process.find(isAnswer, false)
		return len(pending) > 0 || answered
	})
	if len(pending) == 0 {
		return
	}
	d := protocol.ApproveData{Request: pending[0].Request}
	for _, o := range request.Options {
		if o.OptionID != r.Outcome.OptionID {
			continue
		}
		switch d.Option = o.OptionID; o.Kind {
		case "allow_always":
			d.Decision, d.Option = protocol.AllowAlways, ""
		case "reject_always":
			d.Decision, d.Option = protocol.Deny, ""
		}
	}
	p.do(protocol.DoApprove, d)
}

// do gives a command and waits for its answer.
func (p *agentPlayer) do(verb protocol.Verb, data any) {
	p.logf("> %s %s\n", verb, protocol.MustEncode(data))
	p.call(verb, data)
}

func (p *agentPlayer) call(verb protocol.Verb, data any) {
	if _, err := wsclient.Call[json.RawMessage](p.t.Context(), p.client, verb, p.session, data); err != nil {
		p.logf("< %v\n", err)
	}
}

// later gives a command that ends when the agent has answered.
func (p *agentPlayer) later(verb protocol.Verb, data any) {
	p.logf("> %s %s\n", verb, protocol.MustEncode(data))
	p.waiting.Go(func() {
		p.call(verb, data)
		select {
		case p.done <- struct{}{}:
		default:
		}
	})
}

// transcript returns the session as text: the commands, the turns, the state, and what is in the
// protocol log only.
func (p *agentPlayer) transcript() string {
	p.t.Helper()
	v := &view{state: p.state()}
	names := []string{p.session, "session"} // pairs of an id and its name
	raw := map[string]int{}
	var order []string
	var outside strings.Builder
	since := &protocol.Position{}
	for it, err := range p.client.Subscribe(p.session, wsclient.SubscribeOptions{Since: since}).Events(p.t.Context()) {
		if err != nil {
			p.t.Fatalf("%v", err)
		}
		e := it.Event
		if e == nil {
			continue
		}
		if e.Type == protocol.CaughtUp {
			break
		}
		if _, err := v.transcript.Apply(e); err != nil {
			p.t.Errorf("%v: %s", err, it.Raw)
		}
		switch {
		case e.Type == protocol.Raw:
			var d protocol.RawData
			_ = e.Decode(&d)
			what := strings.TrimSpace(d.Method + updateType(plain(d.Data)))
			if raw[what]++; raw[what] == 1 {
				order = append(order, what)
			}
		case e.Turn == "" && (e.Type == protocol.Notice || e.Type == protocol.SessionUpdated):
			fmt.Fprintf(&outside, "%s %s\n", e.Type, e.Data)
		}
	}
	b := &p.log
	b.WriteString(outside.String())
	for i, t := range v.transcript.Turns {
		names = append(names, t.Turn, fmt.Sprintf("t%d", i+1))
		for j, it := range t.Items {
			if it.Approval != nil {
				names = append(names, it.Approval.Request, fmt.Sprintf("r%d.%d", i+1, j+1))
			}
			if it.Tool != nil && it.Tool.End != nil {
				it.Tool.End.DurationMS = 0
			}
		}
		if t.End != nil && t.End.Usage != nil {
			t.End.Message = strings.TrimSpace(t.End.Message + " usage " + string(protocol.MustEncode(t.End.Usage)))
		}
	}
	options := v.state.Options
	v.state.Options = nil
	writeSession(b, v)
	if options != nil { // without the texts of the agent's authors
		fmt.Fprintf(b, "%s %s, %d commands\n", options.Name, options.Version, len(options.Commands))
		for _, s := range options.Settings {
			fmt.Fprintf(b, "%s: %s of %d\n", s.ID, s.Value, len(s.Choices))
		}
	}
	for _, rule := range v.state.Rules {
		fmt.Fprintf(b, "rule: %s\n", rule.Scope)
	}
	for _, what := range order {
		fmt.Fprintf(b, "in the protocol log only: %d × %s\n", raw[what], what)
	}
	return strings.NewReplacer(names...).Replace(b.String())
}
