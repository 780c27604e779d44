package historygen

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// part draws an event of a text or reasoning part, sometimes of a task or of another tool.
func (l *Generator) part(typ protocol.Type) codec.Entry {
	kind := protocol.KindText
	switch typ {
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		kind = protocol.KindReasoning
	}
	switch typ {
	case protocol.TextStart, protocol.ReasoningStart:
		en := l.entry(typ, protocol.PartStartData{Part: l.id("p"), Agent: l.oneOf("", "", "reviewer")})
		en.Task, en.Parent = l.oneOf("", "", "1"), l.oneOf("", "", "call")
		return en
	}
	var open []protocol.OpenPart
	for _, p := range l.State.Turn.Parts {
		if p.Kind == kind {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return codec.Entry{}
	}
	p := pick(l, "part", open)
	var data any = protocol.PartDeltaData{Part: p.Part, Text: l.text()}
	if typ == protocol.TextEnd || typ == protocol.ReasoningEnd {
		data = protocol.PartEndData{Part: p.Part, DurationMS: l.number()}
	}
	en := l.entry(typ, data)
	en.Task = p.Task
	return en
}

// joined draws joined deltas of the open parts and tools.
func (l *Generator) joined() codec.Entry {
	var d protocol.JoinedData
	for _, p := range l.State.Turn.Parts {
		d.Parts = append(d.Parts, protocol.JoinedPart{Part: p.Part, Kind: p.Kind, Task: p.Task, Text: l.text() + "."})
	}
	for _, t := range l.State.Turn.Tools {
		kind := pick(l, "kind", []protocol.Kind{protocol.KindInput, protocol.KindOutput})
		d.Parts = append(
			d.Parts,
			protocol.JoinedPart{Part: t.Tool, Kind: kind, Task: t.Task, Parent: t.Parent, Text: l.text() + "."},
		)
	}
	if len(d.Parts) < 2 {
		return codec.Entry{}
	}
	return l.entry(protocol.JoinedDeltas, d)
}

// tool draws an event of a tool call.
func (l *Generator) tool(typ protocol.Type) codec.Entry {
	open := l.State.Turn.Tools
	if typ == protocol.ToolStarted && (len(open) == 0 || l.coin("new")) {
		d := protocol.ToolStartedData{
			Tool: l.id("c"), Name: l.oneOf("", "shell", "read", "local_shell"), Kind: l.oneOf("", "execute"),
			Title: l.oneOf("", "ls -l"),
		}
		if l.coin("input") {
			d.Input = json.RawMessage(`{"command":["ls","-l"]}`)
		}
		en := l.entry(typ, d)
		en.Task, en.Parent = l.oneOf("", "", "1"), l.oneOf("", "", "call")
		return en
	}
	if len(open) == 0 {
		return codec.Entry{}
	}
	t := pick(l, "tool", open)
	var data any
	switch typ {
	case protocol.ToolStarted:
		data = protocol.ToolStartedData{
			Tool: t.Tool, Title: "again", Locations: []protocol.Location{{Path: "/x", Line: 3}},
		}
	case protocol.ToolInput:
		d := protocol.ToolInputData{Tool: t.Tool, Text: "{"}
		if l.coin("whole") {
			d = protocol.ToolInputData{Tool: t.Tool, Input: json.RawMessage(`{"command":["ls","-a"]}`)}
		}
		data = d
	case protocol.ToolOutput:
		d := protocol.ToolOutputData{Tool: t.Tool, Text: l.text(), Replace: l.oneOf("", "", "yes") != ""}
		if l.coin("content") {
			d.Content = []protocol.Content{{Type: "diff", Path: "a", New: l.text()}, {Type: "text", Text: l.text()}}
		}
		data = d
	default:
		data = l.toolEnded(t.Tool)
	}
	en := l.entry(typ, data)
	en.Task, en.Parent = t.Task, t.Parent
	return en
}

func (l *Generator) toolEnded(tool string) protocol.ToolEndedData {
	d := protocol.ToolEndedData{
		Tool: tool, DurationMS: l.number(), Status: pick(l, "status", []protocol.ToolStatus{
			protocol.ToolCompleted, protocol.ToolCompleted, protocol.ToolFailed, protocol.ToolCancelled,
			protocol.ToolDenied, protocol.ToolUnknown,
		}),
	}
	if d.Status == protocol.ToolFailed {
		d.Error = l.oneOf("", "exit status 1")
	}
	if l.coin("structured") {
		d.Output = json.RawMessage(`{"ok":true}`)
	}
	switch d.Status {
	case protocol.ToolCompleted:
		if l.coin("exit") {
			d.ExitCode = new(int)
		}
	case protocol.ToolFailed:
		if l.coin("exit") {
			code := 1 + int(l.number())
			d.ExitCode = &code
		}
	}
	return d
}

// approval draws an event of an approval.
func (l *Generator) approval(typ protocol.Type) codec.Entry {
	pending := l.State.Approvals
	switch {
	case typ == protocol.ApprovalRequested:
		return l.request()
	case len(pending) == 0:
		return codec.Entry{}
	case typ == protocol.ApprovalExplained:
		en := l.entry(typ, protocol.ApprovalExplainedData{Request: pick(l, "request", pending).Request, Text: l.text()})
		en.By = l.by()
		return en
	}
	d := l.Resolution(pick(l, "request", pending).Request, pick(l, "decision", []protocol.Decision{
		protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop, "", "",
	}))
	en := l.entry(typ, d)
	if d.Decision != "" {
		en.By = l.by()
	}
	return en
}

// Resolution draws how a request ends with a decision; with an empty one it expires or is
// cancelled.
func (l *Generator) Resolution(request string, decision protocol.Decision) protocol.ApprovalResolvedData {
	d := protocol.ApprovalResolvedData{
		Request: request, Decision: decision, Option: string(decision), Reason: l.oneOf("", "no way"),
	}
	switch decision {
	case protocol.AllowOnce, protocol.AllowAlways:
		d.Outcome = protocol.Allowed
		if decision == protocol.AllowAlways {
			d.Rule = &protocol.Rule{
				ID: l.id("rule"), Kind: "command", Subject: "ls", By: protocol.Actor{Name: "grace"}, At: l.Now,
			}
		}
	case protocol.Deny, protocol.DenyStop:
		d.Outcome = protocol.Denied
	default:
		d.Outcome, d.Reason = pick(l, "outcome", []protocol.Outcome{protocol.Expired, protocol.Cancelled}), ""
	}
	return d
}

func (l *Generator) request() codec.Entry {
	a := protocol.Approval{
		Request: l.id("r"), Title: l.oneOf("Run it", "Do that"), Name: l.oneOf("", "shell"),
		Why: l.oneOf("", "because"),
		CWD: l.oneOf("", "/x"), Asked: l.Now,
		Kind: l.oneOf(
			protocol.ApproveCommand, protocol.ApproveTool, protocol.ApprovePlan, protocol.ApproveQuestion,
			protocol.ApprovePatch,
		),
		Options: []protocol.Option{
			{ID: "allow_once", Kind: protocol.AllowOnce, Label: "Yes"},
			{ID: "deny", Kind: protocol.Deny, Label: "No"},
			{ID: "allow_always", Kind: protocol.AllowAlways, Label: "Always", Scope: "ls"},
		},
	}
	switch a.Kind {
	case protocol.ApproveCommand:
		a.Command = l.oneOf("make all", "cd x && make", "echo 'it'\\''s'")
	case protocol.ApprovePlan:
		a.Tasks = l.tasks()
	case protocol.ApprovePatch:
		a.Patch, a.Paths = "*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch", []string{"a.go"}
		a.Content = []protocol.Content{{Type: "diff", Path: "a.go", New: "x"}}
		a.Editable = l.coin("editable")
	case protocol.ApproveQuestion:
		a.Questions = []protocol.Question{{ID: "q", Text: "which?", Choices: []protocol.Choice{{ID: "a", Label: "A"}}}}
	default:
		a.Input = json.RawMessage(l.oneOf(`{"a":[1,"x"]}`, `{"command":"make","cwd":"/y"}`, `"word"`))
	}
	for _, t := range l.State.Turn.Tools { // at most one request per call
		if !l.hasRequest(t.Tool) && l.coin("for") {
			a.Tool = t.Tool
			break
		}
	}
	en := l.entry(protocol.ApprovalRequested, a)
	en.Task = l.oneOf("", "", "1")
	return en
}

func (l *Generator) hasRequest(tool string) bool {
	for i := range l.State.Approvals {
		if l.State.Approvals[i].Tool == tool {
			return true
		}
	}
	return false
}
