package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	position *protocol.Position
	lastID   int
	commands []*sentCommand

	// Of the connection.

	client, serverCodec    codec.Codec
	store                  *codec.ResumeStore
	clientWake, serverWake time.Time
	lines                  []func() // commands to write to the client codec
	sent                   map[string]func(*protocol.Answer)
	up, down               []codec.Frame
	events                 [][]byte // events of the native server, and answers to subscribe
	answers                [][]byte // other answers, which may overtake events
}

// A sentCommand is a send command of the client.
type sentCommand struct {
	text, key string
	answered  bool
	err       *protocol.Error
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
	p.server = newNativeServer(p)
	p.connect()
	return p
}

// connect opens a connection: the client greets, subscribes, and sends again what has no answer.
func (p *lossyPair) connect() {
	p.clientWake, p.serverWake = time.Time{}, time.Time{}
	p.lines, p.sent, p.up, p.down = nil, map[string]func(*protocol.Answer){}, nil, nil
	p.events, p.answers = nil, nil
	p.server.log.Detach()
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
	p.command(protocol.DoSubscribe, sessionID, "", protocol.SubscribeData{Position: p.position}, nil)
	for _, c := range p.commands {
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
	p.connect()
}

func (p *lossyPair) enqueue(c *sentCommand) {
	p.command(protocol.DoSend, sessionID, c.key, protocol.SendData{Text: c.text}, func(a *protocol.Answer) {
		if c.answered {
			p.t.Fatalf("%q is answered twice", c.text)
		}
		c.answered, c.err = true, a.Error
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
	add(len(p.lines) > 0, func() { take(&p.lines)() })
	add(len(p.up) > 0, p.deliverUp)
	add(len(p.answers) > 0, func() { p.fromServer(p.serverCodec.Native(p.now, take(&p.answers))) })
	add(len(p.events) > 0, func() { p.fromServer(p.serverCodec.Native(p.now, take(&p.events))) })
	add(len(p.down) > 0, func() { p.fromClient(p.client.Foreign(p.now, take(&p.down))) })
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
		case e != nil && e.Durable() && p.position != nil:
			p.position.Seq = e.Seq
		}
	}
	if out.Close != nil {
		p.connect()
		return
	}
	if reader, ok := p.client.(HTTPReader); ok {
		for _, path := range reader.Paths() {
			p.fromClient(reader.PathRead(p.now, path, p.server.read(path)))
		}
	}
}

// A nativeServer has one session, whose agent writes a few words for each message.
type nativeServer struct {
	*lossyPair
	log       *codec.Log
	responder codec.Responder
	history   []*protocol.Event
	results   map[string]any // of commands, by key
	words     int            // of the turn
}

func newNativeServer(p *lossyPair) *nativeServer {
	s := &nativeServer{
		lossyPair: p, log: codec.NewLog(sessionID, "e1"), results: map[string]any{},
		responder: codec.Responder{Dialect: "none", Epoch: "e1", Verbs: []protocol.Verb{
			protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoWatch,
			protocol.DoList, protocol.DoSend, protocol.DoCreate,
		}},
	}
	s.add(new(codec.Output), "", protocol.SessionCreated, protocol.SessionCreatedData{Agent: "a"})
	return s
}

func (s *nativeServer) add(out *codec.Output, turn string, typ protocol.Type, data any) {
	s.log.Add(out, s.now, codec.Entry{Type: typ, Turn: turn, Data: data})
	s.history = append(s.history, &protocol.Event{
		Seq: s.log.State.Seq, Session: sessionID, Turn: turn, Type: typ, Time: s.now, Data: protocol.MustEncode(data),
	})
}

// handle carries out a command.
func (s *nativeServer) handle(line []byte) {
	var answer, events codec.Output
	cmd, ok := s.responder.Decode(&answer, line)
	switch {
	case ok && cmd.Command == protocol.DoSubscribe:
		s.log.Attach(&events, &s.responder, &cmd, s.now)
	case ok:
		s.carryOut(&answer, &events, &cmd)
	}
	s.events = append(s.events, events.Native...)
	s.answers = append(s.answers, answer.Native...)
}

func (s *nativeServer) carryOut(out, events *codec.Output, cmd *protocol.Command) {
	switch cmd.Command {
	case protocol.DoUnsubscribe:
		s.log.Detach()
		s.responder.Answer(out, cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		s.responder.Answer(out, cmd, s.log.Snapshot())
	case protocol.DoHistory:
		var d protocol.HistoryData
		_ = cmd.DecodeData(&d)
		s.responder.Answer(out, cmd, s.log.History(d))
	case protocol.DoWatch, protocol.DoList:
		s.responder.Answer(out, cmd, protocol.ListResult{Sessions: []protocol.Summary{s.log.Summary()}})
	case protocol.DoCreate:
		s.responder.Answer(out, cmd, protocol.CreateResult{Session: sessionID})
	case protocol.DoSend:
		s.send(out, events, cmd)
	}
}

func (s *nativeServer) send(out, events *codec.Output, cmd *protocol.Command) {
	if saved, known := s.results[cmd.Key]; known && cmd.Key != "" {
		s.responder.Answer(out, cmd, saved)
		return
	}
	var d protocol.SendData
	if err := cmd.DecodeData(&d); err != nil {
		s.t.Fatal(err)
	}
	m := protocol.Message{MessageID: s.newID("m"), ClientMessageID: d.ClientMessageID, Text: d.Text}
	r := protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID}
	if s.log.State.Turn == nil && len(s.log.State.Queue) == 0 {
		s.start(events, m)
		r.Status, r.Turn = protocol.SendStarted, s.log.State.Turn.Turn
	} else {
		index := len(s.log.State.Queue)
		s.add(events, "", protocol.QueueAdded, protocol.QueueAddedData{Message: m})
		r.Index = &index
	}
	r.Seq = s.log.State.Seq
	s.results[cmd.Key] = r
	s.responder.Answer(out, cmd, r)
}

// start starts the turn of a message.
func (s *nativeServer) start(out *codec.Output, m protocol.Message) {
	turn := s.newID("t")
	s.words = 0
	s.add(out, turn, protocol.MessageUser, protocol.MessageUserData{Message: m})
	s.add(out, turn, protocol.TurnStarted, protocol.TurnStartedData{MessageID: m.MessageID, Agent: "a"})
	s.add(out, turn, protocol.TextStart, protocol.PartStartData{Part: "p1"})
}

// busy reports whether the agent has something to do.
func (s *nativeServer) busy() bool { return s.log.State.Turn != nil || len(s.log.State.Queue) > 0 }

// work writes a word, ends the turn after some, or starts the next one.
func (s *nativeServer) work(out *codec.Output) {
	state := s.log.State
	switch {
	case state.Turn != nil && s.words < 2:
		s.words++
		s.add(out, state.Turn.Turn, protocol.TextDelta, protocol.PartDeltaData{Part: "p1", Text: "word "})
	case state.Turn != nil:
		turn := state.Turn.Turn
		s.add(out, turn, protocol.TextEnd, protocol.PartEndData{Part: "p1"})
		s.add(out, turn, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	case len(state.Queue) > 0:
		m := state.Queue[0]
		s.add(out, "", protocol.QueueRemoved, protocol.QueueRemovedData{
			MessageID: m.MessageID, Reason: protocol.RemovedStarted,
		})
		s.start(out, m)
	}
}

// read answers a request for the session's messages, and no other.
func (s *nativeServer) read(path string) []byte {
	rest, ok := strings.CutPrefix(path, "/api/sessions/"+sessionID+"/messages")
	if !ok || s.dialect.Messages == nil {
		return nil
	}
	var t protocol.Transcript
	for _, e := range s.history {
		if _, err := t.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	_, after, _ := strings.Cut(rest, "after=")
	ended := slices.DeleteFunc(slices.Clone(t.Turns), func(turn *protocol.Turn) bool {
		return s.log.State.Turn != nil && turn.Turn == s.log.State.Turn.Turn
	})
	return s.dialect.Messages(ended, after)
}
