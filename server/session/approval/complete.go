package approval

import (
	"agentctl/protocol"
	"agentctl/server/session/record"
)

// maxOptions is the room in bytes for the options that are added to a request.
const maxOptions = 8 << 10

// complete sets the times of a request, its working directory, and an option for every decision for
// which the agent offers none. Options that cannot be carried out are removed: always needs a rule
// for the request, and a request that fits an event without being shortened. Nothing allows what the
// sandbox refuses.
func complete(a *protocol.Approval, dir string, noRule bool, t *Terms) {
	a.Asked = record.Time(t.Now)
	a.Expires = nil
	a.Editable = a.Kind == protocol.ApprovePatch && a.Patch != "" && t.Agent.TakesPatch ||
		a.Kind == protocol.ApproveCommand && a.Command != "" && t.Agent.TakesCommand
	if a.CWD == "" {
		a.CWD = dir
	}
	a.ApprovalContext = protocol.ApprovalContext{}
	if t.Refused != nil {
		a.Refused = t.Refused(a)
	}
	if t.Timeout > 0 {
		at := a.Asked.Add(t.Timeout)
		a.Expires = &at
	}
	scope := ""
	if raw, err := record.Encode(a); err == nil && len(raw) < record.MaxData-maxOptions && !noRule {
		scope = a.Scope()
	}
	defaults := []protocol.Option{
		{Kind: protocol.AllowOnce, Label: "Allow once"},
		{Kind: protocol.AllowAlways, Label: "Always allow"},
		{Kind: protocol.Deny, Label: "Deny"},
		{Kind: protocol.DenyStop, Label: "Deny and stop"},
		{Kind: protocol.Explain, Label: "Explain"},
	}
	if a.Kind == protocol.ApproveQuestion {
		defaults[0].Label, defaults[2].Label = "Answer", "Skip"
		if a.Page != nil {
			defaults[0].Label = "Opened"
		}
	}
	var options []protocol.Option
	has := map[protocol.Decision]bool{}
	add := func(o protocol.Option) {
		if !o.Kind.Valid() || o.Kind.Allows() && a.Refused != "" || o.Kind == protocol.AllowAlways && scope == "" ||
			o.Kind == protocol.Explain && !t.Explains ||
			hasOption(options, o.ID) {
			return
		}
		if o.Kind == protocol.AllowAlways {
			o.Scope = scope
		}
		has[o.Kind] = true
		options = append(options, o)
	}
	for _, o := range a.Options {
		add(o)
	}
	for _, o := range defaults {
		if has[o.Kind] {
			continue
		}
		for o.ID = string(o.Kind); hasOption(options, o.ID); {
			o.ID = "session_" + o.ID
		}
		add(o)
	}
	a.Options = options
}
