package protocol

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commands about rules.
const (
	DoRulesList   Verb = "rules.list"
	DoRulesRevoke Verb = "rules.revoke"
)

var ruleCommands = []CommandType{
	{
		Verb: DoRulesList, Data: of[Empty], Result: of[RulesResult], Role: RoleObserver, Session: true,
		Words: "rules",
		Routes: []Route{
			{
				Name: "listRules", Method: "GET", Path: "/api/sessions/{id}/rules",
				Summary: "List the rules.", Query: true,
			},
		},
	},
	{
		Verb: DoRulesRevoke, Data: of[RulesRevokeData], Result: of[Empty],
		Role: RoleApprover, Session: true, Changes: true,
		Words:    "rules",
		Examples: [2]string{`{"rule":"rule_1"}`, `{"rule":"rule_2"}`},
		Routes: []Route{
			{
				Name: "revokeRule", Method: "DELETE", Path: "/api/sessions/{id}/rules/{rule}",
				Summary: "Revoke a rule.", Query: true,
			},
		},
	},
}

// A Rule allows matching requests without asking. It matches by equality of kind and subject.
type Rule struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Subject string    `json:"subject"` // see Approval.Subject
	Scope   string    `json:"scope"`   // for people
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
}

// Honoured reports whether the rule allows anything. A rule of an earlier version has a subject in
// another form, which did not cover everything that runs: it allows nothing.
func (r *Rule) Honoured() bool {
	args := ReadArguments(json.RawMessage(r.Subject))
	return args.opaque == "" && args.String() == r.Subject
}

// RestArguments returns the arguments of a request as JSON, unless its command, diffs and files
// cover them: canonical if decoders agree about them, else as sent with the reason in opaque.
// Questions and plans show their arguments themselves.
func (a *Approval) RestArguments() (rest, opaque string) {
	if len(a.Input) == 0 || a.Kind == ApproveQuestion || a.Kind == ApprovePlan {
		return "", ""
	}
	args := ReadArguments(a.Input)
	switch {
	case args.String() == "{}" || string(a.Input) == "null":
		return "", ""
	case a.Kind == ApprovePatch:
		if files, _ := a.Files(); a.tellsPatch(&args, files) {
			return "", ""
		}
	case a.plainCommand(&args) != nil:
		return "", ""
	}
	return args.String(), args.opaque
}

// plainCommand returns the command in the arguments, or nil unless it and its directory are the
// request's and the other arguments are only settings of the command.
func (a *Approval) plainCommand(args *Arguments) *PlainCommand {
	p, ok := args.Command()
	if !ok || p.Line != a.Command || !p.in(a.CWD) {
		return nil
	}
	return &p
}

// CommandSettings returns the settings in the arguments of a command, such as "timeout: 5000".
func (a *Approval) CommandSettings() []string {
	if a.Kind != ApprovePatch && len(a.Input) > 0 {
		args := ReadArguments(a.Input)
		if p := a.plainCommand(&args); p != nil {
			return p.Settings
		}
	}
	return nil
}

// TellsInput reports whether the arguments of a request show everything that it asks for, so that a
// client that shows them needs nothing else.
func (a *Approval) TellsInput() bool {
	rest, _ := a.RestArguments()
	if a.Kind == ApprovePatch && (a.Patch != "" || len(a.Content) > 0) {
		args := ReadArguments(a.Input)
		return rest == "" && len(a.Content) == 1 && a.Patch == "" && args.HasNewText()
	}
	return len(a.Input) > 0 && (a.Command == "" || rest == "")
}

// Action returns what a request asks for as one text without its title: the command with its
// settings, all arguments that the command does not cover, or the files of a patch. It is empty if
// only the title is known.
func (a *Approval) Action() string {
	var parts []string
	if a.Command != "" {
		parts = append(parts, a.Command)
	}
	for _, setting := range a.CommandSettings() {
		parts = append(parts, "("+setting+")")
	}
	if rest, _ := a.RestArguments(); rest != "" {
		parts = append(parts, rest)
	}
	if files, _ := a.Files(); a.Kind == ApprovePatch && len(files) > 0 {
		parts = append(parts, "changes "+strings.Join(files, ", "))
	}
	return strings.Join(parts, " ")
}

// Subject is the text that a rule for such a request matches, as canonical JSON: the command or all
// arguments with the directory and the tool's name, or the files of a patch. If empty, no rule
// matches. Rules match by equality, because looser rules would need a command parser.
func (a *Approval) Subject() string {
	subject := map[string]any{}
	add := func(name, value string) {
		if value != "" {
			subject[name] = value
		}
	}
	add("cwd", a.CWD)
	add("name", a.Name)
	add("command", a.Command)
	args := ReadArguments(a.Input)
	switch a.Kind {
	case ApproveCommand, ApproveTool:
		plain := a.plainCommand(&args)
		switch {
		case a.Kind == ApproveCommand && len(a.Input) == 0 && a.Command != "":
		case a.Kind == ApproveTool && a.Name == "" || args.opaque != "":
			return ""
		case a.Kind == ApproveCommand && plain != nil:
			for name, value := range plain.match {
				subject[name] = value
			}
		default:
			subject["input"] = args.canonical
		}
	case ApprovePatch:
		files := slices.Sorted(slices.Values(a.Paths))
		relative := slices.ContainsFunc(files, func(name string) bool { return !isAbsolute(name) })
		if _, whole := a.Files(); !whole || relative || len(files) == 0 {
			return ""
		}
		subject = map[string]any{"files": slices.Compact(files)}
	default:
		return ""
	}
	args = ReadArguments(MustEncode(subject))
	return string(args.canonical) // empty if a text is not valid Unicode
}

// Scope describes what a rule for such a request allows; empty: no rule matches it.
func (a *Approval) Scope() string {
	if a.Subject() == "" {
		return ""
	}
	rest, _ := a.RestArguments()
	in := ""
	if a.CWD != "" {
		in = " in " + a.CWD
	}
	tool := ""
	if a.Name != "" {
		tool = " of the tool " + plainName(a.Name)
	}
	switch {
	case a.Kind == ApprovePatch:
		files := slices.Sorted(slices.Values(a.Paths))
		return "every patch of exactly these files, in this session: " + strings.Join(slices.Compact(files), ", ")
	case a.Kind == ApproveTool || rest != "":
		return "exactly these arguments" + tool + in + ", in this session"
	}
	with := ""
	if settings := a.CommandSettings(); len(settings) > 0 {
		with = " with " + strings.Join(settings, ", ")
	}
	return "exactly this command" + in + with + tool + ", in this session"
}

// plainName returns a name that the agent chose, in quotes if it could be read as other words.
func plainName(name string) string {
	if strings.ContainsFunc(name, isShellSpecial) {
		return strconv.Quote(name)
	}
	return name
}

// RulesResult lists a session's rules.
type RulesResult struct {
	Rules []Rule `json:"rules"`
}

// RulesRevokeData names a rule.
type RulesRevokeData struct {
	Rule string `json:"rule"`
}
