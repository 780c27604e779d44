package acp

// usageReports is how an agent counts the usage in a prompt's result. The schema of ACP states that
// it is cumulative; most agents report each turn separately.
type usageReports int

const (
	usageUnknown    usageReports = iota // decided by the agent's reports, see state.countUsage
	usagePerTurn                        // the tokens of the turn
	usageCumulative                     // all tokens since the start of the process
)

// knownAgent describes quirks of an agent that its messages do not show.
type knownAgent struct {
	usage    usageReports
	markdown bool   // text in the content of tool calls is Markdown; output is in fenced blocks
	failure  string // begins the message about a failure of the model, in a turn without usage; "": none does
	exitLine string // begins the output of a failed command, the exit status follows it; "": nothing does

	// titleIsCommand: the agent sends no arguments with a request to run a command; its title is
	// the whole command.
	titleIsCommand bool
}

// knownAgents holds agents by their own name.
var knownAgents = map[string]knownAgent{
	"@agentclientprotocol/claude-agent-acp": {
		usage: usagePerTurn, markdown: true, exitLine: "Exit code ",
	},
	"@agentclientprotocol/codex-acp": {usage: usagePerTurn},
	"Copilot":                        {usage: usageCumulative, failure: "Error: "},
	"OpenCode":                       {usage: usagePerTurn},
	"gemini-cli":                     {usage: usagePerTurn, titleIsCommand: true},
	"qwen-code":                      {usage: usagePerTurn},
}

// readTools are the names of the tools of these agents that only read. An agent is asked for its
// capabilities before it reports its name, so all agents have all of them.
var readTools = []string{
	"Grep", "LS", "Read", "grep", "grep_search", "list", "list_directory", "ls", "read", "read_file",
	"search_file_content",
}

// known returns the quirks of the agent.
func (c *client) known() knownAgent {
	if c.agentInfo.Agent == nil {
		return knownAgent{}
	}
	return knownAgents[c.agentInfo.Agent.Name]
}
