package acp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A rig is a Conn between a native server with one session, s1, and an editor.
type rig struct {
	codectest.Server
	native codectest.NativeServer
	log    *codectest.Log
	frames []string
	last   int
}

func newRig(t codectest.T, version int) *rig {
	r := &rig{log: codectest.NewLog(t, "s1", "e1")}
	r.native = codectest.NativeServer{
		T: t, AllowRefusals: true,
		Log: func(session string) *codectest.Log {
			if session == r.log.Session {
				return r.log
			}
			return nil
		},
		Answers: map[protocol.Verb]any{
			protocol.DoHello: func(protocol.Command) (any, *protocol.Error) {
				return protocol.HelloResult{Connection: "c1"}, nil
			},
			protocol.DoFork: func(c protocol.Command) (any, *protocol.Error) {
				return protocol.CreateResult{Session: strings.TrimPrefix(c.Session, "parent of ")}, nil
			},
			protocol.DoCreate: func(protocol.Command) (any, *protocol.Error) {
				return protocol.CreateResult{Session: "s1"}, nil
			},
		},
	}
	r.Server = codectest.Server{
		T: t, Now: time.Unix(0, 0), Native: r.native.Handle,
		Foreign: func(out codec.Output) {
			for _, f := range out.Foreign {
				r.frames = append(r.frames, string(f.Data))
			}
		},
	}
	r.Open(New(codec.ServerOptions{ID: codectest.IDs()}, Options{}))
	r.request("initialize", fmt.Sprintf(`{"protocolVersion":%d}`, version))
	return r
}

func (r *rig) request(method, params string) {
	r.last++
	r.Receive(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, r.last, method, params))
}

// add records an event of the session and delivers it.
func (r *rig) add(e protocol.Event) {
	r.ReceiveNative(r.log.Add(e).AppendJSON(nil))
}

// taken returns the frames since the last call.
func (r *rig) taken() []string {
	frames := r.frames
	r.frames = nil
	return frames
}

// Every history becomes messages of the protocol, with the whole text of the agent once and in order.
// Text of a task or of a sub-agent is a thought, as reasoning is.
func TestHistoriesReachEditorsWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		version := rapid.IntRange(1, 2).Draw(rt, "version")
		r := newRig(rt, version)
		r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
		g := historygen.Generator{T: rt, State: &protocol.State{Session: "s1"}, Now: r.Now}
		var want, got, thoughts, gotThoughts strings.Builder
		for range rapid.IntRange(1, 60).Draw(rt, "events") {
			n := g.Next()
			e := protocol.Event{
				Session: "s1", Seq: g.State.Seq + 1, Turn: n.Turn, Task: n.Task, Parent: n.Parent, By: n.By, Type: n.Type,
				Time: g.Now, Data: protocol.MustEncode(n.Data),
			}
			if g.State.Apply(&e) != nil {
				continue
			}
			said := func(kind protocol.Kind, task, parent, text string) {
				switch {
				case kind == protocol.KindText && task == "" && parent == "":
					want.WriteString(text)
				case kind == protocol.KindText, kind == protocol.KindReasoning:
					thoughts.WriteString(text)
				}
			}
			switch e.Type {
			case protocol.TextDelta:
				said(protocol.KindText, e.Task, e.Parent, codec.DecodeEvent[protocol.PartDeltaData](&e).Text)
			case protocol.ReasoningDelta:
				said(protocol.KindReasoning, e.Task, e.Parent, codec.DecodeEvent[protocol.PartDeltaData](&e).Text)
			case protocol.JoinedDeltas:
				for _, p := range codec.DecodeEvent[protocol.JoinedData](&e).Parts {
					said(p.Kind, p.Task, p.Parent, p.Text)
				}
			}
			r.add(e)
			r.Advance(time.Second)
		}
		for _, frame := range r.taken() {
			var m struct {
				Version string `json:"jsonrpc"`
				Params  struct {
					Update struct {
						Kind    string          `json:"sessionUpdate"`
						ID      string          `json:"messageId"`
						Content json.RawMessage `json:"content"`
					} `json:"update"`
				} `json:"params"`
			}
			if err := json.Unmarshal([]byte(frame), &m); err != nil || m.Version != "2.0" {
				rt.Fatalf("%v: %s", err, frame)
			}
			u := &m.Params.Update
			var block struct{ Text string }
			own := !strings.HasSuffix(u.ID, "/note") && !strings.HasSuffix(u.ID, "/content")
			if own && json.Unmarshal(u.Content, &block) == nil {
				switch u.Kind {
				case "agent_message_chunk":
					got.WriteString(block.Text)
				case "agent_thought_chunk":
					gotThoughts.WriteString(block.Text)
				}
			}
		}
		if got.String() != want.String() || gotThoughts.String() != thoughts.String() {
			rt.Fatalf("got %q and %q, want %q and %q", got.String(), gotThoughts.String(), want.String(), thoughts.String())
		}
	})
}

// FuzzConn: for any messages of a client the codec does not panic or close, and sends valid commands
// and messages, in bounded number.
func FuzzConn(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[{}]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"x"},` +
			`{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"file:///a","text":"b"}}]}}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`,
		`{"jsonrpc":"2.0","id":"agentctl-1","result":{"outcome":{"outcome":"selected","optionId":"0"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"x","value":true}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`,
		`{"jsonrpc":"2.0","id":5,"method":"session/close","params":{"sessionId":"s1"}}`,
		`{"id":null,"method":null}`, `[]`, `{"id":{},"method":"session/list","params":[]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for version := 1; version <= 2; version++ {
			r := newRig(t, version)
			r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
			turn := codectest.Event(protocol.MessageUser, "t1", protocol.MessageUserData{
				Message: protocol.Message{MessageID: "m1", Text: "hi"},
			})
			r.add(turn)
			r.add(codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
				Request: "r1", Kind: protocol.ApproveCommand, Command: "ls", Options: []protocol.Option{{Kind: protocol.AllowOnce}},
			}))
			for line := range strings.Lines(string(data)) {
				before := len(r.frames)
				r.Receive(line)
				if n := len(r.frames) - before; n > 50 || r.Closed != nil {
					t.Fatalf("%d messages for one, closed %v", n, r.Closed)
				}
			}
			r.Advance(time.Hour)
			r.Deliver(r.Codec.(codec.Ender).End(r.Now))
			for _, frame := range r.frames {
				if !json.Valid([]byte(frame)) {
					t.Fatalf("not JSON: %s", frame)
				}
			}
		}
	})
}

// Output of a tool is sent in intervals, its newest part, and whole at the end of the call.
func TestOutputOfToolsIsBounded(t *testing.T) {
	r := newRig(t, 1)
	r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
	r.add(codectest.Event(protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{Text: "hi"}}))
	r.add(codectest.Event(protocol.ToolStarted, "t1", protocol.ToolStartedData{Tool: "x", Title: "make"}))
	r.taken()
	for i := range 1000 {
		r.add(codectest.Event(protocol.ToolOutput, "t1", protocol.ToolOutputData{
			Tool: "x", Text: fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", 1000)),
		}))
		r.Advance(time.Millisecond)
	}
	frames := r.taken()
	if len(frames) < 2 || len(frames) > 6 {
		t.Errorf("%d messages in a second", len(frames))
	}
	last := ""
	r.add(codectest.Event(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: "x", Status: protocol.ToolCompleted}))
	for _, frame := range append(frames, r.taken()...) {
		if strings.Contains(frame, "line ") {
			last = frame
		}
	}
	if !strings.Contains(last, "line 999") || strings.Contains(last, "line 900 ") || len(last) > 2*maxOutput {
		t.Errorf("the end has %d bytes: %.200s", len(last), last)
	}
}

// A prompt of the other forms reaches the server as a text with parts, and is sent to others as such.
func TestPromptsAreTextsWithParts(t *testing.T) {
	r := newRig(t, 1)
	r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
	r.request("session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"look at "},`+
		`{"type":"resource_link","name":"a.go","uri":"file:///w/a.go"},{"type":"text","text":" and "},`+
		`{"type":"resource","resource":{"uri":"file:///w/b.go","text":"package b","mimeType":"text/x-go"}},`+
		`{"type":"image","mimeType":"image/png","data":"eA=="}]}`)
	var d protocol.SendData
	codectest.Last(t, r.native.Commands, protocol.DoSend, &d)
	if d.Text != "look at @a.go and @b.go" || len(d.Parts) != 3 || d.Parts[0].URL != "file:///w/a.go" ||
		d.Parts[1].Text != "package b" || d.Parts[2].URL != "data:image/png;base64,eA==" {
		t.Errorf("sent %+v", d)
	}
	r.taken()
	r.add(codectest.Event(protocol.MessageUser, "t1", protocol.MessageUserData{
		Message: protocol.Message{MessageID: "m", Text: d.Text, Parts: d.Parts},
	}))
	all := strings.Join(r.taken(), "\n")
	for _, want := range []string{
		`"text":"look at @a.go and @b.go"`, `"uri":"file:///w/a.go"`, `"text":"package b"`, `"data":"eA=="`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("others get no %s: %s", want, all)
		}
	}
	r.request("session/prompt", `{"sessionId":"s1","prompt":[{"type":"video"}]}`)
	if all := strings.Join(r.taken(), "\n"); !strings.Contains(all, `"code":"unsupported"`) {
		t.Errorf("an unknown content: %s", all)
	}
}

// MCP servers of an editor are for new sessions of admins.
func TestMCPServersOfAnEditor(t *testing.T) {
	const servers = `[{"name":"files","command":"/bin/files","args":["a"],"env":[{"name":"K","value":"v"}]},` +
		`{"type":"stdio","name":"two","command":"two"},{"type":"sse","name":"web","url":"https://x","headers":[{"name":"H","value":"v"}]},` +
		`{"type":"acp","name":"through","id":"1"}]`
	for role, may := range map[protocol.Role]bool{"": true, protocol.RoleAdmin: true, protocol.RoleApprover: false} {
		r := newRig(t, 1)
		r.native.Answers[protocol.DoHello] = func(protocol.Command) (any, *protocol.Error) {
			return protocol.HelloResult{Connection: "c1", Role: role}, nil
		}
		r.Open(New(codec.ServerOptions{ID: codectest.IDs()}, Options{}))
		r.request("initialize", `{"protocolVersion":1}`)
		r.log.Add(codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{MCPServers: []string{"files", "web", "two"}}))
		r.request("session/new", `{"cwd":"/w","mcpServers":`+servers+`}`)
		var d protocol.CreateData
		codectest.Last(t, r.native.Commands, protocol.DoCreate, &d)
		want := []protocol.MCPServer{
			{Name: "files", Command: "/bin/files", Args: []string{"a"}, Env: map[string]string{"K": "v"}},
			{Name: "two", Command: "two"},
			{Name: "web", Type: "sse", URL: "https://x", Headers: map[string]string{"H": "v"}},
		}
		if !may {
			want = nil
		}
		if !reflect.DeepEqual(d.MCPServers, want) || !d.DiscardUnused {
			t.Errorf("%s: sent %+v", role, d.MCPServers)
		}
		if all := strings.Join(r.taken(), "\n"); !strings.Contains(all, "MCP servers of the editor are not used: through") {
			t.Errorf("%s: no notice: %s", role, all)
		}
	}
}

func TestAnEarlierServerCreatesSessions(t *testing.T) {
	r := newRig(t, 1)
	r.native.Answers[protocol.DoCreate] = func(c protocol.Command) (any, *protocol.Error) {
		for _, field := range []string{"mcp_servers", "discard_unused"} {
			if strings.Contains(string(c.Data), field) {
				return nil, protocol.Errorf(protocol.CodeInvalidMessage, `create: unknown field %q`, field)
			}
		}
		return protocol.CreateResult{Session: "s1"}, nil
	}
	r.taken()
	r.request("session/new", `{"cwd":"/w","mcpServers":[{"name":"files","command":"files","args":[],"env":[]}]}`)
	if all := strings.Join(r.taken(), "\n"); !strings.Contains(all, `"sessionId":"s1"`) || !strings.Contains(all, "not used: files") {
		t.Errorf("session/new: %s", all)
	}
}

func TestAForkIsOpened(t *testing.T) {
	r := newRig(t, 1)
	r.taken()
	r.request("session/fork", `{"sessionId":"parent of s1","cwd":"/w","mcpServers":[{"name":"x"}]}`)
	all := strings.Join(r.taken(), "\n")
	if !strings.Contains(all, `"result":{`) || !strings.Contains(all, `"sessionId":"s1"`) {
		t.Errorf("fork: %s", all)
	}
	if !strings.Contains(all, "MCP servers of the editor are not used: x: a session has those") {
		t.Errorf("no notice of MCP servers: %s", all)
	}
	if c := codectest.Last(t, r.native.Commands, protocol.DoFork, nil); c.Session != "parent of s1" || c.Key == "" {
		t.Errorf("sent %+v", c)
	}
}

// A text of an agent costs its decoding and one message.
func BenchmarkText(b *testing.B) {
	for _, joined := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d deltas", joined), func(b *testing.B) {
			r := newRig(b, 1)
			r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
			r.add(codectest.Event(protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{Text: "x"}}))
			r.add(codectest.Event(protocol.TextStart, "t1", protocol.PartStartData{Part: "p"}))
			e := protocol.Event{
				Session: "s1", Turn: "t1", Type: protocol.TextDelta, Seq: 2,
				Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p", Text: strings.Repeat("word ", joined)}),
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Seq++
				r.Codec.Native(r.Now, e.AppendJSON(nil))
			}
		})
	}
}

// A request that is pending again under its id is asked again, and one that a new log lacks is
// withdrawn.
func TestRequestsFollowTheLog(t *testing.T) {
	r := newRig(t, 1)
	r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
	r.add(codectest.Event(protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{Text: "x"}}))
	ask := codectest.Event(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveCommand, Command: "ls", Options: []protocol.Option{{Kind: protocol.AllowOnce}},
	})
	r.add(ask)
	r.Receive(`{"jsonrpc":"2.0","id":"agentctl-1","result":{"outcome":{"outcome":"selected","optionId":"0"}}}`)
	codectest.Last(t, r.native.Commands, protocol.DoApprove, nil)
	r.taken()
	r.add(ask)
	if all := strings.Join(r.taken(), "\n"); !strings.Contains(all, `"id":"agentctl-2","method":"session/request_permission"`) {
		t.Errorf("not asked again: %s", all)
	}
	r.Deliver(r.Codec.(*Conn).Reset(r.Now, &protocol.SubscribeResult{
		Session: "s1", Mode: protocol.ModeReset, After: protocol.Position{Epoch: "e2", Seq: 1},
		Snapshot: &protocol.Snapshot{Epoch: "e2", State: &protocol.State{Session: "s1", Seq: 1}},
	}))
	all := strings.Join(r.taken(), "\n")
	if !strings.Contains(all, `"method":"$/cancel_request","params":{"requestId":"agentctl-2"}`) ||
		!strings.Contains(all, "the log of the session was replaced") {
		t.Errorf("after a reset: %s", all)
	}
}

func TestLoginsAreOfferedToClientsWithATerminal(t *testing.T) {
	for _, c := range []struct {
		login                bool
		capabilities, wanted string
	}{
		{true, `{"auth":{"terminal":true}}`, `"args":["--login","claude"]`},
		{true, `{"auth":{"terminal":false}}`, ""},
		{true, `{}`, ""},
		{false, `{"auth":{"terminal":true}}`, ""},
	} {
		r := newRig(t, 1)
		r.Open(New(codec.ServerOptions{ID: codectest.IDs()}, Options{Agent: "claude", Login: c.login}))
		r.taken()
		r.request("initialize", `{"protocolVersion":1,"clientCapabilities":`+c.capabilities+`}`)
		all := strings.Join(r.taken(), "")
		if c.wanted == "" && !strings.Contains(all, `"authMethods":[]`) || !strings.Contains(all, c.wanted) {
			t.Errorf("%+v: %s", c, all)
		}
	}
}

// Messages that wait are removed before the turn is interrupted: its end would start the next one.
func TestACancelRemovesWaitingMessagesFirst(t *testing.T) {
	r := newRig(t, 1)
	sent := 0
	r.native.Answers[protocol.DoSend] = func(protocol.Command) (any, *protocol.Error) {
		sent++
		if sent == 1 {
			return protocol.SendResult{MessageID: "m1", Turn: "t1", Status: protocol.SendStarted}, nil
		}
		return protocol.SendResult{MessageID: fmt.Sprint("m", sent), Status: protocol.SendQueued}, nil
	}
	r.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
	for range 3 {
		r.request("session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`)
	}
	r.Receive(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	var verbs []protocol.Verb
	for _, c := range r.native.Commands {
		if c.Command == protocol.DoQueueRemove || c.Command == protocol.DoInterrupt {
			verbs = append(verbs, c.Command)
		}
	}
	want := []protocol.Verb{protocol.DoQueueRemove, protocol.DoQueueRemove, protocol.DoInterrupt}
	if !slices.Equal(verbs, want) {
		t.Errorf("sent %q, want %q", verbs, want)
	}
}
