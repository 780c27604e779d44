//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// Every message of random sessions has the form of the protocol's schema, in both versions.
func TestMessagesOfRandomSessionsAreValid(t *testing.T) {
	for version := 1; version <= 2; version++ {
		rapid.Check(t, func(rt *rapid.T) {
			var frames []frame
			conn := acp.New(codec.ServerOptions{ID: codectest.IDs(), Version: "1"}, acp.Options{})
			now := time.Unix(1, 0)
			var deliver func(out codec.Output)
			deliver = func(out codec.Output) {
				for _, f := range out.Foreign {
					frames = append(frames, frame{toClient, string(f.Data)})
				}
				for _, line := range out.Native {
					c, err := protocol.DecodeCommand(line)
					if err != nil {
						rt.Fatal(err)
					}
					a := protocol.Answer{ID: c.ID, Result: protocol.MustEncode(protocol.Empty{})}
					switch c.Command {
					case protocol.DoCreate:
						a.Result = protocol.MustEncode(protocol.CreateResult{Session: "s"})
					case protocol.DoSubscribe:
						a.Result = protocol.MustEncode(protocol.SubscribeResult{Session: "s", Mode: protocol.ModeResume})
					case protocol.DoList:
						a.Result = protocol.MustEncode(protocol.ListResult{Sessions: []protocol.Summary{{Session: "s", CWD: "/w"}}})
					}
					deliver(conn.Native(now, protocol.MustEncode(a)))
				}
			}
			request := func(id int, method, params string) {
				line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
				frames = append(frames, frame{toAgent, line})
				deliver(conn.Foreign(now, codec.Frame{Data: []byte(line)}))
			}
			const form = `{"elicitation":{"form":{},"url":{}},"session":{"notices":{}}}`
			request(1, "initialize", fmt.Sprintf(`{"protocolVersion":%d,"clientCapabilities":%s,"capabilities":%s}`, version, form, form))
			request(2, "session/new", `{"cwd":"/w","mcpServers":[]}`)
			g := historygen.Generator{T: rt, State: &protocol.State{Session: "s"}, Now: now}
			add := func(n codec.Entry) {
				e := protocol.Event{
					Session: "s", Seq: g.State.Seq + 1, Turn: n.Turn, Task: n.Task, Parent: n.Parent, By: n.By, Type: n.Type,
					Time: now, Data: protocol.MustEncode(n.Data),
				}
				if g.State.Apply(&e) == nil {
					deliver(conn.Native(now, e.AppendJSON(nil)))
				}
			}
			deliver(conn.Native(now, codec.Ephemeral("s", protocol.CaughtUp, now, protocol.CaughtUpData{})))
			for range rapid.IntRange(1, 80).Draw(rt, "events") {
				add(g.Next())
				now = now.Add(time.Second)
				deliver(conn.Wake(now))
			}
			request(3, "session/list", `{}`)
			request(4, "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}`)
			request(5, "session/close", `{"sessionId":"s"}`)
			judgeFrames(t, frames, version, toClient)
			if t.Failed() {
				rt.FailNow()
			}
		})
	}
}
