//go:build interop

package sandcastle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/sandcastle"
)

// A sight is one line of what their client saw.
type sight struct {
	What  string
	Value json.RawMessage
}

// SC-1 to SC-6, SC-10 to SC-15, SC-17, SC-19, SC-25, SC-32, SC-34, SC-35, SC-45 to SC-47: a client of theirs does all it can.
func TestAClientOfTheirsUsesAServerOfOurs(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "client.mjs", w.url, w.session)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("their client: %v\n%s\n%s", err, wrong.String(), out)
	}
	var got []string
	streams := map[string][]string{}
	for line := range bytes.Lines(out) {
		var s sight
		must(t, json.Unmarshal(line, &s))
		var e struct {
			Tag    string `json:"_tag"`
			Reason string
			Event  struct {
				Type, FinishReason string
			}
			Buffer []struct{ Type string }
		}
		_ = json.Unmarshal(s.Value, &e)
		if e.Tag == "" {
			got = append(got, s.What+" "+string(s.Value))
			continue
		}
		word := e.Tag + e.Event.Type + e.Event.FinishReason + e.Reason
		for _, b := range e.Buffer {
			word += " " + b.Type
		}
		streams[s.What] = append(streams[s.What], word)
	}
	story := strings.Join(got, "\n")
	for _, want := range []string{
		`unknown session "SESSION_NOT_FOUND"`,
		`unknown session, streamed "SESSION_NOT_FOUND"`,
		`state {"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}`,
		`idle {"interrupted":false}`,
		`sent {"status":"started","messageId":"m_`,
		`sent {"status":"queued","queuedMessage":{"id":"m_`,
		`removed {"removed":true}`,
		`removed {"removed":false}`,
		`interrupted {"interrupted":true}`,
		`"historyCursor":{"lastMessageId":"t_`,
	} {
		if !strings.Contains(story, want) {
			t.Errorf("they did not see %s in\n%s", want, story)
		}
	}
	deltas := func(s string) bool { return strings.HasSuffix(s, "-delta") || strings.Contains(s, "data-") }
	first := slices.Compact(slices.DeleteFunc(streams["first"], deltas)) // a tool's output is told as it grows
	want := "InitialState UserMessage SessionStarted StreamEventstart StreamEventreasoning-start StreamEventreasoning-end " +
		"StreamEventtool-input-start StreamEventtool-input-available StreamEventtool-output-available " +
		"StreamEventtext-start StreamEventtext-end StreamEventfinishstop SessionStoppedcompleted"
	if got := strings.Join(first, " "); got != want {
		t.Errorf("their stream was\n%s\nwant\n%s", got, want)
	}
	if late := streams["late"]; len(late) != 3 || !strings.HasPrefix(late[0], "InitialState start text-start text-delta") ||
		late[1] != "MessageQueued" || late[2] != "MessageDequeued" {
		t.Errorf("who came in late saw %q", late)
	}
	if end := streams["end"]; len(end) < 2 || end[len(end)-1] != "SessionStoppedinterrupted" {
		t.Errorf("the end was %q", end)
	}
}

// SC-2, SC-10 to SC-14, SC-17, SC-19, SC-20, SC-26, SC-34, SC-46, X-20: our client, on a server of theirs that knows the document's
// tags alone.
func TestAClientOfOursUsesAServerOfTheirs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "server.mjs")
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	must(t, cmd.Start())
	defer func() {
		_ = stdin.Close() // it ends with its input
		if err := cmd.Wait(); err != nil {
			t.Errorf("their server: %v\n%s", err, wrong.String())
		}
	}()
	port, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	ws, _, err := websocket.Dial(ctx, "ws://127.0.0.1:"+strings.TrimSpace(port)+"/ws", nil)
	must(t, err)
	minted := 0
	call := protocol.Call{Name: "ada", Memory: &protocol.Memory{}, ID: func(p string) string { minted++; return p + strings.Repeat("x", minted) }}
	conn := dialect.NewConn(ws, sandcastle.Dialect.Client(call), 16<<20)
	defer func() { _ = conn.CloseNow() }()
	s := &spectator{t: t, ctx: ctx, conn: conn, answers: map[string]*protocol.Answer{}}

	if a := s.does("h", protocol.DoHello, protocol.HelloData{Version: protocol.Version, Name: "ada"}); a.Error != nil {
		t.Fatal(a.Error)
	}
	if a := s.do("n", "nope", protocol.DoSubscribe, nil); a.Error == nil || a.Error.Code != protocol.CodeNoSession {
		t.Fatalf("subscribe to nothing: %+v", a)
	}
	if a := s.does("s", protocol.DoSubscribe, nil); a.Error != nil {
		t.Fatal(a.Error)
	}
	s.until(func() bool { return s.caughtUp })
	s.does("m1", protocol.DoSend, protocol.SendData{Text: "hello"})
	s.until(func() bool { return s.state.Turns == 1 })
	turn := s.story.Turns[0]
	if turn.Message.Text != "hello" || turn.Items[0].Text.String() != "you said hello" || turn.Items[1].Tool.Name != "Bash" ||
		turn.Items[1].Text.String() != "a b c" || turn.End.Reason != protocol.ReasonCompleted {
		t.Errorf("the turn was told as %s", protocol.MustEncode(turn))
	}
	s.does("m2", protocol.DoSend, protocol.SendData{Text: "hang"})
	s.until(func() bool { return s.state.Turn != nil })
	if a := s.does("m3", protocol.DoSend, protocol.SendData{Text: "hello again"}); !strings.Contains(string(a.Result), `"status":"queued"`) {
		t.Errorf("the third message: %s", a.Result)
	}
	s.until(func() bool { return len(s.state.Queue) == 1 })
	if a := s.does("i", protocol.DoInterrupt, protocol.InterruptData{Turn: s.state.Turn.Turn}); !strings.Contains(string(a.Result), `"interrupted":true`) {
		t.Errorf("interrupt: %s", a.Result)
	}
	s.until(func() bool { return s.state.Turns == 3 })
	if s.story.Turns[1].End.Reason != protocol.ReasonInterrupted || s.story.Turns[2].Message.Text != "hello again" || len(s.state.Queue) != 0 {
		t.Errorf("the session was told as %s", protocol.MustEncode(s.story))
	}
}

// A spectator is a native client that folds what it gets.
type spectator struct {
	t        *testing.T
	ctx      context.Context
	conn     reader
	answers  map[string]*protocol.Answer
	state    *protocol.State
	story    protocol.Transcript
	caughtUp bool
}

func (s *spectator) does(id string, verb protocol.Verb, data any) *protocol.Answer {
	s.t.Helper()
	session := "abc"
	if ct := protocol.CommandOf(verb); !ct.Session {
		session = ""
	}
	return s.do(id, session, verb, data)
}

// do sends a command and waits for its answer.
func (s *spectator) do(id, session string, verb protocol.Verb, data any) *protocol.Answer {
	s.t.Helper()
	cmd := protocol.Command{ID: id, Command: verb, Session: session}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	must(s.t, s.conn.Write(s.ctx, protocol.MustEncode(cmd)))
	s.until(func() bool { return s.answers[id] != nil })
	return s.answers[id]
}

// until reads until something is so.
func (s *spectator) until(so func() bool) {
	s.t.Helper()
	for !so() {
		b, err := s.conn.Read(s.ctx)
		must(s.t, err)
		for line := range protocol.Lines(b) {
			e, a, err := protocol.DecodeIncoming(line)
			must(s.t, err)
			if a != nil {
				s.answers[a.ID] = a
				var r protocol.SubscribeResult
				if json.Unmarshal(a.Result, &r) == nil && r.Snapshot != nil && r.Mode != "" {
					s.state = r.Snapshot.State
				}
				continue
			}
			s.caughtUp = s.caughtUp || e.Type == protocol.CaughtUp
			must(s.t, s.state.Apply(e))
			_, err = s.story.Apply(e)
			must(s.t, err)
		}
	}
}
