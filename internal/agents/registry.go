package agents

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/pipeline"
	"agentctl/server/agent/script"
	"agentctl/server/agent/tool"
	"agentctl/server/policy"
	"agentctl/server/sandbox"
	"agentctl/server/session"
	"agentctl/server/session/confinement"
)

// ScriptScheme begins the name of an ad hoc script: "script:FILE".
const ScriptScheme = "script:"

// A Config says how to run a configured agent: a command that speaks the Agent Client Protocol, a
// script, a model, or a pipeline of other agents.
type Config struct {
	Command string            `json:"command"`         // program that speaks the Agent Client Protocol
	Args    []string          `json:"args"`            // of the command
	ACP     int               `json:"acp"`             // version of the Agent Client Protocol: 1, or 2, which is not final; default 1
	URL     string            `json:"url"`             // address of an agent elsewhere, instead of a command: https://… or wss://…
	Headers map[string]string `json:"headers"`         // of requests to the URL; ${NAME} in a value is a variable
	Env     map[string]string `json:"env"`             // variables, where the session's creator has none
	Nest    bool              `json:"nest_sub_agents"` // its sub-agents get no sessions of their own
	Script  string            `json:"script"`          // path of a script, instead of a command
	Sandbox protocol.Sandbox  `json:"sandbox"`         // of sessions that choose none; default the server's

	llm.Config

	Tools    tool.Config      `json:"tools"`    // further tools of an agent with a model
	Pipeline *pipeline.Config `json:"pipeline"` // of other agents, instead of a command
}

// A Registry opens agents by name. It does not change after construction.
type Registry struct {
	Configured map[string]Config
	MCP        map[string]MCPServer
	Providers  Providers
	Default    string // agent of sessions that name none; empty: every session must name one
	Changes    string // directory for records of files that tools changed; empty: no records
	Outputs    string // directory for long outputs of tools; empty: the one of temporary files

	Instructions string // the user's own file with instructions for agents with a model; empty: none

	SandboxDefault protocol.Sandbox // of sessions whose creator and agent choose none

	Sandbox *sandbox.Host // confines the processes of agents; nil: sessions with a sandbox are refused
}

var (
	_ session.Agents        = (*Registry)(nil)
	_ session.Conversations = (*Registry)(nil)
	_ session.Keys          = (*Registry)(nil)
	_ session.Policies      = (*Registry)(nil)
	_ confinement.Agents    = (*Registry)(nil)
	_ confinement.Elsewhere = (*Registry)(nil)
)

// Open opens the agent of a session. It fails with protocol.CodeNoAgent if no agent has that name.
func (r *Registry) Open(spec agent.Spec, host agent.Host) (_ agent.Agent, err error) {
	name := spec.Agent
	if name == "" {
		name = r.Default
	}
	if name == "" {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "no agent: the server has no default, pass --agent")
	}
	if spec.Box, err = r.box(name, &spec); err != nil {
		return nil, err
	}
	if file, ok := r.script(name); ok {
		return openScript(file, spec, host)
	}
	if r.isPipeline(name) {
		return r.openPipeline(name, spec, host)
	}
	if r.isModel(name) {
		return r.openModel(name, spec, host)
	}
	c, err := r.Find(name)
	if err != nil {
		return nil, err
	}
	c.MCP = r.mcpServers(name)
	return acp.New(c, spec, host)
}

// box returns the sandbox of a session with an agent, or nil. It is an error if there can be none.
func (r *Registry) box(name string, spec *agent.Spec) (*sandbox.Box, error) {
	if !spec.Sandbox.Confines() {
		return nil, nil
	}
	if r.RunsElsewhere(name) { // since the session was made
		return nil, protocol.Errorf(
			protocol.CodeUnsupported, "no sandbox confines %s: it runs on another machine", name,
		)
	}
	p, _ := r.FindPreset(name)
	o := sandbox.BoxOptions{CWD: spec.CWD, State: p.State, Dir: spec.SandboxDir}
	if c, err := r.Find(name); err == nil {
		o.Env = c.Variables(spec)
	}
	box, err := r.Sandbox.Box(spec.Sandbox, o)
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	return box, nil
}

// Find returns how to run an agent that speaks the Agent Client Protocol, without MCP servers. The
// error has the code no_agent, or unsupported for a script.
func (r *Registry) Find(name string) (acp.Config, error) {
	if _, ok := r.script(name); ok {
		return acp.Config{}, protocol.Errorf(protocol.CodeUnsupported,
			"%s is a script: it has no login and stores no sessions", name)
	}
	if err := r.notPipeline(name); err != nil {
		return acp.Config{}, err
	}
	if r.isModel(name) {
		return acp.Config{}, protocol.Errorf(protocol.CodeUnsupported,
			"%s runs in the server: it has only the key of its provider and stores no sessions", name)
	}
	c, ok := r.Configured[name]
	if !ok {
		return acp.Find(name)
	}
	if c.URL != "" {
		return c.remote(name), nil
	}
	p, _ := catalog.PresetOf(c.Command)
	return acp.Config{
		Name: name, Command: append([]string{c.Command}, c.Args...), Env: c.Env, Install: p.Install, Login: p.Login,
		Defaults: p.Defaults, Version: c.ACP, NestSubAgents: c.Nest,
	}, nil
}

// HasConversations implements session.Conversations.
func (r *Registry) HasConversations(agent string) bool {
	_, err := r.Find(cmp.Or(agent, r.Default))
	return err == nil
}

// Conversation implements session.Conversations. It is the program of the agent and its own id of
// the conversation.
func (r *Registry) Conversation(spec *agent.Spec) string {
	c, err := r.Find(cmp.Or(spec.Agent, r.Default))
	if err != nil { // the state of other agents is not decoded at each change
		return ""
	}
	id := cmp.Or(acp.SavedSession(spec.State), spec.Load)
	if id == "" {
		return ""
	}
	if c.Remote != nil {
		return c.Remote.URL + " " + id
	}
	return filepath.Base(c.Command[0]) + " " + id
}

// Policy implements session.Policies.
func (r *Registry) Policy(agent string) policy.Policy {
	return r.Configured[cmp.Or(agent, r.Default)].Policy
}

// FindPreset returns the preset whose program an agent runs.
func (r *Registry) FindPreset(name string) (catalog.Preset, bool) {
	if c, ok := r.Configured[name]; ok {
		return catalog.PresetOf(c.Command)
	}
	return acp.FindPreset(name)
}

// script returns the file of an agent that is a script.
func (r *Registry) script(name string) (file string, ok bool) {
	if c, ok := r.Configured[name]; ok {
		return c.Script, c.Script != ""
	}
	return strings.CutPrefix(name, ScriptScheme)
}

func openScript(file string, spec agent.Spec, host agent.Host) (agent.Agent, error) {
	if spec.Load != "" {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "a script stores no sessions to continue")
	}
	if isInternal(file, spec.OwnDirectories) {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "%s is a file of agentctl's server, not a script", file)
	}
	s, err := script.Load(file)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "%s", err)
	}
	return s.Open(spec, host)
}

// isInternal is policy.Internal of a path that may be relative and have links.
func isInternal(file string, own []string) bool {
	real, err := filepath.EvalSymlinks(file)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return err == nil && policy.Internal(real, own)
}

// Check returns an error if no agent can have that name. It does not start the agent.
func (r *Registry) Check(name string) error {
	if _, ok := r.Configured[name]; ok || strings.HasPrefix(name, ScriptScheme) || name == LLM {
		return nil
	}
	if text, ok := strings.CutPrefix(name, LLMScheme); ok {
		_, err := r.Providers.Parse(text)
		return err
	}
	if _, err := acp.Find(name); err != nil {
		return fmt.Errorf("%w: want one of %s, llm:MODEL, acp:COMMAND or script:FILE",
			err, strings.Join(r.Names(), ", "))
	}
	return nil
}

// Names lists the configured agents, then the presets, then the agent LLM.
func (r *Registry) Names() []string {
	names := slices.Sorted(maps.Keys(r.Configured))
	for _, p := range catalog.Presets() {
		if _, ok := r.Configured[p.Name]; !ok {
			names = append(names, p.Name)
		}
	}
	if _, ok := r.Configured[LLM]; !ok {
		names = append(names, LLM)
	}
	return names
}

// CheckConfigured returns the first invalid value of the configured agents, with its key.
func (r *Registry) CheckConfigured() error {
	for _, name := range slices.Sorted(maps.Keys(r.Configured)) {
		a := r.Configured[name]
		n := 0
		for _, text := range []string{a.Command, a.URL, a.Script, a.Model} {
			if text != "" {
				n++
			}
		}
		if a.Pipeline != nil {
			n++
		}
		switch {
		case name == "" || n != 1:
			return fmt.Errorf("agents.%s: want one of command, url, script, model and pipeline", name)
		case a.Command == "" && len(a.Args) > 0:
			return fmt.Errorf("agents.%s: only a command takes args", name)
		case a.ACP != 0 && (a.Command == "" && a.URL == "" || a.ACP != 1 && a.ACP != 2):
			return fmt.Errorf("agents.%s.acp: want 1 or 2, of a command or a url", name)
		case a.URL == "" && a.Headers != nil:
			return fmt.Errorf("agents.%s.headers: only a url takes headers", name)
		case a.URL != "" && a.Sandbox != protocol.Sandbox{}:
			return fmt.Errorf("agents.%s.sandbox: no sandbox confines an agent on another machine", name)
		case a.Model == "" && !a.plain():
			return fmt.Errorf(
				"agents.%s: models, effort, prompt, instructions, budget, context, tasks and tools need a model", name)
		}
		if err := a.checkRemote(); err != nil {
			return fmt.Errorf("agents.%s.%w", name, err)
		}
		if a.Pipeline != nil {
			if err := r.checkPipeline(a.Pipeline); err != nil {
				return fmt.Errorf("agents.%s.pipeline: %w", name, err)
			}
		}
		check := r.checkModel
		if a.Model == "" {
			check = (*llm.Config).Check
		}
		if err := check(&a.Config); err != nil {
			return fmt.Errorf("agents.%s: %w", name, err)
		}
	}
	return nil
}

// plain reports whether the configuration has no value of an agent that requests a model.
func (c *Config) plain() bool {
	return c.Models == nil && c.Effort == "" && c.Prompt+c.Instructions == "" && c.Budget == llm.Budget{} &&
		c.Context == llm.ContextConfig{} && c.Tools == tool.Config{} && c.Tasks == llm.TaskConfig{}
}
