package fakeacp

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Environment variables: the traits of the agent and its directory.
const (
	EnvVar    = "FAKEACP"
	DirEnvVar = "FAKEACP_DIR"
)

// Enabled reports whether this process is to run the agent.
func Enabled() bool { return os.Getenv(EnvVar) != "" }

// Main runs the agent over standard input and output and returns the exit status.
func Main() int {
	a := newAgent(strconv.Itoa(os.Getpid()), os.Getenv(EnvVar), os.Getenv(DirEnvVar), os.Stdout)
	if a.has("child") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		select {}
	}
	if a.has("stubborn") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	if a.has("noise") {
		a.writeLine("Loaded cached credentials.")
		a.writeLine(`{"level":"info","msg":"starting"}`)
	}
	a.serve(os.Stdin)
	if a.has("stubborn") {
		select {}
	}
	return 0
}

// Connect runs the agent in this process until the connection is closed, with the traits and the directory of saved
// sessions. It does not do what a process does: steps such as exit and deaf, traits such as stubborn.
func Connect(traits, dir string) (io.ReadWriteCloser, error) {
	in, toAgent, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromAgent, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), toAgent.Close())
	}
	c := &connection{Reader: fromAgent, Writer: toAgent, ended: make(chan struct{})}
	c.close = func() error { return errors.Join(toAgent.Close(), fromAgent.Close()) }
	go func() {
		defer close(c.ended)
		a := newAgent(rand.Text(), traits, dir, out)
		a.serve(in)
		close(a.done)
		a.running.Wait()
		_, _ = in.Close(), out.Close()
	}()
	return c, nil
}

// connection is the client's end of a connection to an agent of this process.
type connection struct {
	io.Reader
	io.Writer
	close func() error
	ended chan struct{} // closed when the agent has ended
}

// Close ends the agent.
func (c *connection) Close() error {
	err := c.close()
	<-c.ended
	return err
}

type obj = map[string]any

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// agent is a running agent. The goroutine of serve owns sessions and loggedIn.
type agent struct {
	id       string // in the ids of new sessions
	traits   []string
	dir      string
	sessions map[string]*session
	loggedIn bool
	running  sync.WaitGroup // of prompts
	done     chan struct{}  // closed at the end of the input, if it is no process

	mu          sync.Mutex
	out         *bufio.Writer
	lastRequest int
	pending     map[string]chan message // calls waiting for a response, by id
	parents     map[string]*session     // by the id of a sub-agent
}

// session is an ACP session. Its running prompt owns all fields but cancel. One prompt runs at a
// time.
type session struct {
	id      string
	cwd     string
	servers json.RawMessage // MCP servers
	prompts []string
	blocks  []json.RawMessage // of the running prompt
	options map[string]string
	cancel  chan struct{} // capacity 1; signals session/cancel
	steers  chan message  // requests for steering that no step has answered
}

func newAgent(id, traits, dir string, out io.Writer) *agent {
	return &agent{
		id: id, traits: strings.FieldsFunc(traits, func(r rune) bool { return r == ',' || r == ' ' }), dir: dir,
		out: bufio.NewWriter(out), done: make(chan struct{}), pending: map[string]chan message{},
		sessions: map[string]*session{}, parents: map[string]*session{},
	}
}

func (a *agent) has(trait string) bool { return slices.Contains(a.traits, trait) }

func (a *agent) writeLine(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.out.WriteString(s + "\n")
	_ = a.out.Flush()
}

func (a *agent) send(m obj) {
	m["jsonrpc"] = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		panic("fakeacp: " + err.Error())
	}
	a.writeLine(string(b))
}

func (a *agent) reply(id json.RawMessage, result any) { a.send(obj{"id": id, "result": result}) }

func (a *agent) refuse(id json.RawMessage, code int, text string) {
	a.send(obj{"id": id, "error": rpcError{Code: code, Message: text}})
}

// request sends a request, calls during and returns the response.
func (a *agent) request(method string, params any, during func()) message {
	answer := make(chan message, 1)
	a.mu.Lock()
	id := fmt.Sprintf("ask-%d", a.lastRequest)
	a.lastRequest++
	a.pending[id] = answer
	a.mu.Unlock()
	a.send(obj{"id": id, "method": method, "params": params})
	during()
	select {
	case m := <-answer:
		return m
	case <-a.done:
		return message{}
	}
}

func (a *agent) serve(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		b, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(b, &m) != nil {
			continue
		}
		if m.Method == "" {
			var id string
			_ = json.Unmarshal(m.ID, &id)
			a.mu.Lock()
			answer := a.pending[id]
			delete(a.pending, id)
			a.mu.Unlock()
			if answer != nil {
				answer <- m
			}
			continue
		}
		a.dispatch(m)
	}
}

// openMethods need no open session.
var openMethods = []string{"session/new", "session/load", "session/resume", "session/fork", "session/list"}

func (a *agent) dispatch(m message) {
	var p struct {
		SessionID, ModeID, ModelID, ConfigID string
		Value                                any
		Prompt                               []json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &p)
	s := a.sessions[p.SessionID]
	if s == nil && strings.HasPrefix(m.Method, "session/") && !slices.Contains(openMethods, m.Method) {
		if m.ID != nil {
			a.refuse(m.ID, -32002, "no such session")
		} else if m.Method == "session/cancel" {
			a.cancelSubAgent(p.SessionID)
		}
		return
	}
	switch m.Method {
	case "initialize":
		a.initialize(m)
	case "authenticate":
		a.loggedIn = true
		a.reply(m.ID, obj{})
	case "session/new":
		a.newSession(m)
	case "session/list":
		a.listSessions(m)
	case "session/load", "session/resume", "session/fork":
		a.restoreSession(m, p.SessionID)
	case "session/set_mode":
		s.options["mode"] = p.ModeID
		a.reply(m.ID, obj{})
	case "session/set_model":
		s.options["model"] = p.ModelID
		a.reply(m.ID, obj{})
	case "session/set_config_option":
		s.options[p.ConfigID] = fmt.Sprint(p.Value)
		a.reply(m.ID, obj{"configOptions": a.configOptions(s)})
	case "session/cancel":
		select {
		case s.cancel <- struct{}{}:
		default:
		}
	case "_session/steering":
		a.steer(s, m)
	case "session/prompt":
		var text strings.Builder
		for _, raw := range p.Prompt {
			var block struct{ Text string }
			_ = json.Unmarshal(raw, &block)
			text.WriteString(block.Text)
		}
		s.blocks = p.Prompt
		select { // drop a cancel of an earlier prompt
		case <-s.cancel:
		default:
		}
		a.running.Go(func() { a.runPrompt(m.ID, s, text.String()) })
	default:
		if m.ID != nil {
			a.refuse(m.ID, -32601, "no such method: "+m.Method)
		}
	}
}

// cancelSubAgent reports that a sub-agent has stopped, if it is known.
func (a *agent) cancelSubAgent(id string) {
	a.mu.Lock()
	parent := a.parents[id]
	a.mu.Unlock()
	if parent != nil {
		state := obj{"state": "idle", "stopReason": "cancelled"}
		a.sendUpdate(parent, obj{"sessionUpdate": "subagent_update", "sessionId": id, "state": state})
	}
}

func (a *agent) initialize(m message) {
	if a.has("mute") {
		return
	}
	version := 1
	if a.has("v2") {
		version = 2
	}
	offers := obj{}
	for _, trait := range []string{"resume", "fork", "list"} {
		if a.has(trait) {
			offers[trait] = obj{}
		}
	}
	a.reply(m.ID, obj{
		"protocolVersion": version,
		"agentInfo":       obj{"name": a.name(), "title": "Fake Agent", "version": "1.2.3"},
		"agentCapabilities": obj{
			"loadSession": a.has("load"), "sessionCapabilities": offers,
			"promptCapabilities": obj{"image": !a.has("blind"), "embeddedContext": a.has("embed")},
			"mcpCapabilities":    obj{"http": a.has("http"), "sse": a.has("sse")},
		},
		"_meta":       obj{"steering": obj{"supported": a.has("steering")}},
		"authMethods": a.authMethods(),
	})
}

func (a *agent) authMethods() []obj {
	methods := []obj{
		{"id": "login", "name": "Log in", "description": "Run `fakeacp login`"},
		{"id": "key", "name": "Key", "type": "env_var", "vars": []obj{{"name": "FAKE_KEY"}}},
		{"id": "gemini-api-key", "name": "API key"},
	}
	if a.has("terminal") {
		methods = append(methods, obj{
			"id": "console", "name": "Console", "type": "terminal", "args": []string{"--login"}, "env": obj{
				"LOGIN_BY": "console",
			},
		})
	}
	return methods
}

func (a *agent) newSession(m message) {
	if a.has("auth") && !a.loggedIn {
		a.refuse(m.ID, -32000, "Authentication required")
		return
	}
	if a.has("loggedout") && os.Getenv("FAKE_KEY") == "" {
		a.send(obj{"method": "_auth/status_update", "params": obj{"authStatus": obj{"kind": "none"}}})
	}
	s := openSession(m, fmt.Sprintf("s-%s-%d", a.id, len(a.sessions)+1))
	a.sessions[s.id] = s
	result := a.sessionOptions(s)
	result["sessionId"] = s.id
	a.reply(m.ID, result)
	a.sendUpdate(s, obj{"sessionUpdate": "available_commands_update", "availableCommands": []obj{
		{"name": "init", "description": "writes a file", "input": obj{"hint": "which"}},
	}})
}

// openSession returns a session that a request opens.
func openSession(m message, id string) *session {
	var p struct {
		CWD        string
		MCPServers json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &p)
	return &session{
		id: id, cwd: p.CWD, servers: p.MCPServers, options: map[string]string{}, cancel: make(chan struct{}, 1),
		steers: make(chan message, 16),
	}
}

// restoreSession restores a session from its file. A load replays its prompts, a resume does not.
func (a *agent) restoreSession(m message, id string) {
	load := m.Method == "session/load"
	if !a.has(strings.TrimPrefix(m.Method, "session/")) {
		a.refuse(m.ID, -32601, "no such method: "+m.Method)
		return
	}
	if a.has("slow") && !a.triedTwice(id) {
		e := rpcError{-32603, "Internal error", obj{"details": "Invalid session identifier"}}
		a.send(obj{"id": m.ID, "error": e})
		return
	}
	saved, err := readSaved(a.sessionFile(id))
	if err != nil {
		a.refuse(m.ID, -32002, "no such session")
		return
	}
	s := openSession(m, id)
	s.prompts = saved.Prompts
	if m.Method == "session/fork" {
		s.id += "-fork"
	}
	a.sessions[s.id] = s
	late := a.has("late")
	if load && !late {
		a.replayPrompts(s)
	}
	result := a.sessionOptions(s)
	if m.Method == "session/fork" {
		result["sessionId"] = s.id
	}
	a.reply(m.ID, result)
	if load && late {
		a.replayPrompts(s)
	}
}

// triedTwice reports whether the session was requested twice before.
func (a *agent) triedTwice(id string) bool {
	file := a.sessionFile(id) + ".tries"
	tries, _ := os.ReadFile(file)
	_ = os.WriteFile(file, append(tries, '.'), 0o600)
	return len(tries) >= 2
}

func (a *agent) replayPrompts(s *session) {
	for _, p := range s.prompts {
		a.sendUpdate(s, obj{"sessionUpdate": "user_message_chunk", "content": obj{"type": "text", "text": p}})
		a.sendChunk(s, "agent_message_chunk", "replayed answer")
	}
}

func (a *agent) sessionOptions(s *session) obj {
	result := obj{}
	if a.has("modes") {
		result["modes"] = obj{"currentModeId": "ask", "availableModes": []obj{
			{"id": "ask", "name": "Ask", "description": "asks"}, {"id": "yolo", "name": "Yolo"},
		}}
	}
	if a.has("auto") {
		result["modes"] = obj{"currentModeId": cmp.Or(s.options["mode"], "auto"), "availableModes": []obj{
			{"id": "default", "name": "Manual"}, {"id": "auto", "name": "Auto"},
		}}
	}
	if a.has("models") {
		result["models"] = obj{"currentModelId": "small", "availableModels": []obj{
			{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"},
		}}
	}
	if a.has("config") {
		result["configOptions"] = a.configOptions(s)
	}
	return result
}

func (a *agent) configOptions(s *session) []obj {
	value := s.options["effort"]
	if value == "" {
		value = "low"
	}
	return []obj{
		{"id": "effort", "name": "Effort", "type": "select", "currentValue": value, "options": []obj{
			{"group": "all", "name": "All", "options": []obj{
				{"value": "low", "name": "Low"}, {"value": "high", "name": "High", "description": "slow"},
			}},
		}},
		{"id": "brave", "name": "Brave", "type": "boolean", "currentValue": s.options["brave"] == "true"},
	}
}

func (a *agent) sendUpdate(s *session, u obj) {
	a.send(obj{"method": "session/update", "params": obj{"sessionId": s.id, "update": u}})
}

func (a *agent) sendChunk(s *session, kind, text string) {
	a.sendUpdate(s, obj{"sessionUpdate": kind, "content": obj{"type": "text", "text": text}})
}
