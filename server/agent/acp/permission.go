package acp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
	"agentctl/server/session"
)

// Kinds of the protocol's permission options.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

// requestPermission asks the session about the agent's request and answers it when there is a verdict. It returns false, and answers
// nothing, when the turn is over.
func (t *turn) requestPermission(req *rpc.Request, p *permissionParams) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	// Begins the tool, where the agent asks before it tells. That the turn or the tool has ended is nothing to stop at: Ask
	// will say so, or the agent runs the same call again.
	if p.Tool.ID != "" {
		_ = t.upsertTool(&p.Tool, false)
	} else if t.endPart() != nil {
		return false
	}
	a := t.newApproval(p)
	known := t.tools[p.Tool.ID]
	t.approvals.Go(func() {
		v, err := t.out.Ask(t.ctx, a)
		answer := permissionOutcome{Outcome: "cancelled"}
		if err == nil && t.ctx.Err() == nil {
			answer = chooseOption(v, p.Options)
		}
		t.recordVerdict(known, v.Outcome)
		_ = req.Reply(context.WithoutCancel(t.ctx), permissionResult{answer}) // it fails when the agent has gone
	})
	return true
}

// recordVerdict notes what the agent may not say itself.
func (t *turn) recordVerdict(known *tool, o protocol.Outcome) {
	if known == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known.denied = o == protocol.Denied || o == protocol.Expired
	known.start = time.Now()
}

// newApproval says what the agent asks, in the words of the project.
func (t *turn) newApproval(p *permissionParams) protocol.Approval {
	c := &p.Tool
	a := protocol.Approval{
		Kind: protocol.ApproveTool, Title: c.Title, Name: c.Meta.Claude.Tool, CWD: t.cwd, Options: approvalOptions(p),
	}
	kind := toolKind(c.ToolKind)
	input := c.Input
	if known := t.tools[c.ID]; known != nil {
		a.Tool = known.id
		if kind == "" || kind == protocol.ToolOther {
			kind = known.call.Kind
		}
		if a.Title == "" {
			a.Title = known.call.Title
		}
		if a.Name == "" {
			a.Name = known.call.Name
		}
		if !present(input) {
			input = known.call.Input
		}
	}
	if present(input) {
		a.Input = input
	}
	in := parseInput(input)
	changes, words := diffs(mapContents(c.Content))
	a.Content, a.Why = changes, words
	if a.Why == "" {
		a.Why = in.description
	}
	for _, l := range c.locations() {
		a.Paths = append(a.Paths, l.Path)
	}
	for _, d := range changes {
		if !slices.Contains(a.Paths, d.Path) {
			a.Paths = append(a.Paths, d.Path)
		}
	}
	switch {
	case kind == protocol.ToolExecute:
		a.Kind, a.Command = protocol.ApproveCommand, commandLine(a.Title, in, a.Input)
		a.CWD = t.commandDir(t.tools[c.ID], in, words)
	case kind == protocol.ToolEdit, len(changes) > 0 && !removesFile(kind):
		a.Kind = protocol.ApprovePatch
	}
	if a.Title == "" {
		a.Title = "a tool wants to run"
	}
	switch {
	case p.isModeChange(), removesFile(kind):
		a.Name = "" // no rule: it would be about a choice, or about other files, or let an edit stand for a deletion
	case a.Name == "" && a.Kind == protocol.ApproveTool:
		a.Name = a.Title // what a rule would be about
	}
	return a
}

// removesFile reports whether a kind of tool takes a file away from where it is.
func removesFile(kind string) bool { return kind == protocol.ToolDelete || kind == protocol.ToolMove }

// commandLine is the command that is asked for. A rule is about exactly this text, so where the arguments hold no command in
// a form that is known, they stand in it whole: a title may be the same for every command. An agent that tells no arguments
// has nothing but the title.
func commandLine(title string, in input, raw json.RawMessage) string {
	switch {
	case in.command != "":
		return in.command
	case raw == nil:
		return title
	}
	return title + " " + string(raw)
}

// commandDir is where the command is to run: a rule is about that, too. A request may tell less of it than the call did, and
// Gemini CLI and its kin tell it in words: "[in DIRECTORY] (description)".
func (t *turn) commandDir(known *tool, in input, words string) string {
	dir := in.cwd
	if dir == "" && known != nil {
		dir = known.dir
	}
	if rest, ok := strings.CutPrefix(strings.TrimSuffix(words, " [background]"), "[in "); ok && dir == "" {
		dir = rest[:max(strings.LastIndexByte(rest, ']'), 0)]
	}
	if !filepath.IsAbs(dir) {
		return filepath.Join(t.cwd, dir)
	}
	return dir
}

// isModeChange reports whether the request is for a change of mode, where every option is another mode.
func (p *permissionParams) isModeChange() bool { return p.Tool.ToolKind == "switch_mode" }

// approvalOptions maps the agent's options, each to the decision that it stands for, under the agent's ids. Always allowing is a rule
// of the session's and not the agent's, so that it stays listed and revocable: the agent's own way of it is not offered,
// except for a change of mode, where each option is a choice of its own.
func approvalOptions(p *permissionParams) []protocol.Option {
	choice := p.isModeChange()
	var out []protocol.Option
	for _, o := range p.Options {
		option := protocol.Option{ID: o.ID, Label: o.Name}
		switch o.Kind {
		case allowOnce:
			option.Kind = protocol.AllowOnce
		case allowAlways:
			if !choice {
				continue
			}
			option.Kind = protocol.AllowOnce
		case rejectOnce, rejectAlways:
			if o.Kind == rejectAlways && !choice {
				continue
			}
			option.Kind = protocol.Deny
		default:
			continue
		}
		out = append(out, option)
	}
	return out
}

// chooseOption picks the agent's option for a verdict: the very one chosen, else by kind, and never one of ours. A refusal picks
// a reject option, since cancelled would end more than the tool call.
func chooseOption(v session.Verdict, options []permissionOption) permissionOutcome {
	var kinds []string
	switch v.Outcome {
	case protocol.Allowed:
		kinds = []string{allowOnce, allowAlways}
	case protocol.Denied, protocol.Expired:
		kinds = []string{rejectOnce, rejectAlways}
	}
	chosen := -1
	for i, o := range options {
		rank := slices.Index(kinds, o.Kind)
		switch {
		case rank < 0:
		case o.ID == v.Option:
			return permissionOutcome{Outcome: "selected", Option: o.ID}
		case chosen < 0, rank < slices.Index(kinds, options[chosen].Kind):
			chosen = i
		}
	}
	if chosen < 0 {
		return permissionOutcome{Outcome: "cancelled"}
	}
	return permissionOutcome{Outcome: "selected", Option: options[chosen].ID}
}

// input is what is known of a tool's arguments, whose form each agent chooses for itself.
type input struct{ command, cwd, description string }

func parseInput(raw json.RawMessage) input {
	var o struct {
		Command                                 json.RawMessage
		CWD, Workdir, Directory                 any
		WorkingDirectory                        any `json:"working_directory"`
		DirPath                                 any `json:"dir_path"`
		Description, Reason, Justification, Why any
	}
	_ = decode(raw, &o) // fields of other types say nothing
	first := func(list ...any) string {
		for _, v := range list {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	in := input{
		cwd:         first(o.Workdir, o.WorkingDirectory, o.DirPath, o.Directory, o.CWD),
		description: first(o.Description, o.Reason, o.Justification, o.Why),
	}
	var words []string
	switch {
	case json.Unmarshal(o.Command, &in.command) == nil:
	case json.Unmarshal(o.Command, &words) == nil:
		in.command = shellJoin(words)
	}
	return in
}

// shellJoin writes a command given as words the way a shell would be told it. What follows "sh -c" is told as it is.
func shellJoin(words []string) string {
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`&|;<>()*?[]#~{}!") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
