package fakeacp

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// prompt plays the steps of a prompt and answers it.
func (a *agent) prompt(id json.RawMessage, s *session, text string) {
	s.prompts = append(s.prompts, text)
	a.keep(s)
	reason, after := "end_turn", ""
	for step := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(step, "\n"), " ")
		switch verb {
		case "stop":
			reason = rest
		case "after":
			after = rest
		case "hang":
			<-s.cancel
			reason = "cancelled"
		case "fail":
			code, message, _ := strings.Cut(rest, " ")
			n, _ := strconv.Atoi(code)
			a.refuse(id, n, message)
			return
		default:
			a.step(s, verb, rest)
		}
		if reason == "cancelled" {
			break
		}
	}
	a.reply(id, obj{"stopReason": reason, "usage": obj{"inputTokens": 11, "outputTokens": 7, "cachedReadTokens": 3, "thoughtTokens": 2}})
	if after != "" {
		a.say(s, after)
	}
}

func (a *agent) say(s *session, text string) { a.chunk(s, "agent_message_chunk", text) }

func (a *agent) step(s *session, verb, rest string) {
	n, _ := strconv.Atoi(rest)
	switch verb {
	case "say":
		a.say(s, rest)
	case "think":
		a.chunk(s, "agent_thought_chunk", rest)
	case "update":
		a.send(obj{"method": "session/update", "params": obj{"sessionId": s.id, "update": json.RawMessage(rest)}})
	case "ask":
		a.permission(s, allKinds, rest, func() {})
	case "askon":
		a.permission(s, allKinds, rest, func() { a.say(s, "meanwhile ") })
	case "askwith":
		kinds, call, _ := strings.Cut(rest, " ")
		a.permission(s, kinds, call, func() {})
	case "request":
		m := a.ask(rest, obj{"sessionId": s.id}, func() {})
		if m.Error != nil {
			a.say(s, fmt.Sprintf("%s: %d", rest, m.Error.Code))
		} else {
			a.say(s, rest+": accepted")
		}
	case "line":
		a.line(rest)
	case "bytes":
		b, _ := hex.DecodeString(rest)
		a.line(string(b))
	case "burst":
		for i := range n {
			a.say(s, fmt.Sprintf("%d ", i))
		}
	case "big":
		a.say(s, strings.Repeat("x", n))
	case "stderr":
		fmt.Fprintln(os.Stderr, rest)
	case "child":
		a.say(s, a.child())
	case "sessions":
		a.say(s, fmt.Sprintf("prompts: %d", len(s.prompts)))
	case "option":
		a.say(s, fmt.Sprintf("%s is %s", rest, s.options[rest]))
	case "deaf":
		select {}
	case "exit":
		os.Exit(n)
	default:
		a.say(s, "what is "+verb+"? ")
	}
}

const allKinds = "allow_once,allow_always,reject_once,reject_always"

// permission offers the options in an order of its own and under ids of its own.
func (a *agent) permission(s *session, kinds, call string, meanwhile func()) {
	options := []obj{}
	for i, k := range strings.Split(kinds, ",") {
		options = append(options, obj{"optionId": fmt.Sprintf("opt-%d-%s", i, k), "kind": k, "name": "Do " + k})
	}
	slices.Reverse(options)
	m := a.ask("session/request_permission", obj{"sessionId": s.id, "options": options, "toolCall": json.RawMessage(call)}, meanwhile)
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(m.Result, &r)
	switch {
	case m.Error != nil:
		a.say(s, "refused: "+m.Error.Message)
	case r.Outcome.Outcome == "selected":
		a.say(s, "selected "+r.Outcome.OptionID)
	default:
		a.say(s, r.Outcome.Outcome)
	}
}

// child starts a process that ignores TERM and returns its pid.
func (a *agent) child() string {
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	c := exec.CommandContext(context.Background(), self) // it is to outlive the agent
	c.Env = append(os.Environ(), EnvVar+"=child")
	if err := c.Start(); err != nil {
		return err.Error()
	}
	return strconv.Itoa(c.Process.Pid)
}
