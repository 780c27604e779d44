package server

import (
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// newestVerbs returns the verbs of the commands after the first n, with the value of configure.
func newestVerbs(h *sandcastletest.NativeServer, n int) string {
	var list []string
	for _, c := range h.Commands[n:] {
		verb := string(c.Command)
		var d protocol.ConfigureData
		if c.Command == protocol.DoConfigure && c.DecodeData(&d) == nil {
			verb += "=" + d.Value
		}
		list = append(list, verb)
	}
	return strings.Join(list, " ")
}

func modeOptions(value string, choices ...string) protocol.Options {
	s := protocol.Setting{ID: wire.SettingMode, Value: value}
	for _, c := range choices {
		s.Choices = append(s.Choices, protocol.Choice{ID: c})
	}
	return protocol.Options{Settings: []protocol.Setting{s}}
}

// policyOptions are the settings of a session with a policy: of the agent, or for requests only.
func policyOptions(value string, requestsOnly bool) protocol.Options {
	s := protocol.Setting{ID: protocol.PolicySetting, Value: value, RequestsOnly: requestsOnly, Default: "auto-edit"}
	for _, c := range []string{"ask", "auto-edit", "plan"} {
		s.Choices = append(s.Choices, protocol.Choice{ID: c})
	}
	return protocol.Options{Settings: []protocol.Setting{s}}
}

func TestAMessageInModePlanSetsTheModeFirstOrIsRefused(t *testing.T) {
	send := sandcastletest.RequestFrame(0, "chat.send", `{"sessionId":"s","content":"hi","clientMessageId":"c","mode":"plan"}`)
	started := protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1"}
	for name, c := range map[string]struct {
		prepare func(*sandcastletest.Server)
		verbs   string
		answer  string
	}{
		"agent not started": {
			func(*sandcastletest.Server) {}, "snapshot configure=plan send", `"status":"started"`,
		},
		"agent builds": {
			func(d *sandcastletest.Server) {
				d.Append(protocol.AgentOptions, "", modeOptions("default", "default", "plan"))
			},
			"snapshot configure=plan send", `"status":"started"`,
		},
		"agent plans": {
			func(d *sandcastletest.Server) {
				d.Append(protocol.AgentOptions, "", modeOptions("plan", "default", "plan"))
			},
			"snapshot send", `"status":"started"`,
		},
		"agent with a policy": {
			func(d *sandcastletest.Server) { d.Append(protocol.AgentOptions, "", policyOptions("ask", false)) },
			"snapshot configure=plan send", `"status":"started"`,
		},
		"agent with a mode that has no plan, and a policy": {
			func(d *sandcastletest.Server) {
				o := modeOptions("default", "default", "auto")
				o.Settings = append(o.Settings, policyOptions("ask", false).Settings...)
				d.Append(protocol.AgentOptions, "", o)
			}, "snapshot configure=plan send", `"status":"started"`,
		},
		"policy for requests only": {
			func(d *sandcastletest.Server) {
				d.Append(protocol.AgentOptions, "", policyOptions("ask", true))
				d.Answers[protocol.DoConfigure] = protocol.Errorf(protocol.CodeNotFound, "unknown setting mode")
			}, "snapshot configure=plan snapshot", "the agent does not change to mode plan: unknown setting mode",
		},
		"agent without the mode": {
			func(d *sandcastletest.Server) {
				d.Answers[protocol.DoConfigure] = protocol.Errorf(protocol.CodeNotFound, "unknown setting mode")
			}, "snapshot configure=plan snapshot", "the agent does not change to mode plan: unknown setting mode",
		},
		"turn running": {
			func(d *sandcastletest.Server) { d.StartTurn("t1", "first") }, "snapshot", "cannot wait in the queue",
		},
		"turn started since": {
			func(d *sandcastletest.Server) {
				d.Answers[protocol.DoSend] = protocol.SendResult{Status: protocol.SendQueued, MessageID: "m1"}
				d.Answers[protocol.DoQueueRemove] = protocol.QueueRemoveResult{Removed: true}
			}, "snapshot configure=plan send queue.remove", "cannot wait in the queue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newServerTest(t)
			d.Answers[protocol.DoSend] = started
			c.prepare(d)
			n := len(d.Commands)
			sent := strings.Join(d.Request(send), "\n")
			if got := newestVerbs(d.NativeServer, n); got != c.verbs || !strings.Contains(sent, c.answer) {
				t.Errorf("commands %s, answer %s", got, sent)
			}
		})
	}
}

// The real server runs a message without a mode in mode build, also after one in mode plan.
func TestAMessageAfterOneInModePlanBuilds(t *testing.T) {
	for payload, want := range map[string]string{
		`{"sessionId":"s","content":"hi","clientMessageId":"c"}`:                "snapshot configure=acceptEdits send",
		`{"sessionId":"s","content":"hi","clientMessageId":"c","mode":"build"}`: "snapshot configure=acceptEdits send",
	} {
		d := newServerTest(t)
		d.Append(protocol.AgentOptions, "", modeOptions("acceptEdits", "default", "acceptEdits", "plan"))
		d.Request(sandcastletest.RequestFrame(0, "chat.send", `{"sessionId":"s","content":"hi","clientMessageId":"c","mode":"plan"}`))
		d.Append(protocol.AgentOptions, "", modeOptions("plan", "default", "acceptEdits", "plan"))
		n := len(d.Commands)
		d.Request(sandcastletest.RequestFrame(1, "chat.send", payload))
		if got := newestVerbs(d.NativeServer, n); got != want {
			t.Errorf("%s: %s", payload, got)
		}
	}
	d := newServerTest(t) // another client chose plan
	d.Append(protocol.AgentOptions, "", modeOptions("plan", "default", "plan"))
	n := len(d.Commands)
	d.Request(sandcastletest.RequestFrame(0, "chat.send", `{"sessionId":"s","content":"hi","clientMessageId":"c"}`))
	if got := newestVerbs(d.NativeServer, n); got != "send" {
		t.Errorf("without a mode: %s", got)
	}
}

func TestAnUnknownModeIsRefused(t *testing.T) {
	d := newServerTest(t)
	sent := d.Request(sandcastletest.RequestFrame(0, "chat.send", `{"sessionId":"s","content":"x","mode":"yolo"}`))
	if len(sent) != 1 || !strings.Contains(sent[0], `"Die"`) || strings.Contains(newestVerbs(d.NativeServer, 0), "send") {
		t.Errorf("%s", sent)
	}
}

// An unchanged mode would reset the users' choice for their next message.
func TestOnlyAChangeOfTheModeIsSent(t *testing.T) {
	d := newServerTest(t)
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	var got []string
	for _, mode := range []string{"default", "plan", "plan", "acceptEdits", "default"} {
		d.Append(protocol.AgentOptions, "", modeOptions(mode, "default", "acceptEdits", "plan"))
		got = append(got, d.Emit()...)
		got = append(got, d.Request(sandcastletest.AckFrame(0))...)
	}
	sandcastletest.WantLines(t, got,
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"StreamEvent","turnId":"","event":{"type":"mode-change","mode":"plan"}}]}`,
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"StreamEvent","turnId":"","event":{"type":"mode-change","mode":"build"}}]}`)
}
