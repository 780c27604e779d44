package dialect

import (
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A nativeServer has one session, whose agent writes a few words for each message.
type nativeServer struct {
	*lossyPair
	log       *codec.Log
	responder codec.Responder
	history   []*protocol.Event
	results   map[string]any               // of commands, by key
	turns     map[string][]protocol.Reason // reasons of their ends, by message
	started   bool                         // the turn; else only its message is known
	rest      []string                     // of the text of the turn
	asked     bool                         // in the turn
	patience  int                          // steps until another client decides
	outcomes  map[string]protocol.Outcome  // of requests
}

func newNativeServer(p *lossyPair) *nativeServer {
	s := &nativeServer{
		lossyPair: p, log: codec.NewLog(sessionID, "e1"),
		results: map[string]any{}, outcomes: map[string]protocol.Outcome{}, turns: map[string][]protocol.Reason{},
		responder: codec.Responder{Dialect: "none", Epoch: "e1", Verbs: []protocol.Verb{
			protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoWatch,
			protocol.DoList, protocol.DoSend, protocol.DoCreate, protocol.DoApprove,
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
	if saved, known := s.results[cmd.Key]; known && cmd.Key != "" {
		s.responder.Answer(out, cmd, saved)
		return
	}
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
	case protocol.DoApprove:
		s.approve(out, events, cmd)
	}
}

// approve decides a request for a client.
func (s *nativeServer) approve(out, events *codec.Output, cmd *protocol.Command) {
	var d protocol.ApproveData
	if err := cmd.DecodeData(&d); err != nil {
		s.t.Fatal(err)
	}
	outcome := protocol.Allowed
	if d.Decision != protocol.AllowOnce {
		outcome = protocol.Denied
	}
	if s.log.State.PendingApproval(d.Request) == nil {
		s.responder.Fail(out, cmd, protocol.Errorf(protocol.CodeConflict, "it was decided before"))
		return
	}
	s.resolve(events, protocol.ApprovalResolvedData{Request: d.Request, Outcome: outcome, Decision: d.Decision})
	r := protocol.ApproveResult{Request: d.Request, Outcome: outcome, Decision: d.Decision}
	s.results[cmd.Key] = r
	s.responder.Answer(out, cmd, r)
}

// resolve ends a request.
func (s *nativeServer) resolve(out *codec.Output, d protocol.ApprovalResolvedData) {
	s.outcomes[d.Request] = d.Outcome
	s.add(out, s.log.State.Turn.Turn, protocol.ApprovalResolved, d)
}

func (s *nativeServer) send(out, events *codec.Output, cmd *protocol.Command) {
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

// start begins the turn of a message.
func (s *nativeServer) start(out *codec.Output, m protocol.Message) {
	turn := s.newID("t")
	s.started, s.asked, s.patience = false, false, 3
	s.rest = strings.SplitAfter(answerTo(m.Text), " ")
	s.add(out, turn, protocol.MessageUser, protocol.MessageUserData{Message: m})
}

// answerTo returns the text of the turn of a message.
func answerTo(message string) string { return "<" + message + "> one two end" }

// end ends the turn.
func (s *nativeServer) end(out *codec.Output, d protocol.TurnEndedData) {
	turn := s.log.State.Turn
	message := turn.Message.Text
	s.turns[message] = append(s.turns[message], d.Reason)
	for _, a := range slices.Clone(s.log.State.Approvals) {
		s.resolve(out, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
	}
	if s.started {
		s.add(out, turn.Turn, protocol.TextEnd, protocol.PartEndData{Part: "p1"})
	}
	s.add(out, turn.Turn, protocol.TurnEnded, d)
}

// restart ends the turn that a killed server leaves.
func (s *nativeServer) restart() {
	if s.log.State.Turn != nil {
		s.end(new(codec.Output), protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was restarted",
		})
	}
}

// busy reports whether the agent has something to do.
func (s *nativeServer) busy() bool { return s.log.State.Turn != nil || len(s.log.State.Queue) > 0 }

// asks reports whether the agent asks in the turn.
func (s *nativeServer) asks() bool {
	return strings.ContainsAny(s.log.State.Turn.Message.Text, "02468")
}

// work writes a word, ends the turn after several, or starts the next turn. In the middle of every
// second turn the agent requests approval. If the client does not decide, another client does.
func (s *nativeServer) work(out *codec.Output) {
	state := s.log.State
	switch {
	case state.Turn != nil && !s.started:
		s.started = true
		m := state.Turn.Message
		s.add(out, state.Turn.Turn, protocol.TurnStarted, protocol.TurnStartedData{MessageID: m.MessageID, Agent: "a"})
		s.add(out, state.Turn.Turn, protocol.TextStart, protocol.PartStartData{Part: "p1"})
	case len(state.Approvals) > 0:
		if s.patience--; s.patience < 0 {
			s.resolve(out, protocol.ApprovalResolvedData{
				Request: state.Approvals[0].Request, Outcome: protocol.Denied, Decision: protocol.Deny,
			})
		}
	case state.Turn != nil && !s.asked && len(s.rest) == 2 && s.asks():
		s.asked = true
		s.add(out, state.Turn.Turn, protocol.ApprovalRequested, protocol.Approval{
			Request: state.Turn.Turn + ".a1", Kind: protocol.ApproveCommand, Command: "make", Asked: s.now,
			Options: []protocol.Option{
				{ID: "allow_once", Kind: "allow_once", Label: "Allow once"}, {ID: "deny", Kind: "deny", Label: "Deny"},
			},
		})
	case state.Turn != nil && len(s.rest) > 0:
		s.add(out, state.Turn.Turn, protocol.TextDelta, protocol.PartDeltaData{Part: "p1", Text: take(&s.rest)})
	case state.Turn != nil:
		s.end(out, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
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
