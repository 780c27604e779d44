package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
)

// versionTwo is version 2 of the protocol, which is not final.
const versionTwo = 2

// wireV2 is version 2 of the protocol. Its prompts are answered when the agent has inserted the
// message, and the turn ends with a state; what updates say is to be joined with earlier ones by id.
type wireV2 struct {
	received receivedV2 // owned by the goroutine that reads from the agent

	mu      sync.Mutex
	running *promptV2 // the running one, or nil
}

// A promptV2 waits for the end of its turn.
type promptV2 struct {
	accepted bool // the agent has inserted the message: the next idle state ends its turn
	ended    chan promptEndV2
}

// A promptEndV2 is an idle state.
type promptEndV2 struct {
	promptResult
	Error *rpc.Error `json:"error"`
}

func newWireV2() *wireV2 { return &wireV2{received: newReceivedV2()} }

func (w *wireV2) decodesLines() bool { return false }

// The parameters of requests that differ from version 1.
type (
	initializeParamsV2 struct {
		Version      int            `json:"protocolVersion"`
		Info         implementation `json:"info"`
		Capabilities capabilitiesV2 `json:"capabilities"`
	}
	capabilitiesV2 struct {
		Elicitation *elicitationCapabilities `json:"elicitation,omitempty"`
		Auth        struct {
			Terminal *struct{} `json:"terminal,omitempty"`
		} `json:"auth"`
	}
	sessionParamsV2 struct {
		sessionParams

		Replay *typedV2 `json:"replayFrom,omitempty"`
	}
	mcpCommandV2 struct {
		Type string `json:"type"`
		mcpCommand
	}
	typedV2 struct {
		Type string `json:"type"`
	}
)

func (w *wireV2) request(method string, params any) (string, any) {
	switch p := params.(type) {
	case initializeParams:
		next := initializeParamsV2{Version: p.Version, Info: p.Client}
		next.Capabilities.Elicitation = p.Capabilities.Elicitation
		if p.Capabilities.Auth.Terminal {
			next.Capabilities.Auth.Terminal = &struct{}{}
		}
		return method, next
	case sessionParams:
		next := sessionParamsV2{sessionParams: p}
		next.Servers = make([]any, len(p.Servers))
		for i, s := range p.Servers {
			if command, ok := s.(mcpCommand); ok {
				s = mcpCommandV2{"stdio", command}
			}
			next.Servers[i] = s
		}
		if method == "session/load" {
			method, next.Replay = "session/resume", &typedV2{"start"}
		}
		return method, next
	case setConfigParams:
		p.Type = cmp.Or(p.Type, "id")
		return method, p
	case authenticateParams:
		return "auth/login", p
	}
	return method, params
}

// The results that differ from version 1.
type (
	initializeResultV2 struct {
		Version      int             `json:"protocolVersion"`
		Info         *implementation `json:"info"`
		Capabilities struct {
			Session struct {
				Prompt struct {
					Image    *struct{} `json:"image"`
					Audio    *struct{} `json:"audio"`
					Embedded *struct{} `json:"embeddedContext"`
				} `json:"prompt"`
				MCP struct {
					HTTP *struct{} `json:"http"`
				} `json:"mcp"`
				Fork *struct{} `json:"fork"`
			} `json:"session"`
		} `json:"capabilities"`
		AuthMethods []struct {
			authMethod

			ID string `json:"methodId"`
		} `json:"authMethods"`
		Meta initializeMeta `json:"_meta"`
	}
	sessionResultV2 struct {
		Session  string             `json:"sessionId"`
		Config   []configOptionV2   `json:"configOptions"`
		Commands []availableCommand `json:"availableCommands"`
	}
	configOptionV2 struct {
		configOption

		ID string `json:"configId"`
	}
)

func (w *wireV2) result(raw json.RawMessage, v any) error {
	switch v := v.(type) {
	case *initializeResult:
		var r initializeResultV2
		err := decode(raw, &r)
		*v = r.asV1()
		return err
	case *sessionResult:
		var r sessionResultV2
		err := decode(raw, &r)
		v.Session = cmp.Or(r.Session, v.Session)
		v.Config, v.Commands = configAsV1(r.Config), r.Commands
		return err
	}
	return decode(raw, v)
}

// asV1 returns the result in the form of version 1. Every agent of version 2 has lists of sessions,
// and resumes sessions with and without their conversation.
func (r *initializeResultV2) asV1() (v initializeResult) {
	s := &r.Capabilities.Session
	v.Version, v.Agent, v.Meta = r.Version, r.Info, r.Meta
	c := &v.Capabilities
	c.LoadSession, c.Session.Resume, c.Session.List, c.Session.Fork = true, &struct{}{}, &struct{}{}, s.Fork
	c.MCP.HTTP = s.MCP.HTTP != nil
	c.Prompt.Image, c.Prompt.Audio, c.Prompt.Embedded = s.Prompt.Image != nil, s.Prompt.Audio != nil, s.Prompt.Embedded != nil
	for _, m := range r.AuthMethods {
		m.authMethod.ID = m.ID
		v.AuthMethods = append(v.AuthMethods, m.authMethod)
	}
	return v
}

func configAsV1(list []configOptionV2) (v []configOption) {
	for _, o := range list {
		o.configOption.ID = o.ID
		v = append(v, o.configOption)
	}
	return v
}

func (w *wireV2) prompt(ctx context.Context, conn *rpc.Conn, p promptParams) (promptResult, error) {
	running := &promptV2{ended: make(chan promptEndV2, 1)}
	w.setPrompt(running)
	defer w.setPrompt(nil)
	if _, err := conn.CallThen(ctx, "session/prompt", p, w.acceptPrompt); err != nil {
		return promptResult{}, err
	}
	var end promptEndV2
	select {
	case end = <-running.ended:
	case <-ctx.Done():
		return promptResult{}, ctx.Err()
	case <-conn.Done():
		select {
		case end = <-running.ended: // it was the last message read
		default:
			return promptResult{}, fmt.Errorf("session/prompt: %w", rpc.ErrClosed)
		}
	}
	if end.Error != nil {
		return promptResult{}, fmt.Errorf("session/prompt: %w", end.Error)
	}
	return end.promptResult, nil
}

func (w *wireV2) setPrompt(p *promptV2) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = p
}

// acceptPrompt notes that the agent has inserted the message of the prompt. An idle state before
// that ended other work.
func (w *wireV2) acceptPrompt(json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running != nil {
		w.running.accepted = true
	}
}

// prompting reports whether a prompt runs. The agent then repeats its message.
func (w *wireV2) prompting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running != nil
}

// applyState ends the prompt at an idle state.
func (w *wireV2) applyState(raw json.RawMessage) bool {
	var state struct {
		State string `json:"state"`
	}
	if decode(raw, &state) != nil {
		return false
	}
	if state.State != "idle" {
		return true
	}
	w.received = newReceivedV2()
	var end promptEndV2
	if decode(raw, &end) != nil {
		return false
	}
	switch {
	case end.Reason == "error" && end.Error == nil:
		end.Error = &rpc.Error{Message: "the agent reports an error without a message"}
	case end.Reason == "":
		end.Reason = "end_turn"
	}
	if end.Reason != "error" {
		end.Error = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running != nil && w.running.accepted {
		w.running.ended <- end
		w.running = nil
	}
	return true
}

// permission decodes a request. Its subject is a call, a command, or of a kind that is not known:
// that is shown as arguments.
func (w *wireV2) permission(raw json.RawMessage) (p permissionParams, err error) {
	var request struct {
		Session     string             `json:"sessionId"`
		Title       string             `json:"title"`
		Description string             `json:"description"`
		Subject     json.RawMessage    `json:"subject"`
		Options     []permissionOption `json:"options"`
	}
	var subject struct {
		typedV2

		Tool    toolCall `json:"toolCall"`
		Command string   `json:"command"`
		CWD     string   `json:"cwd"`
		Call    string   `json:"toolCallId"`
	}
	if err = decode(raw, &request); err == nil {
		err = decode(request.Subject, &subject)
	}
	p.Session, p.Options, p.Description = request.Session, request.Options, request.Description
	switch {
	case err != nil:
		return p, err
	case !exactNames(raw) || len(request.Subject) > 0 && !exactNames(request.Subject):
		return p, errInexactNames
	case subject.Type == "tool_call":
		p.Tool = subject.Tool
		convertContentV2(&p.Tool)
	case subject.Type == "command":
		p.Tool.ID, p.Tool.ToolKind = subject.Call, protocol.ToolExecute
		p.Tool.Input = protocol.MustEncode(map[string]string{"command": subject.Command, "cwd": subject.CWD})
	case present(request.Subject):
		p.Tool.Input = request.Subject
	}
	p.Tool.Title = cmp.Or(p.Tool.Title, request.Title)
	return p, nil
}
