package historygen

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// part draws an event of a text or reasoning part, sometimes of a task or of another tool.
func (g *Generator) part(typ protocol.Type) codec.Entry {
	kind := protocol.KindText
	switch typ {
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		kind = protocol.KindReasoning
	}
	switch typ {
	case protocol.TextContent:
		return g.entry(typ, protocol.TextContentData{Content: g.file()})
	case protocol.TextStart, protocol.ReasoningStart:
		en := g.entry(typ, protocol.PartStartData{Part: g.id("p"), Agent: g.oneOf("", "", "reviewer")})
		en.Task, en.Parent = g.oneOf("", "", "1"), g.oneOf("", "", "call")
		return en
	}
	var open []protocol.OpenPart
	for _, p := range g.State.Turn.Parts {
		if p.Kind == kind {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return codec.Entry{}
	}
	p := pick(g, "part", open)
	var data any = protocol.PartDeltaData{Part: p.Part, Text: g.text()}
	if typ == protocol.TextEnd || typ == protocol.ReasoningEnd {
		data = protocol.PartEndData{Part: p.Part, DurationMS: g.number()}
	}
	en := g.entry(typ, data)
	en.Task = p.Task
	return en
}

// file draws an image or another file of an agent.
func (g *Generator) file() protocol.Content {
	data := json.RawMessage(`"iVBORw0KGgo="`)
	return pick(g, "file", []protocol.Content{
		{Type: "image", MediaType: "image/png", Data: data, Blob: "b_0", Bytes: 8},
		{Type: "audio", MediaType: "audio/wav", Blob: "b_1", Bytes: 90_000},
		{Type: "blob", MediaType: "application/pdf", Path: "file:///a/b.pdf", Data: data, Blob: "b_0", Bytes: 8},
		{Type: "text", Path: "file:///a/notes.txt", Text: g.text()},
		{Type: "link", Name: "the plot", Path: "https://example.org/plot.png", Bytes: 100},
	})
}

// joined draws joined deltas of the open parts and tools.
func (g *Generator) joined() codec.Entry {
	var d protocol.JoinedData
	for _, p := range g.State.Turn.Parts {
		d.Parts = append(d.Parts, protocol.JoinedPart{Part: p.Part, Kind: p.Kind, Task: p.Task, Text: g.text() + "."})
	}
	for _, t := range g.State.Turn.Tools {
		kind := pick(g, "kind", []protocol.Kind{protocol.KindInput, protocol.KindOutput})
		d.Parts = append(
			d.Parts,
			protocol.JoinedPart{Part: t.Tool, Kind: kind, Task: t.Task, Parent: t.Parent, Text: g.text() + "."},
		)
	}
	if len(d.Parts) < 2 {
		return codec.Entry{}
	}
	return g.entry(protocol.JoinedDeltas, d)
}

// tool draws an event of a tool call.
func (g *Generator) tool(typ protocol.Type) codec.Entry {
	open := g.State.Turn.Tools
	if typ == protocol.ToolStarted && (len(open) == 0 || g.coin("new")) {
		d := protocol.ToolStartedData{
			Tool: g.id("c"), Name: g.oneOf("", "shell", "read", "local_shell"), Kind: g.oneOf("", "execute"),
			Title: g.oneOf("", "ls -l"),
		}
		if g.coin("input") {
			d.Input = json.RawMessage(`{"command":["ls","-l"]}`)
		}
		d.Session = g.oneOf("", "", "s_sub")
		en := g.entry(typ, d)
		en.Task, en.Parent = g.oneOf("", "", "1"), g.oneOf("", "", "call")
		return en
	}
	if len(open) == 0 {
		return codec.Entry{}
	}
	t := pick(g, "tool", open)
	var data any
	switch typ {
	case protocol.ToolStarted:
		data = protocol.ToolStartedData{
			Tool: t.Tool, Title: "again", Locations: []protocol.Location{{Path: "/x", Line: 3}},
		}
	case protocol.ToolInput:
		d := protocol.ToolInputData{Tool: t.Tool, Text: "{"}
		if g.coin("whole") {
			d = protocol.ToolInputData{Tool: t.Tool, Input: json.RawMessage(`{"command":["ls","-a"]}`)}
		}
		data = d
	case protocol.ToolOutput:
		d := protocol.ToolOutputData{Tool: t.Tool, Text: g.text(), Replace: g.oneOf("", "", "yes") != ""}
		if g.coin("content") {
			d.Content = []protocol.Content{
				{Type: "diff", Path: "a", New: g.text()}, {Type: "text", Text: g.text()}, g.file(),
			}
		}
		data = d
	default:
		data = g.toolEnded(t.Tool)
	}
	en := g.entry(typ, data)
	en.Task, en.Parent = t.Task, t.Parent
	return en
}

func (g *Generator) toolEnded(tool string) protocol.ToolEndedData {
	d := protocol.ToolEndedData{
		Tool: tool, DurationMS: g.number(), Status: pick(g, "status", []protocol.ToolStatus{
			protocol.ToolCompleted, protocol.ToolCompleted, protocol.ToolFailed, protocol.ToolCancelled,
			protocol.ToolDenied, protocol.ToolUnknown,
		}),
	}
	if d.Status == protocol.ToolFailed {
		d.Error = g.oneOf("", "exit status 1")
	}
	if g.coin("structured") {
		d.Output = json.RawMessage(`{"ok":true}`)
	}
	switch d.Status {
	case protocol.ToolCompleted:
		if g.coin("exit") {
			d.ExitCode = new(int)
		}
	case protocol.ToolFailed:
		if g.coin("exit") {
			code := 1 + int(g.number())
			d.ExitCode = &code
		}
	}
	return d
}

// approval draws an event of an approval.
func (g *Generator) approval(typ protocol.Type) codec.Entry {
	pending := g.State.Approvals
	switch {
	case typ == protocol.ApprovalRequested:
		return g.request()
	case len(pending) == 0:
		return codec.Entry{}
	case typ == protocol.ApprovalExplained:
		en := g.entry(typ, protocol.ApprovalExplainedData{Request: pick(g, "request", pending).Request, Text: g.text()})
		en.By = g.by()
		return en
	}
	d := g.Resolution(pick(g, "request", pending).Request, pick(g, "decision", []protocol.Decision{
		protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop, "", "",
	}))
	en := g.entry(typ, d)
	if d.Decision != "" {
		en.By = g.by()
	}
	return en
}

// Resolution draws how a request ends with a decision; with an empty one it expires or is
// cancelled.
func (g *Generator) Resolution(request string, decision protocol.Decision) protocol.ApprovalResolvedData {
	d := protocol.ApprovalResolvedData{
		Request: request, Decision: decision, Option: string(decision), Reason: g.oneOf("", "no way"),
	}
	switch decision {
	case protocol.AllowOnce, protocol.AllowAlways:
		d.Outcome = protocol.Allowed
		if decision == protocol.AllowAlways {
			d.Rule = &protocol.Rule{
				ID: g.id("rule"), Kind: "command", Subject: "ls", By: protocol.Actor{Name: "grace"}, At: g.Now,
			}
		}
	case protocol.Deny, protocol.DenyStop:
		d.Outcome = protocol.Denied
	default:
		d.Outcome, d.Reason = pick(g, "outcome", []protocol.Outcome{protocol.Expired, protocol.Cancelled}), ""
	}
	return d
}

func (g *Generator) request() codec.Entry {
	a := protocol.Approval{
		Request: g.id("r"), Title: g.oneOf("Run it", "Do that"), Name: g.oneOf("", "shell"),
		Why: g.oneOf("", "because"),
		CWD: g.oneOf("", "/x"), Asked: g.Now,
		Kind: g.oneOf(
			protocol.ApproveCommand, protocol.ApproveTool, protocol.ApprovePlan, protocol.ApproveQuestion,
			protocol.ApprovePatch,
		),
		Options: []protocol.Option{
			{ID: "allow_once", Kind: protocol.AllowOnce, Label: "Yes"},
			{ID: "deny", Kind: protocol.Deny, Label: "No"},
			{ID: "allow_always", Kind: protocol.AllowAlways, Label: "Always", Scope: "ls"},
		},
	}
	if g.oneOf("", "", "sub-agent") != "" {
		a.SubAgent = &protocol.SubAgent{Session: "s_sub", Title: g.oneOf("", "Count")}
	}
	switch a.Kind {
	case protocol.ApproveCommand:
		a.Command = g.oneOf("make all", "cd x && make", "echo 'it'\\''s'")
	case protocol.ApprovePlan:
		a.Tasks = g.tasks()
	case protocol.ApprovePatch:
		a.Patch, a.Paths = "*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch", []string{"a.go"}
		a.Content = []protocol.Content{{Type: "diff", Path: "a.go", New: "x"}}
		a.Editable = g.coin("editable")
	case protocol.ApproveQuestion:
		a.Questions = []protocol.Question{{ID: "q", Text: "which?", Choices: []protocol.Choice{{ID: "a", Label: "A"}}}}
		if g.coin("form") {
			most := 9.0
			a.Questions = append(a.Questions, protocol.Question{
				ID: "n", Text: "how many?", About: "at once",
				Field: protocol.Field{Type: protocol.FieldInteger, Required: true, Max: &most, Default: []string{"1"}},
			})
		}
		if g.coin("page") {
			a.Page = &protocol.Page{URL: "https://example.org/a", Host: "example.org", Hidden: true}
		}
	default:
		a.Input = json.RawMessage(g.oneOf(`{"a":[1,"x"]}`, `{"command":"make","cwd":"/y"}`, `"word"`))
	}
	for _, t := range g.State.Turn.Tools { // at most one request per call
		if !g.hasRequest(t.Tool) && g.coin("for") {
			a.Tool = t.Tool
			break
		}
	}
	en := g.entry(protocol.ApprovalRequested, a)
	en.Task = g.oneOf("", "", "1")
	return en
}

func (g *Generator) hasRequest(tool string) bool {
	for i := range g.State.Approvals {
		if g.State.Approvals[i].Tool == tool {
			return true
		}
	}
	return false
}

// steered draws a message that joins the turn, or the outcome of one.
func (g *Generator) steered(typ protocol.Type) codec.Entry {
	if typ == protocol.MessageSteered {
		m := protocol.Message{
			MessageID: g.id("m"), ClientMessageID: g.oneOf("", "ui-2"), Text: g.text(), QueuedAt: &g.Now,
			By: &protocol.Actor{Name: "grace"},
		}
		if g.coin("parts") {
			m.Parts = []protocol.Part{{Type: "file", Name: "b.go", Text: "y"}}
		} else if m.Text == "" {
			m.Text = "a" // no message is empty
		}
		en := g.entry(typ, protocol.MessageSteeredData{Message: m})
		en.By = m.By
		return en
	}
	sent := g.State.Turn.Sent()
	if len(sent) == 0 {
		return codec.Entry{}
	}
	d := protocol.MessageResolvedData{
		MessageID: pick(g, "sent", sent).MessageID,
		Outcome: pick(g, "outcome", []protocol.SteerOutcome{
			protocol.SteerTakenIn, protocol.SteerTakenIn, protocol.SteerRefused, protocol.SteerUnknown,
		}),
	}
	if d.Outcome != protocol.SteerTakenIn {
		d.Reason = g.text()
	}
	return g.entry(typ, d)
}
