package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/embedded"
	"agentctl/wsclient"
)

// acpLimit bounds the wait for agentctl's client, in virtual time. All time that an agent needs is
// in the conversation.
const acpLimit = 20 * time.Second

// PlayACP plays the lines of a conversation's agent to agentctl's client of the Agent Client
// Protocol, in virtual time, and returns what a user of the session sees, as text. The commands of
// a user make the client send what the conversation's client sent.
func PlayACP(t testing.TB, c *ACPConversation) string {
	t.Helper()
	p := &acpPlayer{
		t: t, conversation: c, agents: &acpAgents{name: c.System, dials: make(chan *acpProcess)},
		requests: map[string]permissionRequest{}, caused: map[int]bool{}, done: make(chan struct{}, 1),
	}
	defer p.close()
	p.start()
	before := 0
	for i, s := range c.Steps {
		time.Sleep(min(time.Duration(max(0, s.MS-before))*time.Millisecond, longestPause))
		before = s.MS
		p.play(i)
	}
	time.Sleep(longestPause)
	return p.transcript()
}

type acpPlayer struct {
	t            testing.TB
	conversation *ACPConversation
	agents       *acpAgents
	server       *embedded.Server
	client       *wsclient.Client
	session      string
	process      *acpProcess

	ids      map[string]json.RawMessage   // of the client's requests: recorded → now; of this process
	requests map[string]permissionRequest // by id
	resumes  bool                         // the recorded client of this process used session/resume
	caused   map[int]bool                 // steps whose message was caused ahead
	done     chan struct{}                // capacity 1; signals the end of a command that waits
	waiting  sync.WaitGroup               // commands that wait

	mu  sync.Mutex
	log strings.Builder
}

type permissionRequest struct {
	Options []struct{ OptionID, Kind string }
}

func (p *acpPlayer) start() {
	p.t.Helper()
	options := embedded.Options{Agents: p.agents, DefaultAgent: p.agents.name, Dir: p.t.TempDir()}
	server, err := embedded.Start(p.t.Context(), options)
	if err != nil {
		p.t.Fatal(err)
	}
	url := "ws://" + embedded.Host
	p.server, p.client = server, wsclient.New(url, wsclient.Options{Dial: server.Dialer(url), Name: "ada"})
	made, err := wsclient.Call[protocol.CreateResult](
		p.t.Context(), p.client, protocol.DoCreate, "", protocol.CreateData{CWD: "/"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.session = made.Session
}

func (p *acpPlayer) close() {
	if p.process != nil {
		p.process.exit()
	}
	p.waiting.Wait()
	if p.client != nil {
		_ = p.client.Close()
	}
	if p.server != nil {
		if err := p.server.Close(); err != nil {
			p.t.Errorf("close: %v", err)
		}
	}
}

func (p *acpPlayer) logf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(&p.log, format, args...)
}

func (p *acpPlayer) play(i int) {
	p.t.Helper()
	s := p.conversation.Steps[i]
	switch {
	case s.Start:
		p.startProcess(i)
	case s.Exit != nil:
		synctest.Wait()
		p.process.exit()
		p.process = nil
	case s.Line == nil || p.process == nil:
	case s.Direction == ToAgent:
		p.playClient(i, parseLine(*s.Line))
	default:
		p.playAgent(*s.Line)
	}
}

// startProcess makes agentctl's client start the agent, by the first command of a user that the
// process gets.
func (p *acpPlayer) startProcess(at int) {
	p.t.Helper()
	p.ids, p.resumes = map[string]json.RawMessage{}, false
	first := -1
	for i, s := range p.conversation.Steps[at+1:] {
		if s.Start {
			break
		}
		if s.Line == nil || s.Direction != ToAgent {
			continue
		}
		m := parseLine(*s.Line)
		p.resumes = p.resumes || m.Method == "session/resume"
		if first < 0 && (m.Method == "session/prompt" || isSetting(m.Method)) {
			first = at + 1 + i
		}
	}
	if first >= 0 {
		p.caused[first] = true
		p.cause(parseLine(*p.conversation.Steps[first].Line))
	} else {
		p.configure("none", "none") // starts the agent, which has no such setting
	}
	select {
	case p.process = <-p.agents.dials:
	case <-time.After(acpLimit):
		p.t.Fatalf("the client did not start the agent")
	}
}

// playClient causes a message of the recorded client and waits for it.
func (p *acpPlayer) playClient(i int, m rpcLine) {
	p.t.Helper()
	switch {
	case m.Method == "":
		p.playAnswer(m)
		return
	case p.caused[i]:
	case m.Method == "initialize", m.Method == "session/new", m.Method == "authenticate":
	case (m.Method == "session/load" || m.Method == "session/resume") && len(p.ids) == 1:
	default:
		select {
		case <-p.done: // of a command before
		default:
		}
		if !p.cause(m) {
			return
		}
	}
	sent, ok := p.await(m.Method, func(s rpcLine) bool {
		return s.Method == m.Method || isSetting(s.Method) && isSetting(m.Method)
	})
	if ok && m.ID != nil {
		p.ids[string(m.ID)] = sent.ID
	}
}

// playAnswer waits for the answer to a request of the agent. A user decides a permission request
// as the recorded client did.
func (p *acpPlayer) playAnswer(m rpcLine) {
	p.t.Helper()
	if request, ok := p.requests[string(m.ID)]; ok {
		p.decide(request, m.ID, m.Result)
	}
	sent, ok := p.await("the answer to "+string(m.ID), func(s rpcLine) bool {
		return s.Method == "" && bytes.Equal(s.ID, m.ID)
	})
	if ok && sent.Error != nil {
		p.logf("refused %s: %s\n", m.ID, sent.Error)
	} else if ok {
		p.logf("answered %s: %s\n", m.ID, sent.Result)
	}
}

// await waits for a line of agentctl's client. ok is false if the command that causes it has ended
// without it.
func (p *acpPlayer) await(what string, match func(rpcLine) bool) (m rpcLine, ok bool) {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < acpLimit; time.Sleep(10 * time.Millisecond) {
		synctest.Wait()
		if m, ok := p.process.take(match); ok {
			return m, true
		}
		select {
		case <-p.done:
			return rpcLine{}, false
		default:
		}
	}
	p.t.Errorf("the client did not send %s", what)
	return rpcLine{}, false
}

// playAgent writes a line of the agent. A response gets the id of the client's request; one to a
// request that agentctl's client does not send is left out.
func (p *acpPlayer) playAgent(line string) {
	p.t.Helper()
	m := parseLine(line)
	switch {
	case m.Method == "session/request_permission":
		var request permissionRequest
		_ = json.Unmarshal(m.Params, &request)
		p.requests[string(m.ID)] = request
	case m.Method == "" && m.ID != nil:
		now, ok := p.ids[string(m.ID)]
		if !ok {
			return
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal([]byte(line), &fields)
		fields["id"] = now
		if !p.resumes {
			fields["result"] = withoutResume(fields["result"])
		}
		line = string(protocol.MustEncode(fields))
	}
	if err := p.process.write(line); err != nil {
		p.t.Errorf("write %s: %v", line, err)
	}
}

// withoutResume returns the result of initialize without the ability to resume: agentctl's client
// then loads the session, as the recorded client did.
func withoutResume(result json.RawMessage) json.RawMessage {
	var r struct {
		Capabilities struct {
			Session map[string]json.RawMessage `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
	}
	if json.Unmarshal(result, &r) != nil || r.Capabilities.Session["resume"] == nil {
		return result
	}
	return bytes.Replace(result, []byte(`"resume":`), []byte(`"resumeNot":`), 1)
}
