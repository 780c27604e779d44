package catalog

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// An Agent holds what differs between agents and is not in their messages. Its fields are questions,
// and a zero value is the answer of the protocol.
type Agent struct {
	Preset

	Reports string // name in its answer to initialize; "": the program was not tried
	// Announces is the extension in its capabilities by which an agent without a name is known.
	Announces string

	// Usage is how it counts the usage in a prompt's result.
	Usage UsageReports
	// Markdown: text in the content of tool calls is Markdown; output is in fenced blocks.
	Markdown bool
	// Failure begins the message about a failure of the model, in a turn without usage; "": none does.
	Failure string
	// ExitLine begins the output of a failed command, the exit status follows it; "": nothing does.
	ExitLine string
	// TitleIsCommand: the agent sends no arguments with a request to run a command; its title is the
	// whole command.
	TitleIsCommand bool
	// Drains: the agent asks for the messages that are to join its turn, between the calls of its tools. It
	// does not announce that.
	Drains bool
	// Resumes: the agent has session/resume, which it does not announce, and its session/load is of less
	// use.
	Resumes bool
	// TaskFollows: the message with the task of a sub-agent follows the report that it works.
	TaskFollows bool
	// LoginKeys maps login methods to the environment variable of their key.
	LoginKeys map[string]string
	// StartModes maps modes in which a session starts, and in which the agent decides requests itself,
	// to the mode in which users decide.
	StartModes map[string]string
	// EditFields are the arguments of an edit whose value users see in its changes, if it is the same,
	// by name. What other arguments say is shown beside the changes.
	EditFields map[string]EditField
	// Records are the arguments of a call that the agent adds or changes after its request, and that
	// change nothing that runs.
	Records []string
	// ReadTools are the names of its tools that only read.
	ReadTools []string
}

// UsageReports is how an agent counts the usage in a prompt's result. The schema of ACP states that
// it is cumulative; most agents report each turn separately.
type UsageReports int

// The ways to count usage.
const (
	UsageUnknown UsageReports = iota // decided by the agent's reports
	PerTurn                          // the tokens of the turn
	Cumulative                       // all tokens since the start of the process
)

// agents is sorted by name. An agent without a preset runs by its command alone.
var agents = []*Agent{
	&auggie, &claude, &cline, &codex, &codexZed, &copilot, &cursor, &droid, &gemini, &goose, &kilo, &opencode, &qoder,
	&qwen, &qwenServe, &vibe,
}

// find returns the first agent that is one, or the zero value.
func find(is func(a *Agent) bool) Agent {
	if i := slices.IndexFunc(agents, is); i >= 0 {
		return *agents[i]
	}
	return Agent{}
}

// Reported returns the agent that reports a name, or the zero value.
func Reported(name string) Agent {
	return find(func(a *Agent) bool { return a.Reports == name && name != "" })
}

// Announced returns the agent without a name that announces one of the extensions, or the zero value.
func Announced(extensions map[string]json.RawMessage) Agent {
	return find(func(a *Agent) bool { return a.Announces != "" && extensions[a.Announces] != nil })
}

// ReadTools returns the names of the tools of all agents that only read, sorted. An agent is asked
// for its capabilities before it reports its name, so all agents have all of them.
func ReadTools() []string { return union(func(a *Agent) []string { return a.ReadTools }) }

// union returns the lists of all agents as one, sorted.
func union(list func(a *Agent) []string) []string {
	var all []string
	for _, a := range agents {
		all = append(all, list(a)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// LoginKey returns the environment variable of the key of a login method.
func LoginKey(method string) (variable string, ok bool) {
	for _, a := range agents {
		if variable, ok = a.LoginKeys[method]; ok {
			return variable, true
		}
	}
	return "", false
}

// ExitInText returns the exit status that the first line of the text of a failed command has, or
// nil.
func (a *Agent) ExitInText(text string) *int {
	line, _, _ := strings.Cut(text, "\n")
	digits, ok := strings.CutPrefix(line, a.ExitLine)
	code, err := strconv.Atoi(digits)
	if a.ExitLine == "" || !ok || err != nil {
		return nil
	}
	return &code
}
