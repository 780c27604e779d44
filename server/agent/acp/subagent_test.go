package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// lines returns the calls of the session's last turn that stand for sub-agents, as text.
func (s *shownSession) lines() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	of := map[string]bool{}
	for _, e := range s.events {
		switch d := e.Data.(type) {
		case protocol.ToolStartedData:
			if d.Session != "" {
				of[d.Tool] = true
				fmt.Fprintf(&b, "%s in %s %s; ", d.Title, d.Session, d.Input)
			}
		case protocol.ToolOutputData:
			if of[d.Tool] {
				fmt.Fprintf(&b, "%q; ", d.Text)
			}
		case protocol.ToolEndedData:
			if of[d.Tool] {
				fmt.Fprintf(&b, "%s %s; ", d.Status, d.Error)
			}
		}
	}
	return strings.TrimSpace(b.String())
}

func TestASubAgentHasItsTurnsAndALineInItsParent(t *testing.T) {
	const parentsText = "I call spawn_agentI call wait_agentyou said: "
	for name, want := range map[string]struct {
		log   []string
		lines string
		asked string // of the sub-agent
	}{
		"codex-subagent": {
			[]string{
				`parent/Count files is made`, `parent/Count files begins "Count files"`,
				`parent/Count files "I call wait_agentyou said: ok" ends completed <nil>`,
				`parent "` + parentsText + `ok" ends completed <nil>`,
			},
			`Count files in parent/Count files {"task":"Count files"}; "you said: ok"; completed ;`, "",
		},
		"codex-subagent-command": {
			[]string{
				`parent/Worker is made`, `parent/Worker begins "Worker"`,
				`parent/Worker "I call exec_commanddone: Chunk ID: 88d3f3\nWall time: 0.0000 seconds\nProcess exited with code 0\n` +
					`Original token count: 1\nOutput:\nout\n" ends completed <nil>`,
				`parent "` + parentsText + `out" ends completed <nil>`,
			},
			`Worker in parent/Worker {"task":"Worker"}; "done: Chunk ID: 88d3f3\nWall time: 0.0000 seconds\n` +
				`Process exited with code 0\nOriginal token count: 1\nOutput:\nout\n"; completed ;`,
			"echo hi > made.txt; echo out",
		},
		"claude-subagent-command": {
			[]string{
				`parent/count files is made`,
				`parent/count files begins "call Bash {\"command\":\"echo hi > made2.txt; echo out\",\"description\":\"as said\"}"`,
				`parent/count files "I call Bashdone: out" ends completed <nil>`,
				`parent "I call Agentyou said: fine" ends completed <nil>`,
			},
			`count files in parent/count files {"task":"call Bash {\"command\":\"echo hi > made2.txt; echo out\",` +
				`\"description\":\"as said\"}"}; "done: out"; completed ;`,
			"echo hi > made2.txt; echo out",
		},
		"claude-background-subagent": {
			[]string{
				`parent/count files is made`, `parent/count files begins "slow hello"`,
				`parent/count files "slowly hello" ends completed <nil>`,
				`parent "I call Agentyou said: fineyou said: fine" ends completed <nil>`,
			},
			`count files in parent/count files {"task":"slow hello"}; "slowly hello"; completed ;`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, s := playRecording(t, name)
				s.decide = allow
				s.prompt(t.Context(), a, "go")
				time.Sleep(time.Second)
				s.wantLog(t, want.log...)
				if got := s.lines(); got != want.lines {
					t.Errorf("the parent shows\n%s\nwant\n%s", got, want.lines)
				}
				for _, sub := range s.all.subAgents {
					sub.mu.Lock()
					defer sub.mu.Unlock()
					got := ""
					for _, a := range sub.asked {
						got += a.Command
					}
					if got != want.asked {
						t.Errorf("asked %q", got)
					}
					for _, e := range sub.events {
						if e.Parent != "" {
							t.Errorf("%s %+v is nested in %s", e.Type, e.Data, e.Parent)
						}
					}
				}
				if asked := s.requests(); len(asked) > 0 {
					t.Errorf("the parent was asked %+v", asked)
				}
			})
		})
	}
}

func TestASubAgentOutlivesTheTurnOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := playRecording(t, "codex-subagent-outlives")
		s.prompt(t.Context(), a, "go")
		if got, want := s.lines(), `Worker in parent/Worker {"task":"Worker"}; "it continues after this turn"; completed ;`; got != want {
			t.Errorf("the parent shows %s", got)
		}
		time.Sleep(time.Second)
		sub := s.all.get("01a2233f-7aa3-7ce2-9337-6244090c43f7:subagent:01a2233f-7b57-75c2-adf2-023f91a844b4")
		if !sub.interruptible() {
			t.Error("it cannot be interrupted")
		}
		sub.interrupt()
		time.Sleep(3 * time.Second)
		if sub.interruptible() {
			t.Error("it can be interrupted when idle")
		}
		s.prompt(t.Context(), a, "again")
		s.wantLog(t,
			`parent/Worker is made`, `parent/Worker begins "Worker"`,
			`parent "I call spawn_agentyou said: ok" ends completed <nil>`,
			`parent/Worker "drop 1 drop 2 drop 3 drop 4 drop 5 drop 6 " ends interrupted <nil>`,
			`parent/Worker begins ""`, `parent/Worker "you said: again" ends completed <nil>`,
			`parent "I call followup_taskI call wait_agentyou said: you said: again" ends completed <nil>`,
		)
	})
}

func TestNestedCallsAreBelowTheirCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := playRecording(t, "claude-nested-command")
		s.decide = allow
		s.prompt(t.Context(), a, "go")
		time.Sleep(time.Second)
		parents := map[string]string{}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, e := range s.events {
			if d, ok := e.Data.(protocol.ToolStartedData); ok {
				parents[d.Tool] = e.Parent
			}
		}
		if len(parents) != 2 || parents["turn/call_8_1"] != "" || parents["turn/call_9_1"] != "turn/call_8_1" {
			t.Errorf("parents %q", parents)
		}
		if len(s.asked) != 1 || s.asked[0].Command != "echo hi > made2.txt; echo out" {
			t.Errorf("asked %+v", s.asked)
		}
	})
}

func TestNestedTextIsAPartOfItsCall(t *testing.T) {
	c, _, r := knownTurn(t, catalog.Agent{})
	nested := func(parent, text string) string {
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text +
			`"},"_meta":{"claudeCode":{"parentToolUseId":"` + parent + `"}}}`
	}
	notify(c, `{"sessionUpdate":"tool_call","toolCallId":"a","title":"Task","_meta":{"claudeCode":{"parentToolUseId":"a"}}}`,
		nested("a", "in a"), nested("a", " too"), nested("unknown", "own"), nested("a", "again"))
	var got []string
	for _, e := range r.events {
		if d, ok := e.Data.(protocol.PartDeltaData); ok {
			got = append(got, d.Part+" "+e.Parent+" "+d.Text)
		}
		if d, ok := e.Data.(protocol.ToolStartedData); ok && e.Parent != "" {
			t.Errorf("%s is in itself", d.Tool)
		}
	}
	if want := []string{"p1 t/a in a", "p1 t/a  too", "p2  own", "p3 t/a again"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// subUpdate returns a line with an update about a sub-agent in an ACP session.
func subUpdate(session, fields string) recordedLine {
	return recordedLine{0, "a2c", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session +
		`","update":{"sessionUpdate":"subagent_update",` + fields + `}}}`}
}

// in returns a line of the agent for another ACP session.
func in(session, line string) recordedLine {
	return recordedLine{0, "a2c", strings.Replace(line, `"sessionId":"s"`, `"sessionId":"`+session+`"`, 1)}
}

const (
	works = `"state":{"state":"running"}`
	idle  = `"state":{"state":"idle","stopReason":"end_turn"}`
)

func TestAHostileAgentMixesUpNoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := []recordedLine{
			in("nobody", chunkOf("stray")),                             // not announced
			subUpdate("nobody", `"sessionId":"x",`+works),              // below one that is not known
			subUpdate("s", `"sessionId":"s",`+works),                   // the agent itself
			subUpdate("s", `"sessionId":"",`+works),                    // no id
			subUpdate("s", `"sessionId":["a"],`+works),                 // an id of another type
			subUpdate("s", `"sessionId":"a","title":"A",`+works),       //
			subUpdate("a", `"sessionId":"a",`+works),                   // below itself
			subUpdate("a", `"sessionId":"b","title":"B",`+works),       // a child of a child
			subUpdate("b", `"sessionId":"a","title":"Stolen",`+works),  // an id again, below its own child
			subUpdate("a", `"sessionId":"s","title":"Stolen",`+works),  // the agent below its sub-agent
			in("b", chunkOf("b speaks")), in("a", chunkOf("a speaks")), //
			in("a", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}}}`),
			subUpdate("b", `"sessionId":"b",`+idle),     // a sub-agent ends itself
			subUpdate("s", `"sessionId":"a","state":7`), // a state of another type
			subUpdate("s", `"sessionId":"a",`+idle), subUpdate("a", `"sessionId":"b",`+idle),
		}
		a, s := scripted(t, lines...)
		s.prompt(t.Context(), a, "go")
		time.Sleep(time.Minute)
		synctest.Wait()
		got := map[string]bool{}
		s.all.mu.Lock()
		for _, l := range s.all.log {
			got[l] = true
		}
		s.all.mu.Unlock()
		for _, want := range []string{
			`parent/A "a speaks" ends completed <nil>`, `parent/A/B "b speaks" ends completed <nil>`,
		} {
			if !got[want] {
				t.Errorf("no %s in %v", want, got)
			}
		}
		if s.all.count() != 2 || strings.Contains(s.text(), "stray") {
			t.Errorf("%d sub-agents, text %q", s.all.count(), s.text())
		}
		for _, d := range s.data(protocol.AgentOptions) {
			if strings.Contains(string(protocol.MustEncode(d)), "yolo") {
				t.Error("a sub-agent changed the mode of its parent")
			}
		}
	})
}

func TestAnAgentWithThousandsOfSubAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []recordedLine
		for i := range 2 * maxSubAgents {
			lines = append(lines, subUpdate("s", fmt.Sprintf(`"sessionId":"a%d",%s`, i, works)))
		}
		lines = append(lines, in("a3", chunkOf("shown")), in("a1999", chunkOf("not shown")), in("s", chunkOf("own")))
		a, s := scripted(t, lines...)
		s.all.most = 5
		s.prompt(t.Context(), a, "go")
		time.Sleep(time.Minute)
		synctest.Wait()
		notices := 0
		for _, d := range s.data(protocol.Notice) {
			if strings.Contains(d.(protocol.NoticeData).Message, "sub-agents that are not shown") {
				notices++
			}
		}
		if n := s.all.count(); n != 5 || notices > 1 {
			t.Errorf("%d sub-agents, %d notices", n, notices)
		}
		a.client.subs.mu.Lock()
		defer a.client.subs.mu.Unlock()
		if n := len(a.client.subs.byID); n > maxSubAgents {
			t.Errorf("%d are kept", n)
		}
	})
}

func TestSubAgentsOfAnAgentThatExitsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := scripted(t, subUpdate("s", `"sessionId":"a","title":"A",`+works), in("a", chunkOf("half")),
			recordedLine{1_000, "end", ""})
		s.prompt(t.Context(), a, "go")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		s.all.mu.Lock()
		defer s.all.mu.Unlock()
		if last := s.all.log[len(s.all.log)-1]; last != `parent/A "half" ends  Recorded ended` {
			t.Errorf("ended as %s", last)
		}
	})
}

func TestASubAgentIsTheSameAfterALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := []recordedLine{
			{0, "c2a", `{"id":1,"method":"initialize"}`},
			{
				0, "a2c",
				`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`,
			},
			{0, "c2a", `{"id":2,"method":"session/load"}`},
			subUpdate("s", `"sessionId":"a","title":"A",`+works), in("a", chunkOf("of the past")),
			subUpdate("s", `"sessionId":"a",`+idle),
			{0, "a2c", `{"jsonrpc":"2.0","id":2,"result":{}}`},
			subUpdate("s", `"sessionId":"a",`+idle),
			{0, "c2a", `{"id":3,"method":"session/prompt"}`},
			subUpdate("s", `"sessionId":"a",`+works), in("a", chunkOf("again")), subUpdate(
				"s", `"sessionId":"a",`+idle,
			),
			{10, "a2c", `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`},
		}
		a, s := playLines(t, lines)
		a.saved = state{Session: "s", Owner: "ses", Prompted: true}
		s.prompt(t.Context(), a, "go")
		synctest.Wait()
		s.wantLog(
			t, `parent/A is made`, `parent/A begins "A"`, `parent/A "again" ends completed <nil>`,
			`parent "" ends completed <nil>`,
		)
	})
}

func TestTheStateOfASubAgentEndsNoPromptOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&shownSessions{most: 9}).new("parent")
		c := newTestClient(s.recorder)
		c.host, c.wire, c.config.Version = s, newWire(versionTwo), versionTwo
		a := &Agent{host: s, config: Config{CancelTimeout: time.Second}}
		c.subs.agent, c.subs.host = a, s
		in, open := io.Pipe()
		c.conn = rpc.New(in, io.Discard, c)
		defer c.conn.Wait()
		defer func() { _ = open.Close() }()
		prompt := &promptV2{accepted: true, ended: make(chan promptEndV2, 1)}
		c.wire.(*wireV2).setPrompt(prompt)
		send := func(session, update string) {
			c.HandleNotification("session/update", json.RawMessage(`{"sessionId":"`+session+`","update":`+update+`}`))
			synctest.Wait()
		}
		send("s", `{"sessionUpdate":"subagent_update","sessionId":"a","title":"A"}`)
		send("a", `{"sessionUpdate":"state_update","state":"running"}`)
		send("a", `{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"two"}]}`)
		send("a", `{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"two words"}]}`)
		send("a", `{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`)
		send("nobody", `{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`)
		if len(prompt.ended) != 0 {
			t.Error("the prompt has ended")
		}
		send("s", `{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`)
		if len(prompt.ended) != 1 {
			t.Error("the prompt runs")
		}
		c.subs.finish()
		s.all.running.Wait()
		log := strings.Join(s.all.log, "\n")
		if !strings.Contains(log, `parent/A "two words" ends completed`) || len(s.data(protocol.Raw)) != 1 {
			t.Errorf("got\n%s\n%s", log, s.eventLines())
		}
	})
}
