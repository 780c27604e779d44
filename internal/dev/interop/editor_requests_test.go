//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/historygen"
	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/requestcases"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/protocol/acp"
	"agentctl/protocol/codec"
)

// What is decided in an editor is what runs: title, content and option names together hold all of it,
// or nothing can be allowed.
func TestRequestsInEditorsHaveAllThatRuns(t *testing.T) {
	dir := t.TempDir()
	interoptest.Must(t, requestcases.Prepare(dir))
	cases := slices.DeleteFunc(requestcases.All(dir), func(c requestcases.Case) bool {
		args := protocol.ReadArguments([]byte(c.Input)) // a script has each name once, and is not deep
		return strings.Contains(args.Opaque(), "twice") || strings.Contains(args.Opaque(), "deep")
	})
	script := `{"on":"*"}` + "\n"
	for i := range cases {
		a := cases[i].Approval(dir)
		if input, ok := protocol.Compact(a.Input); ok { // the script is UTF-8
			a.Input = input
		}
		var fields map[string]json.RawMessage
		interoptest.Must(t, json.Unmarshal(protocol.MustEncode(a), &fields))
		fields["ask"] = fields["kind"]
		for _, name := range []string{"kind", "asked", "options"} {
			delete(fields, name)
		}
		script += string(protocol.MustEncode(fields)) + "\n"
	}
	file := filepath.Join(t.TempDir(), "cases.script")
	interoptest.Must(t, os.WriteFile(file, []byte(script), 0o600))
	data := filepath.Join(t.TempDir(), "data")
	server := interoptest.Serve(t, data, file)
	t.Cleanup(server.Stop)
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			e := startEditor(t, version, "stdio", testbinary.Program, "acp", "--data", data)
			id := e.open(dir)
			call := e.prompt(id, "go")
			for i := range cases {
				ask := e.waitAsk()
				var p struct {
					Title, Description string
					Tool               struct {
						Title   string
						Content json.RawMessage
					} `json:"toolCall"`
					Options []struct {
						ID         string `json:"optionId"`
						Name, Kind string
					}
				}
				interoptest.Must(t, json.Unmarshal(ask.Params, &p))
				var content []struct{ Content struct{ Text string } }
				if version == 1 {
					interoptest.Must(t, json.Unmarshal(p.Tool.Content, &content))
				}
				shown := p.Title + p.Tool.Title + "\n" + p.Description
				for _, c := range content {
					shown += c.Content.Text
				}
				allows, reject := false, ""
				for _, o := range p.Options {
					shown += "\n" + o.Name
					allows = allows || strings.HasPrefix(o.Kind, "allow")
					if o.Kind == "reject_once" && reject == "" {
						reject = o.ID
					}
				}
				args := protocol.ReadArguments([]byte(cases[i].Input))
				unclear := cases[i].Input != "" && args.Opaque() != ""
				if missing := cases[i].Missing(shown); allows && (missing != nil || unclear) {
					t.Errorf("%s: can be allowed, lacks %q: %s", cases[i].Name, missing, shown)
				}
				e.write(obj{"answer": ask.Ask, "result": obj{"outcome": obj{"outcome": "selected", "optionId": reject}}})
			}
			if l := e.end(call); l.Error != nil { // how a denial ends a turn is not of interest
				t.Errorf("the prompt: %+v", l.Error)
			}
		})
	}
}

// A codecEditor is an editor of a codec whose server has one session, s.
type codecEditor struct {
	fatal   func(...any)
	version int
	conn    *acp.Conn
	now     time.Time
	state   *protocol.State
	frames  []frame
	last    int
}

// openCodec returns an editor that has the session open.
func openCodec(fatal func(...any), version int) *codecEditor {
	e := &codecEditor{
		fatal: fatal, version: version, now: time.Unix(1, 0), state: &protocol.State{Session: "s"},
		conn: acp.New(codec.ServerOptions{ID: codectest.IDs(), Version: "1"}, acp.Options{Agent: "a", Login: true}),
	}
	const can = `{"elicitation":{"form":{},"url":{}},"session":{"notices":{}},"auth":{"terminal":%s}}`
	v1, v2 := fmt.Sprintf(can, "true"), fmt.Sprintf(can, "{}")
	e.request("initialize", fmt.Sprintf(`{"protocolVersion":%d,"clientCapabilities":%s,"capabilities":%s}`, version, v1, v2))
	e.request("session/new", `{"cwd":"/w","mcpServers":[]}`)
	e.deliver(e.conn.Native(e.now, codec.Ephemeral("s", protocol.CaughtUp, e.now, protocol.CaughtUpData{})))
	return e
}

func (e *codecEditor) deliver(out codec.Output) {
	for _, f := range out.Foreign {
		e.frames = append(e.frames, frame{toClient, string(f.Data)})
	}
	for _, line := range out.Native {
		c, err := protocol.DecodeCommand(line)
		if err != nil {
			e.fatal(err)
		}
		a := protocol.Answer{ID: c.ID, Result: protocol.MustEncode(protocol.Empty{})}
		switch c.Command {
		case protocol.DoCreate, protocol.DoFork:
			a.Result = protocol.MustEncode(protocol.CreateResult{Session: "s"})
		case protocol.DoSubscribe:
			a.Result = protocol.MustEncode(protocol.SubscribeResult{Session: "s", Mode: protocol.ModeResume})
		case protocol.DoList:
			a.Result = protocol.MustEncode(protocol.ListResult{Sessions: []protocol.Summary{{Session: "s", CWD: "/w"}}})
		case protocol.DoOpenPage:
			a.Result = protocol.MustEncode(protocol.OpenPageResult{PageURL: "https://x.example/?q"})
		}
		e.deliver(e.conn.Native(e.now, protocol.MustEncode(a)))
	}
}

func (e *codecEditor) request(method, params string) {
	e.last++
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.last, method, params)
	e.frames = append(e.frames, frame{toAgent, line})
	e.deliver(e.conn.Foreign(e.now, codec.Frame{Data: []byte(line)}))
}

// add records an event that the state accepts.
func (e *codecEditor) add(n codec.Entry) {
	event := protocol.Event{
		Session: "s", Seq: e.state.Seq + 1, Turn: n.Turn, Task: n.Task, Parent: n.Parent, By: n.By, Type: n.Type,
		Time: e.now, Data: protocol.MustEncode(n.Data),
	}
	if e.state.Apply(&event) == nil {
		e.deliver(e.conn.Native(e.now, event.AppendJSON(nil)))
	}
	e.now = e.now.Add(time.Second)
	e.deliver(e.conn.Wake(e.now))
}

// Every message of random sessions has the form of the protocol's schema, in both versions.
func TestMessagesOfRandomSessionsAreValid(t *testing.T) {
	for version := 1; version <= 2; version++ {
		rapid.Check(t, func(rt *rapid.T) {
			e := openCodec(rt.Fatal, version)
			g := historygen.Generator{T: rt, State: e.state, Now: e.now}
			for range rapid.IntRange(1, 80).Draw(rt, "events") {
				e.add(g.Next())
			}
			e.request("session/list", `{}`)
			e.request("session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}`)
			e.request("session/close", `{"sessionId":"s"}`)
			if judgeFrames(t, e.frames, version, toClient); t.Failed() {
				rt.FailNow()
			}
		})
	}
}

// Every type of message that the codec can send is sent here and has the form of the schema. The types
// come from its source: a new one needs a line here.
func TestEveryTypeOfMessageIsValid(t *testing.T) {
	files, err := filepath.Glob("../../../protocol/acp/*.go")
	interoptest.Must(t, err)
	var source strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		interoptest.Must(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			source.Write(b)
		}
	}
	types := regexp.MustCompile(
		`"(tool_call|plan|notice|\w+_chunk|\w+_update|session/\w+|auth/login|authenticate|elicitation/create|\$/cancel_request)"`)
	want := map[string]bool{"initialize": true, "form": true, "url": true, "error": true}
	for _, m := range types.FindAllStringSubmatch(source.String(), -1) {
		want[m[1]] = true
	}
	lacks := map[int][]string{ // types that a version does not have, and notifications of the client
		1: {"plan_update", "state_update", "auth/login", "session/cancel"},
		2: {"plan", "tool_call", "current_mode_update", "session/load", "session/set_mode", "authenticate", "session/cancel"},
	}
	for version := 1; version <= 2; version++ {
		e := openCodec(t.Fatal, version)
		turn := func(typ protocol.Type, data any) { e.add(codec.Entry{Type: typ, Turn: "t1", Data: data}) }
		setting := protocol.Setting{ID: "mode", Value: "a", Choices: []protocol.Choice{{ID: "a"}, {ID: "b"}}}
		e.add(codec.Entry{Type: protocol.AgentOptions, Data: protocol.Options{
			Settings: []protocol.Setting{setting}, Commands: []protocol.SlashCommand{{Name: "x", About: "y", Hint: "z"}},
		}})
		turn(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "hi"}})
		turn(protocol.TurnStarted, protocol.TurnStartedData{MessageID: "m1"})
		turn(protocol.ReasoningStart, protocol.PartStartData{Part: "r"})
		turn(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "hm"})
		turn(protocol.TextStart, protocol.PartStartData{Part: "p"})
		turn(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "hello"})
		old := "a\n"
		turn(protocol.ToolStarted, protocol.ToolStartedData{Tool: "x", Name: "Bash", Kind: protocol.ToolExecute, Title: "ls"})
		turn(protocol.ToolOutput, protocol.ToolOutputData{Tool: "x", Text: "a", Content: []protocol.Content{
			{Type: "diff", Path: "/w/a", Old: &old, New: "b\n"}, {Type: "image", MediaType: "image/png", Data: []byte(`"eA=="`)},
		}})
		turn(protocol.ToolEnded, protocol.ToolEndedData{Tool: "x", Status: protocol.ToolCompleted})
		once := []protocol.Option{{Kind: protocol.AllowOnce}}
		for _, a := range []protocol.Approval{
			{Request: "r1", Kind: protocol.ApproveCommand, Command: "ls", Options: once},
			{Request: "r2", Kind: protocol.ApproveQuestion, Options: once, Questions: []protocol.Question{{ID: "q", Text: "?"}}},
			{Request: "r3", Kind: protocol.ApproveQuestion, Options: once, Page: &protocol.Page{URL: "https://x.example/", Host: "x.example"}},
		} {
			turn(protocol.ApprovalRequested, a)
		}
		turn(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: "r1", Text: "why"})
		turn(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny})
		turn(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "1", Title: "one"}}})
		turn(protocol.ContextUpdated, protocol.ContextInfo{Tokens: 1, MaxTokens: 2})
		turn(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: "careful"})
		title := "a title"
		e.add(codec.Entry{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &title}})
		turn(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
		const session = `{"sessionId":"s","cwd":"/w","mcpServers":[]}`
		for _, r := range []struct{ method, params string }{
			{"session/prompt", `{"sessionId":"s","prompt":[]}`},
			{"session/list", `{}`},
			{"session/set_mode", `{"sessionId":"s","modeId":"b"}`},
			{"authenticate", `{"methodId":"x"}`},
			{"auth/login", `{"methodId":"x"}`},
			{"session/set_config_option", `{"sessionId":"s","configId":"mode","value":"b"}`},
			{"session/load", session},
			{"session/resume", session},
			{"session/fork", session},
			{"session/delete", session},
			{"session/close", session},
		} {
			e.request(r.method, r.params)
			e.deliver(e.conn.Native(e.now, codec.Ephemeral("s", protocol.CaughtUp, e.now, protocol.CaughtUpData{})))
			if r.method == "session/prompt" {
				e.deliver(e.conn.Foreign(e.now, codec.Frame{Data: []byte(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)}))
			}
		}
		judgeFrames(t, e.frames, version, toClient)
		seen := typesOfFrames(t, e.frames)
		for typ := range want {
			if !seen[typ] && !slices.Contains(lacks[version], typ) {
				t.Errorf("version %d: no %s was sent", version, typ)
			}
		}
	}
}

// typesOfFrames returns the types of the messages to a client: methods, kinds of updates, modes of forms, and
// the methods of its requests that were answered.
func typesOfFrames(t *testing.T, frames []frame) map[string]bool {
	t.Helper()
	seen, asked := map[string]bool{}, map[string]string{}
	for _, f := range frames {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Mode   string `json:"mode"`
				Update struct {
					Kind string `json:"sessionUpdate"`
				} `json:"update"`
			} `json:"params"`
			Error json.RawMessage `json:"error"`
		}
		interoptest.Must(t, json.Unmarshal([]byte(f.Line), &m))
		switch {
		case f.Dir == toAgent:
			asked[string(m.ID)] = m.Method
		case m.Method != "":
			seen[m.Method], seen[m.Params.Mode], seen[m.Params.Update.Kind] = true, true, true
		default:
			seen[asked[string(m.ID)]] = true
			seen["error"] = seen["error"] || m.Error != nil
		}
	}
	return seen
}
