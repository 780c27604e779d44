package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// Kinds of ACP permission options.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

// requestPermission asks the session for a decision and answers the request with it. It returns
// false without an answer when the turn is over.
func (t *turn) requestPermission(req *rpc.Request, p *permissionParams) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	// Start the tool if the request comes before tool_call. Errors are ignored: if the turn is
	// over, Ask returns an error; if the tool has ended, the agent runs the same call again.
	if p.Tool.ID != "" {
		_ = t.upsertTool(&p.Tool, false)
	} else if t.endPart() != nil {
		return false
	}
	known := t.tools[p.Tool.ID]
	parent, stop := context.WithCancel(t.ctx)
	pending := context.AfterFunc(req.Context(), stop)
	ctx, shown := t.show(parent, known, p)
	t.activity.ask()
	t.approvals.Go(func() {
		defer stop()
		v, err := t.ask(parent, ctx, known, p, shown)
		result := permissionResult{Outcome: permissionOutcome{Outcome: "cancelled"}}
		if err == nil && t.ctx.Err() == nil {
			result = permissionResult{chooseOption(v, p.Options), answersOf(shown.request.Questions, &v)}
		}
		t.recordVerdict(known, v.Outcome)
		reply(context.WithoutCancel(t.ctx), req, pending, result)
	})
	return true
}

// answersOf returns the answers to questions, several to one as a text.
func answersOf(questions []protocol.Question, v *agent.Verdict) map[string]string {
	if v.Outcome != protocol.Allowed || v.Input == nil {
		return nil
	}
	answers := map[string]string{}
	for i := range questions {
		if given := v.Input.Answers[questions[i].ID]; len(given) > 0 {
			answers[questions[i].ID] = strings.Join(given, ", ")
		}
	}
	return answers
}

// reply answers a request with a result, unless it was withdrawn. After the exit of the agent that
// fails, and nothing waits for the answer.
func reply(ctx context.Context, req *rpc.Request, pending func() bool, result any) {
	if !pending() {
		_ = req.ReplyError(ctx, rpc.CodeCancelled, "withdrawn")
		return
	}
	_ = req.Reply(ctx, result)
}

// recordVerdict records the decision on a tool. The agent may not report a denial itself.
func (t *turn) recordVerdict(known *tool, o protocol.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.activity.answer()
	denied := o == protocol.Denied || o == protocol.Expired
	t.denied = t.denied || denied
	if known == nil {
		return
	}
	switch {
	case denied:
		known.refused = protocol.ToolDenied
	case o == protocol.Cancelled:
		known.refused = protocol.ToolCancelled
	default:
		known.refused = ""
	}
	known.start = time.Now()
}

// newApproval converts a permission request to an approval.
func (t *turn) newApproval(p *permissionParams) protocol.Approval {
	c := &p.Tool
	a := protocol.Approval{
		Kind: protocol.ApproveTool, Title: c.Title, Name: c.name(), CWD: t.cwd, Options: approvalOptions(p),
	}
	kind := toolKind(c.ToolKind)
	input, called := c.Input, json.RawMessage(nil)
	content, _ := mapContents(c.Content, t.agent.Markdown)
	changes, other, text := splitContent(content)
	locations := c.locations()
	if known := t.tools[c.ID]; known != nil {
		a.Tool = known.id
		if kind == "" || kind == protocol.ToolOther {
			kind = known.call.Kind
		}
		a.Title = cmp.Or(a.Title, known.call.Title)
		a.Name = cmp.Or(a.Name, known.call.Name)
		called = known.call.Input
		earlier, earlierOther, earlierText := splitContent(known.content)
		if len(changes) == 0 {
			changes = earlier
		}
		if len(other) == 0 {
			other = earlierOther
		}
		text = cmp.Or(text, earlierText, known.text)
		locations = append(locations, known.call.Locations...)
	}
	if kind == protocol.ToolEdit && !p.isModeChange() {
		e := &catalog.Edit{Call: c.ID, Changes: changes}
		called, input = t.agent.Unseen(e, called), t.agent.Unseen(e, input)
	}
	if input = mergeInput(called, input); present(input) {
		a.Input = input
	}
	in := protocol.ReadArguments(a.Input)
	a.Content, a.Why = append(changes[:len(changes):len(changes)], other...), cmp.Or(
		text, p.Description, in.Description(),
	)
	if len(changes) == 0 {
		a.Patch, _ = in.Text("diff")
	}
	for _, d := range changes {
		locations = append(locations, protocol.Location{Path: d.Path})
	}
	for _, l := range locations {
		if !slices.Contains(a.Paths, l.Path) {
			a.Paths = append(a.Paths, l.Path)
		}
	}
	var asked []protocol.Question
	if kind == protocol.ToolThink && len(changes) == 0 {
		asked = c.Meta.Questions(a.Input)
	}
	switch {
	case p.isModeChange():
	case len(asked) > 0:
		a.Kind, a.Questions, a.Input = protocol.ApproveQuestion, asked, nil
	case kind == protocol.ToolExecute:
		a.Kind = protocol.ApproveCommand
		if plain, ok := in.Command(); ok {
			a.Command = plain.Line
		} else if len(a.Input) == 0 && t.agent.TitleIsCommand {
			a.Command = a.Title
		}
		a.CWD = t.commandDir(t.tools[c.ID], &in, a.Input, text)
		if rest, _ := a.RestArguments(); rest != "" {
			a.Command = "" // shown with all arguments instead
		}
		a.Paths = slices.DeleteFunc(a.Paths, func(path string) bool { return path == a.CWD })
	case kind == protocol.ToolEdit, (len(changes) > 0 || a.Patch != "") && !removesFile(kind):
		a.Kind = protocol.ApprovePatch
	}
	a.Title = cmp.Or(a.Title, "run a tool")
	if p.isModeChange() || removesFile(kind) {
		a.Name = "" // no rules for a choice of mode, nor for removals: a rule could match other files
	}
	return a
}

// removesFile reports whether a kind of tool deletes or moves files.
func removesFile(kind string) bool { return kind == protocol.ToolDelete || kind == protocol.ToolMove }

// commandDir returns the directory of the command, which rules also match. A request may omit the
// directory of the call. Some agents send no arguments, and put the directory into the text.
func (t *turn) commandDir(known *tool, in *protocol.Arguments, input json.RawMessage, text string) string {
	dir := in.Dir()
	if dir == "" && known != nil {
		dir = known.dir
	}
	if dir == "" && len(input) == 0 {
		dir = catalog.CommandDir(text)
	}
	if !filepath.IsAbs(dir) {
		return filepath.Join(t.cwd, dir)
	}
	return dir
}

// isModeChange reports whether the request offers a change of mode. Every option is then a mode.
func (p *permissionParams) isModeChange() bool { return p.Tool.ToolKind == "switch_mode" }

// approvalOptions maps the options of the agent to decisions and keeps their ids. allow_always is a
// rule of the session, so that users can list and revoke it; the option of the agent is dropped, as
// some agents keep it for longer than the session. It is kept under its own label where the agent
// has no other way to allow, and in a change of mode, whose options are all choices.
func approvalOptions(p *permissionParams) []protocol.Option {
	var out []protocol.Option
	for _, o := range p.Options {
		option := protocol.Option{ID: o.ID, Label: o.Name}
		switch {
		case o.Kind == allowOnce, o.Kind == allowAlways && (p.isModeChange() || !p.offers(allowOnce)):
			option.Kind = protocol.AllowOnce
		case o.Kind == rejectOnce, o.Kind == rejectAlways && (p.isModeChange() || !p.offers(rejectOnce)):
			option.Kind = protocol.Deny
		default:
			continue
		}
		out = append(out, option)
	}
	return out
}

// offers reports whether the agent offers an option of a kind.
func (p *permissionParams) offers(kind string) bool {
	return slices.ContainsFunc(p.Options, func(o permissionOption) bool { return o.Kind == kind })
}

// chooseOption returns the option of the agent for a verdict: the chosen option, or else the best
// match by kind. A denial selects a reject option, since cancelled would end more than the tool
// call.
func chooseOption(v agent.Verdict, options []permissionOption) permissionOutcome {
	var kinds []string
	switch v.Outcome {
	case protocol.Allowed:
		kinds = []string{allowOnce, allowAlways}
	case protocol.Denied, protocol.Expired:
		kinds = []string{rejectOnce, rejectAlways}
	}
	chosen := func(o permissionOption) bool { return o.ID == v.Option && slices.Contains(kinds, o.Kind) }
	i := slices.IndexFunc(options, chosen)
	for _, kind := range kinds {
		if i < 0 {
			i = slices.IndexFunc(options, func(o permissionOption) bool { return o.Kind == kind })
		}
	}
	if i < 0 {
		return permissionOutcome{Outcome: "cancelled"}
	}
	return permissionOutcome{Outcome: "selected", Option: options[i].ID}
}
