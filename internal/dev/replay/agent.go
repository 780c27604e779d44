package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/embedded"
	"agentctl/wsclient"
)

// agentLimit bounds the wait for agentctl's client, in virtual time. All time that an agent needs
// is in the conversation.
const agentLimit = 20 * time.Second

// PlayAgent plays the lines of a conversation's agent to a server's session, in virtual time, and
// returns what a user of the session sees, as text. The commands of a user make agentctl's client
// of the Agent Client Protocol send what the conversation's client sent. It must run in a bubble of
// testing/synctest.
func PlayAgent(t testing.TB, d *Dialect, c *Conversation) string {
	t.Helper()
	p := &agentPlayer{
		t: t, dialect: d, conversation: c, agents: &playedAgents{name: c.System, dials: make(chan *agentProcess)},
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

type agentPlayer struct {
	t            testing.TB
	dialect      *Dialect
	conversation *Conversation
	agents       *playedAgents
	server       *embedded.Server
	client       *wsclient.Client
	session      string
	process      *agentProcess

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

func (p *agentPlayer) start() {
	p.t.Helper()
	options := embedded.Options{Agents: p.agents, DefaultAgent: p.agents.name, Dir: p.t.TempDir()}
	var err error
	if p.server, err = embedded.Start(p.t.Context(), options); err != nil {
		p.t.Fatalf("%v", err)
	}
	p.client = wsclient.New(serverURL, wsclient.Options{Dial: p.server.Dialer(serverURL), Name: "ada"})
	p.session = agentCall[protocol.CreateResult](p, protocol.DoCreate, protocol.CreateData{CWD: "/"}).Session
}

// agentCall gives a command that succeeds.
func agentCall[R any](p *agentPlayer, verb protocol.Verb, data any) R {
	p.t.Helper()
	r, err := wsclient.Call[R](p.t.Context(), p.client, verb, p.session, data)
	if err != nil {
		p.t.Fatalf("%s: %v", verb, err)
	}
	return r
}

func (p *agentPlayer) state() *protocol.State {
	return agentCall[protocol.SnapshotResult](p, protocol.DoSnapshot, protocol.Empty{}).Snapshot.State
}

func (p *agentPlayer) close() {
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

func (p *agentPlayer) logf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(&p.log, format, args...)
}

func (p *agentPlayer) play(i int) {
	p.t.Helper()
	s := p.conversation.Steps[i]
	switch {
	case s.Open:
		p.startProcess(i)
	case s.Close != nil:
		synctest.Wait()
		p.process.exit()
		p.process = nil
	case s.Frame == nil || p.process == nil:
	case s.Direction == ToClient:
		p.playAgent(*s.Frame)
	default:
		if m := parseLine([]byte(*s.Frame)); m.Method == "" {
			p.playAnswer(m)
		} else {
			p.playClient(i, m)
		}
	}
}

// startProcess makes agentctl's client start the agent, by the first command of a user that the
// process gets.
func (p *agentPlayer) startProcess(at int) {
	p.t.Helper()
	p.ids, p.resumes = map[string]json.RawMessage{}, false
	first := -1
	for i, s := range p.conversation.Steps[at+1:] {
		if s.Open {
			break
		}
		if s.Frame == nil || s.Direction != ToServer {
			continue
		}
		m := parseLine([]byte(*s.Frame))
		p.resumes = p.resumes || m.Method == "session/resume"
		if first < 0 && (m.Method == "session/prompt" || isSetting(m.Method)) {
			first = at + 1 + i
		}
	}
	if first >= 0 {
		p.caused[first] = true
		p.cause(parseLine([]byte(*p.conversation.Steps[first].Frame)))
	} else { // starts the agent, which has no such setting
		p.later(protocol.DoConfigure, protocol.ConfigureData{Setting: "none", Value: "none"})
	}
	select {
	case p.process = <-p.agents.dials:
	case <-time.After(agentLimit):
		p.t.Fatalf("the client did not start the agent")
	}
}

// playClient causes a message of the recorded client and waits for it.
func (p *agentPlayer) playClient(i int, m rpcLine) {
	p.t.Helper()
	switch {
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
func (p *agentPlayer) playAnswer(m rpcLine) {
	p.t.Helper()
	isAnswer := func(s rpcLine) bool { return s.Method == "" && bytes.Equal(s.ID, m.ID) }
	if request, ok := p.requests[string(m.ID)]; ok {
		p.decide(request, m, isAnswer)
	}
	sent, ok := p.await("the answer to "+string(m.ID), isAnswer)
	if ok && sent.Error != nil {
		p.logf("refused %s: %s\n", m.ID, sent.Error)
	} else if ok {
		p.logf("answered %s: %s\n", m.ID, sent.Result)
	}
}

// await waits for a line of agentctl's client. ok is false if the command that causes it has ended
// without it.
func (p *agentPlayer) await(what string, match func(rpcLine) bool) (m rpcLine, ok bool) {
	p.t.Helper()
	p.until(what, func() bool {
		if m, ok = p.process.find(match, true); ok {
			return true
		}
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	return m, ok
}

// until waits until ok returns true.
func (p *agentPlayer) until(what string, ok func() bool) {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < agentLimit; time.Sleep(10 * time.Millisecond) {
		if synctest.Wait(); ok() {
			return
		}
	}
	p.t.Errorf("waited for %s in vain", what)
}

// playAgent writes a line of the agent. A response gets the id of the client's request; one to a
// request that agentctl's client does not send is left out.
func (p *agentPlayer) playAgent(line string) {
	p.t.Helper()
	m := parseLine([]byte(line))
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
		if !p.resumes { // agentctl's client then loads the session, as the recorded client did
			fields["result"] = bytes.Replace(fields["result"], []byte(`"resume":`), []byte(`"resumeNot":`), 1)
		}
		line = string(protocol.MustEncode(fields))
	}
	if _, err := io.WriteString(p.process.out, line+"\n"); err != nil { // the client has closed the connection
		p.t.Errorf("write %s: %v", line, err)
	}
}
