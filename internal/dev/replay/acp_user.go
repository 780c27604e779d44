package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// cause makes agentctl's client send a message of the recorded client, by the command that a user
// would give. It returns false if agentctl's client never sends such a message.
func (p *acpPlayer) cause(m rpcLine) bool {
	p.t.Helper()
	switch {
	case m.Method == "session/prompt":
		p.until("the session to be idle", func() bool { return p.state().Status() == protocol.Idle })
		p.send(m.Params)
	case m.Method == "session/cancel":
		p.later(protocol.DoInterrupt, protocol.InterruptData{})
	case isSetting(m.Method):
		setting, value := settingOf(m)
		p.configure(setting, value)
	default:
		return false
	}
	return true
}

// send sends the text and the images of a prompt.
func (p *acpPlayer) send(params json.RawMessage) {
	p.t.Helper()
	var prompt struct {
		Prompt []struct{ Type, Text, MIMEType, Data string }
	}
	_ = json.Unmarshal(params, &prompt)
	var d protocol.SendData
	for _, b := range prompt.Prompt {
		switch b.Type {
		case "text":
			d.Text += b.Text
		case "image":
			d.Parts = append(d.Parts, protocol.Part{Type: "image", URL: "data:" + b.MIMEType + ";base64," + b.Data})
		}
	}
	p.do(protocol.DoSend, d)
}

// isSetting reports whether a method changes a setting. agentctl's client may use another one of
// them than the recorded client.
func isSetting(method string) bool {
	switch method {
	case "session/set_mode", "session/set_model", "session/set_config_option":
		return true
	}
	return false
}

// settingOf returns the setting that a message changes, and its new value.
func settingOf(m rpcLine) (setting, value string) {
	var d struct {
		ModeID, ModelID, ConfigID string
		Value                     any
	}
	_ = json.Unmarshal(m.Params, &d)
	switch m.Method {
	case "session/set_mode":
		return "mode", d.ModeID
	case "session/set_model":
		return "model", d.ModelID
	}
	return d.ConfigID, fmt.Sprint(d.Value)
}

func (p *acpPlayer) configure(setting, value string) {
	p.later(protocol.DoConfigure, protocol.ConfigureData{Setting: setting, Value: value})
}

// decide decides the pending request as the recorded client did, unless a rule does.
func (p *acpPlayer) decide(request permissionRequest, id, result json.RawMessage) {
	p.t.Helper()
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(result, &r)
	if r.Outcome.Outcome != "selected" {
		return
	}
	var pending []protocol.Approval
	p.until("request "+string(id), func() bool {
		pending = p.state().Approvals
		return len(pending) > 0 || p.process.answered(id)
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

// until waits until ok returns true.
func (p *acpPlayer) until(what string, ok func() bool) {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < acpLimit; time.Sleep(10 * time.Millisecond) {
		if synctest.Wait(); ok() {
			return
		}
	}
	p.t.Errorf("waited for %s in vain", what)
}

// do gives a command and waits for its answer.
func (p *acpPlayer) do(verb protocol.Verb, data any) {
	p.t.Helper()
	p.logf("> %s %s\n", verb, protocol.MustEncode(data))
	if _, err := wsclient.Call[json.RawMessage](p.t.Context(), p.client, verb, p.session, data); err != nil {
		p.logf("< %v\n", err)
	}
}

// later gives a command that ends when the agent has answered.
func (p *acpPlayer) later(verb protocol.Verb, data any) {
	p.logf("> %s %s\n", verb, protocol.MustEncode(data))
	p.waiting.Go(func() {
		_, err := wsclient.Call[json.RawMessage](p.t.Context(), p.client, verb, p.session, data)
		if err != nil {
			p.logf("< %v\n", err)
		}
		select {
		case p.done <- struct{}{}:
		default:
		}
	})
}

func (p *acpPlayer) state() *protocol.State {
	p.t.Helper()
	r, err := wsclient.Call[protocol.SnapshotResult](
		p.t.Context(), p.client, protocol.DoSnapshot, p.session, protocol.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	return r.Snapshot.State
}

// transcript returns the session as text: the commands, the turns, the state, and what is in the
// protocol log only.
func (p *acpPlayer) transcript() string {
	p.t.Helper()
	v := &view{state: p.state()}
	names := map[string]string{p.session: "session"}
	raw := map[string]int{}
	var order []string
	var outside strings.Builder
	since := &protocol.Position{}
	for it, err := range p.client.Subscribe(p.session, wsclient.SubscribeOptions{Since: since}).Events(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
		if it.Event == nil {
			continue
		}
		e := it.Event
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
			what := strings.TrimSpace(d.Method + updateType(d.Data))
			if raw[what]++; raw[what] == 1 {
				order = append(order, what)
			}
		case e.Turn == "" && (e.Type == protocol.Notice || e.Type == protocol.SessionUpdated):
			fmt.Fprintf(&outside, "%s %s\n", e.Type, e.Data)
		}
	}
	var b strings.Builder
	b.WriteString(p.log.String())
	b.WriteString(outside.String())
	for i, t := range v.transcript.Turns {
		names[t.Turn] = fmt.Sprintf("t%d", i+1)
		for j, it := range t.Items {
			if it.Approval != nil {
				names[it.Approval.Request] = fmt.Sprintf("r%d.%d", i+1, j+1)
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
	writeSession(&b, v)
	writeOptions(&b, options)
	for _, rule := range v.state.Rules {
		fmt.Fprintf(&b, "rule: %s\n", rule.Scope)
	}
	for _, what := range order {
		fmt.Fprintf(&b, "in the protocol log only: %d × %s\n", raw[what], what)
	}
	text := b.String()
	for id, name := range names {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// writeOptions writes the settings of the agent without the texts of its authors.
func writeOptions(b *strings.Builder, o *protocol.Options) {
	if o == nil {
		return
	}
	fmt.Fprintf(b, "%s %s, %d commands\n", o.Name, o.Version, len(o.Commands))
	for _, s := range o.Settings {
		fmt.Fprintf(b, "%s: %s of %d\n", s.ID, s.Value, len(s.Choices))
	}
}
