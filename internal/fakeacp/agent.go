package fakeacp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Variable and DirEnvVar are the names of the environment variables that make and place the agent.
const (
	EnvVar    = "FAKEACP"
	DirEnvVar = "FAKEACP_DIR"
)

// Enabled reports whether this process is to be the agent.
func Enabled() bool { return os.Getenv(EnvVar) != "" }

// Main is the agent's program: it speaks over standard input and output and returns the exit status.
func Main() int {
	a := &agent{
		traits:   strings.FieldsFunc(os.Getenv(EnvVar), func(r rune) bool { return r == ',' || r == ' ' }),
		dir:      os.Getenv(DirEnvVar),
		out:      bufio.NewWriter(os.Stdout),
		waiting:  map[string]chan message{},
		sessions: map[string]*session{},
	}
	if a.is("child") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		select {}
	}
	if a.is("stubborn") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	if a.is("noise") {
		a.line("Loaded cached credentials.")
		a.line(`{"level":"info","msg":"starting"}`)
	}
	a.serve(os.Stdin)
	if a.is("stubborn") {
		select {}
	}
	return 0
}

type obj = map[string]any

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *fault          `json:"error"`
}

type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// agent's sessions and login are owned by the goroutine of serve.
type agent struct {
	traits   []string
	dir      string
	sessions map[string]*session
	loggedIn bool

	mu      sync.Mutex
	out     *bufio.Writer
	asked   int
	waiting map[string]chan message // answers to our requests, by id
}

// session is one conversation. Its fields but cancel are of whoever runs its prompt, one at a time.
type session struct {
	id      string
	prompts []string
	options map[string]string
	cancel  chan struct{} // one place: session/cancel
}

func (a *agent) is(trait string) bool { return slices.Contains(a.traits, trait) }

func (a *agent) line(s string) {
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
	a.line(string(b))
}

func (a *agent) reply(id json.RawMessage, result any) { a.send(obj{"id": id, "result": result}) }

func (a *agent) refuse(id json.RawMessage, code int, text string) {
	a.send(obj{"id": id, "error": fault{code, text}})
}

// ask sends a request of ours, does something and waits for the answer.
func (a *agent) ask(method string, params any, meanwhile func()) message {
	answer := make(chan message, 1)
	a.mu.Lock()
	id := fmt.Sprintf("ask-%d", a.asked)
	a.asked++
	a.waiting[id] = answer
	a.mu.Unlock()
	a.send(obj{"id": id, "method": method, "params": params})
	meanwhile()
	return <-answer
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
			answer := a.waiting[id]
			delete(a.waiting, id)
			a.mu.Unlock()
			if answer != nil {
				answer <- m
			}
			continue
		}
		a.take(m)
	}
}

func (a *agent) take(m message) {
	var p struct {
		SessionID, ModeID, ModelID, ConfigID string
		Value                                any
		Prompt                               []struct{ Text string }
	}
	_ = json.Unmarshal(m.Params, &p)
	s := a.sessions[p.SessionID]
	if s == nil && strings.HasPrefix(m.Method, "session/") && !slices.Contains([]string{"session/new", "session/load", "session/resume", "session/fork"}, m.Method) {
		if m.ID != nil {
			a.refuse(m.ID, -32002, "no such session")
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
		a.open(m)
	case "session/load", "session/resume", "session/fork":
		a.reopen(m, p.SessionID)
	case "session/set_mode":
		s.options["mode"] = p.ModeID
		a.reply(m.ID, obj{})
	case "session/set_model":
		s.options["model"] = p.ModelID
		a.reply(m.ID, obj{})
	case "session/set_config_option":
		s.options[p.ConfigID] = fmt.Sprint(p.Value)
		a.reply(m.ID, obj{"configOptions": a.config(s)})
	case "session/cancel":
		select {
		case s.cancel <- struct{}{}:
		default:
		}
	case "session/prompt":
		var text strings.Builder
		for _, part := range p.Prompt {
			text.WriteString(part.Text)
		}
		select { // a cancel of an earlier prompt is over
		case <-s.cancel:
		default:
		}
		go a.prompt(m.ID, s, text.String())
	default:
		if m.ID != nil {
			a.refuse(m.ID, -32601, "no such method: "+m.Method)
		}
	}
}

func (a *agent) initialize(m message) {
	if a.is("mute") {
		return
	}
	version := 1
	if a.is("v2") {
		version = 2
	}
	offers := obj{}
	for _, trait := range []string{"resume", "fork"} {
		if a.is(trait) {
			offers[trait] = obj{}
		}
	}
	a.reply(m.ID, obj{
		"protocolVersion": version,
		"agentInfo":       obj{"name": "fakeacp", "title": "Fake Agent", "version": "1.2.3"},
		"agentCapabilities": obj{
			"loadSession": a.is("load"), "sessionCapabilities": offers, "promptCapabilities": obj{"image": true},
		},
		"authMethods": []obj{
			{"id": "login", "name": "Log in", "description": "Run `fakeacp login`"},
			{"id": "key", "name": "Key", "type": "env_var", "vars": []obj{{"name": "FAKE_KEY"}}},
			{"id": "gemini-api-key", "name": "API key"},
		},
	})
}

func (a *agent) open(m message) {
	if a.is("auth") && !a.loggedIn {
		a.refuse(m.ID, -32000, "Authentication required")
		return
	}
	s := &session{id: fmt.Sprintf("s-%d-%d", os.Getpid(), len(a.sessions)+1), options: map[string]string{}, cancel: make(chan struct{}, 1)}
	a.sessions[s.id] = s
	result := a.options(s)
	result["sessionId"] = s.id
	a.reply(m.ID, result)
	a.update(s, obj{"sessionUpdate": "available_commands_update", "availableCommands": []obj{
		{"name": "init", "description": "writes a file", "input": obj{"hint": "which"}},
	}})
}

// reopen brings a session back from its file. A load replays what was said in it, a resume does not.
func (a *agent) reopen(m message, id string) {
	load := m.Method == "session/load"
	if !a.is(strings.TrimPrefix(m.Method, "session/")) {
		a.refuse(m.ID, -32601, "no such method: "+m.Method)
		return
	}
	b, err := os.ReadFile(a.file(id))
	if err != nil {
		a.refuse(m.ID, -32002, "no such session")
		return
	}
	s := &session{id: id, options: map[string]string{}, cancel: make(chan struct{}, 1)}
	_ = json.Unmarshal(b, &s.prompts)
	if m.Method == "session/fork" {
		s.id += "-fork"
	}
	a.sessions[s.id] = s
	late := a.is("late")
	if load && !late {
		a.replay(s)
	}
	result := a.options(s)
	if m.Method == "session/fork" {
		result["sessionId"] = s.id
	}
	a.reply(m.ID, result)
	if load && late {
		a.replay(s)
	}
}

func (a *agent) replay(s *session) {
	for _, p := range s.prompts {
		a.update(s, obj{"sessionUpdate": "user_message_chunk", "content": obj{"type": "text", "text": p}})
		a.chunk(s, "agent_message_chunk", "replayed answer")
	}
}

func (a *agent) file(id string) string { return filepath.Join(a.dir, filepath.Base(id)+".json") }

func (a *agent) keep(s *session) {
	if a.dir == "" {
		return
	}
	b, _ := json.Marshal(s.prompts)
	_ = os.WriteFile(a.file(s.id), b, 0o600)
}

func (a *agent) options(s *session) obj {
	result := obj{}
	if a.is("modes") {
		result["modes"] = obj{"currentModeId": "ask", "availableModes": []obj{{"id": "ask", "name": "Ask", "description": "asks"}, {"id": "yolo", "name": "Yolo"}}}
	}
	if a.is("models") {
		result["models"] = obj{"currentModelId": "small", "availableModels": []obj{{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}}}
	}
	if a.is("config") {
		result["configOptions"] = a.config(s)
	}
	return result
}

func (a *agent) config(s *session) []obj {
	value := s.options["effort"]
	if value == "" {
		value = "low"
	}
	return []obj{
		{"id": "effort", "name": "Effort", "type": "select", "currentValue": value, "options": []obj{
			{"group": "all", "name": "All", "options": []obj{{"value": "low", "name": "Low"}, {"value": "high", "name": "High", "description": "slow"}}},
		}},
		{"id": "brave", "name": "Brave", "type": "boolean", "currentValue": s.options["brave"] == "true"},
	}
}

func (a *agent) update(s *session, u obj) {
	a.send(obj{"method": "session/update", "params": obj{"sessionId": s.id, "update": u}})
}

func (a *agent) chunk(s *session, kind, text string) {
	a.update(s, obj{"sessionUpdate": kind, "content": obj{"type": "text", "text": text}})
}
