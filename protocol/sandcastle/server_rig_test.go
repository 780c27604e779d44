package sandcastle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A nativeServer is a native server with one session. It answers from a list of events.
type nativeServer struct {
	t             testingT
	session       string
	epoch         string
	events        []protocol.Event
	after         uint64 // last seq written to the subscriber
	following     bool
	rawHistory    bool // the deltas of past events are not joined
	allowRefusals bool // the client's commands may be invalid
	commands      []protocol.Command
	answers       map[protocol.Verb]any // in place of the default answers
	errors        map[protocol.Verb]*protocol.Error
}

type testingT interface {
	Helper()
	Fatalf(string, ...any)
}

func newNativeServer(t testingT) *nativeServer {
	return &nativeServer{
		t: t, session: "s", epoch: "e1", answers: map[protocol.Verb]any{}, errors: map[protocol.Verb]*protocol.Error{},
	}
}

// append appends an event.
func (h *nativeServer) append(typ protocol.Type, turn string, data any) *protocol.Event {
	h.events = append(h.events, protocol.Event{
		Session: h.session, Seq: uint64(len(h.events) + 1), Turn: turn, Type: typ, Data: protocol.MustEncode(data),
		Time: noon.Add(time.Duration(len(h.events)) * time.Second),
	})
	return &h.events[len(h.events)-1]
}

func (h *nativeServer) state(upto uint64) *protocol.State {
	s := &protocol.State{Session: h.session}
	for i := range h.events[:upto] {
		if err := s.Apply(&h.events[i]); err != nil {
			h.t.Fatalf("own event: %v", err)
		}
	}
	return s
}

// boundary returns the seq of the last end of a turn.
func (h *nativeServer) boundary() uint64 {
	for i := len(h.events) - 1; i >= 0; i-- {
		if h.events[i].Type == protocol.TurnEnded {
			return h.events[i].Seq
		}
	}
	return 0
}

// handle answers a command.
func (h *nativeServer) handle(line []byte) (lines [][]byte) {
	h.t.Helper()
	c, err := protocol.DecodeCommand(line)
	if ct := protocol.CommandOf(c.Command); err == nil && ct != nil {
		err = c.DecodeData(ct.Data())
	}
	if err != nil && (!h.allowRefusals || c.ID == "") {
		h.t.Fatalf("invalid command %s: %v", line, err)
	}
	if err != nil {
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: protocol.AsError(err)})}
	}
	h.commands = append(h.commands, c)
	answer := func(v any) {
		lines = append(lines, protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(v)}))
	}
	if e := h.errors[c.Command]; e != nil {
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: e})}
	}
	if c.Session != "" && c.Session != h.session {
		e := protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session)
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: e})}
	}
	if v, ok := h.answers[c.Command]; ok {
		answer(v)
		return lines
	}
	end := uint64(len(h.events))
	switch c.Command {
	case protocol.DoSubscribe:
		var d protocol.SubscribeData
		_ = c.DecodeData(&d)
		r := protocol.SubscribeResult{
			Session: h.session, Mode: protocol.ModeSnapshot, Position: protocol.Position{Epoch: h.epoch, Seq: end},
			Clients: []protocol.Client{},
		}
		r.After = protocol.Position{Epoch: h.epoch, Seq: h.boundary()}
		if p := d.Position; p != nil && p.Epoch == h.epoch {
			r.Mode, r.After.Seq = protocol.ModeResume, p.Seq
		} else {
			if p != nil {
				r.Mode, r.Reason = protocol.ModeReset, protocol.ResetEpoch
			}
			r.Snapshot = &protocol.Snapshot{Epoch: h.epoch, State: h.state(r.After.Seq)}
			if r.After.Seq == 0 {
				r.Snapshot.State = &protocol.State{Session: h.session}
			}
		}
		answer(r)
		past := h.events[r.After.Seq:]
		if !h.rawHistory {
			past = protocol.JoinDeltas(past)
		}
		for _, e := range past {
			lines = append(lines, e.AppendJSON(nil))
		}
		caught := protocol.Event{
			Session: h.session, Time: noon, Type: protocol.CaughtUp,
			Data: protocol.MustEncode(protocol.CaughtUpData{Position: r.Position}),
		}
		lines = append(lines, caught.AppendJSON(nil))
		h.after, h.following = end, true
	case protocol.DoUnsubscribe:
		h.following = false
		answer(protocol.Empty{})
	case protocol.DoSnapshot:
		s := h.state(end)
		answer(protocol.SnapshotResult{
			Snapshot: protocol.Snapshot{Epoch: h.epoch, State: s}, Status: s.Status(), Clients: []protocol.Client{},
		})
	case protocol.DoHistory:
		var list []json.RawMessage
		for _, e := range protocol.JoinDeltas(h.events[:h.boundary()]) {
			list = append(list, e.AppendJSON(nil))
		}
		answer(protocol.HistoryResult{Epoch: h.epoch, First: 1, Events: list})
	default:
		answer(protocol.Empty{})
	}
	return lines
}

// newLines returns the events that the subscriber does not have yet.
func (h *nativeServer) newLines() (lines [][]byte) {
	if !h.following {
		return nil
	}
	for i := range h.events[h.after:] {
		lines = append(lines, h.events[h.after:][i].AppendJSON(nil))
	}
	h.after = uint64(len(h.events))
	return lines
}

// A serverTest is a server codec between a nativeServer and a foreign client that the test plays.
type serverTest struct {
	*nativeServer
	server *server
	sent   []string // messages of the frames, without newlines
}

func newServerTest(t testingT) *serverTest {
	d := &serverTest{
		nativeServer: newNativeServer(t),
		server:       newServer(codec.ServerOptions{By: protocol.Actor{Name: "sandcastle@peer"}}),
	}
	d.deliver(d.server.Open(noon))
	return d
}

func (d *serverTest) deliver(out codec.Output) {
	d.t.Helper()
	for _, f := range out.Foreign {
		if f.Binary || !strings.HasSuffix(string(f.Data), "\n") {
			d.t.Fatalf("not a text frame that ends in a newline: %q", f.Data)
		}
		for line := range strings.Lines(string(f.Data)) {
			if !json.Valid([]byte(line)) {
				d.t.Fatalf("not JSON: %s", line)
			}
			d.sent = append(d.sent, strings.TrimSuffix(line, "\n"))
		}
	}
	for _, line := range out.Native {
		for _, back := range d.handle(line) {
			d.deliver(d.server.Native(noon, back))
		}
	}
}

// request delivers a frame of the client and returns the messages sent.
func (d *serverTest) request(frame string) []string {
	d.t.Helper()
	d.sent = nil
	d.deliver(d.server.Foreign(noon, codec.Frame{Data: []byte(frame)}))
	return d.sent
}

// emit delivers the new events of the native server and returns the messages sent.
func (d *serverTest) emit() []string {
	d.t.Helper()
	d.sent = nil
	for _, line := range d.newLines() {
		d.deliver(d.server.Native(noon, line))
	}
	return d.sent
}

func requestFrame(id int, tag, payload string) string {
	return fmt.Sprintf(`{"_tag":"Request","id":"%d","tag":%q,"payload":%s,"headers":[]}`+"\n", id, tag, payload)
}

func ackFrame(id int) string { return fmt.Sprintf(`{"_tag":"Ack","requestId":"%d"}`+"\n", id) }

// sessionEvents returns the session events of the messages sent.
func sessionEvents(t testingT, sent []string) (list []sessionEvent) {
	t.Helper()
	for _, line := range sent {
		var c chunkMessage
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v", err)
		}
		if c.Tag == tagChunk && len(c.Values) == 0 {
			t.Fatalf("an empty chunk")
		}
		for _, v := range c.Values {
			var e sessionEvent
			if err := json.Unmarshal(v, &e); err != nil {
				t.Fatalf("%v", err)
			}
			list = append(list, e)
		}
	}
	return list
}

// eventTags returns the tags of events, or the type of a stream event.
func eventTags(list []sessionEvent) string {
	var tags []string
	for _, e := range list {
		w := e.Tag
		if e.Tag == streamEvent {
			var c chatEvent
			_ = json.Unmarshal(e.Event, &c)
			w = c.Type
		}
		tags = append(tags, w)
	}
	return strings.Join(tags, " ")
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// startTurn starts a turn.
func (h *nativeServer) startTurn(turn, text string) {
	h.append(protocol.MessageUser, turn, protocol.MessageUserData{
		Message: protocol.Message{MessageID: "m" + turn, Text: text, ClientMessageID: "c" + turn},
	})
	h.append(protocol.TurnStarted, turn, protocol.TurnStartedData{MessageID: "m" + turn})
}

func (h *nativeServer) appendText(turn, part string, texts ...string) {
	h.append(protocol.TextStart, turn, protocol.PartStartData{Part: part})
	for _, text := range texts {
		h.append(protocol.TextDelta, turn, protocol.PartDeltaData{Part: part, Text: text})
	}
	h.append(protocol.TextEnd, turn, protocol.PartEndData{Part: part})
}

func (h *nativeServer) endTurn(turn string, reason protocol.Reason) {
	h.append(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: reason})
}

// decodeResult decodes the result of an answer; the zero value if it is an error.
func decodeResult[T any](a protocol.Answer) (r T) {
	_ = json.Unmarshal(a.Result, &r)
	return r
}
