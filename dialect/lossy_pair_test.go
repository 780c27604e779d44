package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A lossyPair is a client codec and a server codec of one dialect, between a client that sends its
// commands again on each connection and a native server with one session. Everything between them
// waits until the test delivers it. The connection can be lost at any moment.
type lossyPair struct {
	t       *rapid.T
	dialect codec.Dialect
	now     time.Time
	newID   func(string) string
	server  *nativeServer
	idle    int // see settled

	// Of the client.

	resume   *codec.ClientState
	view     clientView
	lastID   int
	commands []*sentCommand // messages
	decided  []*sentCommand // decisions

	// Of the connection.

	client, serverCodec    codec.Codec
	store                  *codec.ResumeStore
	clientWake, serverWake time.Time
	lines                  []func() // commands to write to the client codec
	sent                   map[string]func(*protocol.Answer)
	up, down               []codec.Frame
	events                 [][]byte // events of the native server, and answers to subscribe
	answers                [][]byte // other answers, which may overtake events
	paths                  []string // that the client's codec wants to read
}

// A sentCommand is a command of the client.
type sentCommand struct {
	verb      protocol.Verb
	text, key string // text: of the message, or the request
	data      any
	answered  bool
	err       *protocol.Error
	result    json.RawMessage
}

const sessionID = "s_00000000000000aa"

func newLossyPair(t *rapid.T, name string) *lossyPair {
	ids := 0
	d, _ := Find(name)
	p := &lossyPair{
		t: t, dialect: d, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		newID:  func(prefix string) string { ids++; return fmt.Sprintf("%s_%016d", prefix, ids) },
		resume: new(codec.ClientState), store: new(codec.ResumeStore),
	}
	p.view = clientView{t: t, ended: map[string]*protocol.Turn{}}
	p.server = newNativeServer(p)
	p.connect()
	return p
}

// connect opens a connection: the client greets, subscribes, and resends unanswered commands.
func (p *lossyPair) connect() {
	p.clientWake, p.serverWake = time.Time{}, time.Time{}
	p.lines, p.sent, p.up, p.down = nil, map[string]func(*protocol.Answer){}, nil, nil
	p.events, p.answers, p.paths = nil, nil, nil
	p.server.log.Detach()
	p.view.failed = false
	p.client = p.dialect.Client(codec.ClientOptions{
		URL: "ws://x/" + sessionID, Name: "ada", ID: p.newID, Resume: p.resume, PeerIsAgentctl: true,
	})
	p.serverCodec = p.dialect.Server(codec.ServerOptions{
		Path: "/" + sessionID, By: protocol.Actor{Name: "ada"}, Role: protocol.RoleAdmin, ID: p.newID,
		Agent: func(foreign string) string { return foreign }, Sign: func(string) string { return "00" }, Version: "v1",
		Resume: p.store,
	})
	p.fromServer(p.serverCodec.Open(p.now))
	p.fromClient(p.client.Open(p.now))
	p.command(protocol.DoHello, "", "", protocol.HelloData{Version: protocol.Version, Name: "ada"}, nil)
	p.command(protocol.DoSubscribe, sessionID, "", protocol.SubscribeData{Position: p.view.position}, p.view.attach)
	for _, c := range append(slices.Clone(p.commands), p.decided...) {
		if !c.answered {
			p.enqueue(c)
		}
	}
}

// lose ends the connection. The server still gets some of what the client wrote.
func (p *lossyPair) lose() {
	for range rapid.IntRange(0, len(p.up)).Draw(p.t, "arrives") {
		p.deliverUp()
	}
	if rapid.IntRange(0, 3).Draw(p.t, "restarts") == 0 {
		p.store = new(codec.ResumeStore)
		p.server.restart()
	}
	p.connect()
}

func (p *lossyPair) enqueue(c *sentCommand) {
	p.command(c.verb, sessionID, c.key, c.data, func(a *protocol.Answer) {
		if c.answered {
			p.t.Fatalf("%q is answered twice", c.text)
		}
		c.answered, c.err, c.result = true, a.Error, a.Result
	})
}

// command schedules a command. answered may be nil.
func (p *lossyPair) command(verb protocol.Verb, session, key string, data any, answered func(*protocol.Answer)) {
	p.lines = append(p.lines, func() {
		p.lastID++
		cmd := protocol.Command{
			ID: strconv.Itoa(p.lastID), Command: verb, Session: session, Key: key, Data: protocol.MustEncode(data),
		}
		if answered != nil {
			p.sent[cmd.ID] = answered
		}
		p.fromClient(p.client.Native(p.now, protocol.MustEncode(cmd)))
	})
}

// next returns the steps that are possible: deliveries, and work of the session's agent.
func (p *lossyPair) next() (steps []func()) {
	add := func(possible bool, step func()) {
		if possible {
			steps = append(steps, step)
		}
	}
	if p.view.failed {
		return []func(){p.connect}
	}
	add(len(p.lines) > 0, func() { take(&p.lines)() })
	add(len(p.up) > 0, p.deliverUp)
	add(len(p.answers) > 0, func() { p.fromServer(p.serverCodec.Native(p.now, take(&p.answers))) })
	add(len(p.events) > 0, func() { p.fromServer(p.serverCodec.Native(p.now, take(&p.events))) })
	add(len(p.down) > 0, func() { p.fromClient(p.client.Foreign(p.now, take(&p.down))) })
	add(len(p.paths) > 0, func() {
		path := take(&p.paths)
		p.fromClient(p.client.(HTTPReader).PathRead(p.now, path, p.server.read(path)))
	})
	add(p.server.busy(), p.work)
	return steps
}

// take removes and returns the first element.
func take[T any](list *[]T) T {
	first := (*list)[0]
	*list = (*list)[1:]
	return first
}

func (p *lossyPair) deliverUp() { p.fromServer(p.serverCodec.Foreign(p.now, take(&p.up))) }

// work lets the session's agent do something.
func (p *lossyPair) work() {
	var out codec.Output
	p.server.work(&out)
	p.events = append(p.events, out.Native...)
}

// fromServer carries out the output of the server's codec.
func (p *lossyPair) fromServer(out codec.Output) {
	p.serverWake = out.Wake
	p.down = append(p.down, out.Foreign...)
	for _, line := range out.Native {
		p.server.handle(line)
	}
	if out.Close != nil {
		p.connect()
	}
}

// fromClient carries out the output of the client's codec.
func (p *lossyPair) fromClient(out codec.Output) {
	p.clientWake = out.Wake
	p.up = append(p.up, out.Foreign...)
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
			p.t.Fatal(err)
		case a != nil && p.sent[a.ID] != nil:
			p.sent[a.ID](a)
		case e != nil && e.Durable():
			p.view.apply(e)
			p.decide(e)
		}
	}
	if out.Close != nil {
		p.connect()
		return
	}
	if reader, ok := p.client.(HTTPReader); ok {
		p.paths = append(p.paths, reader.Paths()...)
	}
}
