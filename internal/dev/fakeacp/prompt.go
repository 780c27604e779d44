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

// runPrompt runs the steps of a prompt and responds to it.
func (a *agent) runPrompt(id json.RawMessage, s *session, text string) {
	s.prompts = append(s.prompts, text)
	a.saveSession(s)
	reason, after, late := "end_turn", "", ""
	result := obj{}
	for step := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(step, "\n"), " ")
		switch verb {
		case "stop":
			reason = rest
		case "usage":
			result["usage"] = json.RawMessage(rest)
		case "after":
			after = rest
		case "late": // a line after the end of the turn
			late = rest
		case "hang":
			select {
			case <-s.cancel:
			case <-a.done:
			}
			reason = "cancelled"
		case "fail":
			code, message, _ := strings.Cut(rest, " ")
			n, _ := strconv.Atoi(code)
			a.refuse(id, n, message)
			return
		default:
			a.runStep(s, verb, rest)
		}
		if reason == "cancelled" {
			break
		}
	}
	a.refuseSteers(s)
	result["stopReason"] = reason
	a.reply(id, result)
	if after != "" {
		a.sendText(s, after)
	}
	if late != "" {
		a.writeLine(late)
	}
}

func (a *agent) sendText(s *session, text string) { a.sendChunk(s, "agent_message_chunk", text) }

func (a *agent) runStep(s *session, verb, rest string) {
	n, _ := strconv.Atoi(rest)
	switch verb {
	case "say":
		a.sendText(s, rest)
	case "think":
		a.sendChunk(s, "agent_thought_chunk", rest)
	case "update":
		a.send(obj{"method": "session/update", "params": obj{"sessionId": s.id, "update": json.RawMessage(rest)}})
	case "in": // ID STEP: a step in the session of a sub-agent
		id, step, _ := strings.Cut(rest, " ")
		verb, rest, _ := strings.Cut(step, " ")
		a.mu.Lock()
		a.parents[id] = s
		a.mu.Unlock()
		a.runStep(&session{id: id, cwd: s.cwd}, verb, rest)
	case "ask":
		a.requestPermission(s, allKinds, rest, func() {})
	case "askon":
		a.requestPermission(s, allKinds, rest, func() { a.sendText(s, "meanwhile ") })
	case "askthen": // {"ask":CALL,"then":UPDATE}, sent while the request waits
		var x struct{ Ask, Then json.RawMessage }
		_ = json.Unmarshal([]byte(rest), &x)
		a.requestPermission(s, allKinds, string(x.Ask), func() {
			a.send(obj{"method": "session/update", "params": obj{"sessionId": s.id, "update": x.Then}})
		})
	case "asksend": // {"ask":CALL,"send":MESSAGE}, sent while the request ask-N waits
		x := askAndSend(rest)
		a.requestPermission(s, allKinds, string(x.Ask), func() { a.writeLine(string(x.Send)) })
	case "elicit": // PARAMS of elicitation/create, without the session
		a.elicit(s, json.RawMessage(rest), func() {})
	case "elicitsend": // {"ask":PARAMS,"send":MESSAGE}
		x := askAndSend(rest)
		a.elicit(s, x.Ask, func() { a.writeLine(string(x.Send)) })
	case "askwith":
		kinds, call, _ := strings.Cut(rest, " ")
		a.requestPermission(s, kinds, call, func() {})
	case "request":
		m := a.request(rest, obj{"sessionId": s.id}, func() {})
		if m.Error != nil {
			a.sendText(s, fmt.Sprintf("%s: %d", rest, m.Error.Code))
		} else {
			a.sendText(s, rest+": accepted")
		}
	case "steer":
		a.answerSteer(s, rest)
	case "drain":
		a.drain(s)
	case "line":
		a.writeLine(rest)
	case "bytes":
		b, _ := hex.DecodeString(rest)
		a.writeLine(string(b))
	case "burst":
		for i := range n {
			a.sendText(s, fmt.Sprintf("%d ", i))
		}
	case "big":
		a.sendText(s, strings.Repeat("x", n))
	case "image":
		a.sendImage(s, n)
	case "stderr":
		fmt.Fprintln(os.Stderr, rest)
	case "child":
		a.sendText(s, a.startChild())
	case "sessions":
		a.sendText(s, fmt.Sprintf("prompts: %d", len(s.prompts)))
	case "blocks":
		for _, b := range s.blocks {
			a.sendText(s, string(b)+"\n")
		}
	case "option":
		a.sendText(s, fmt.Sprintf("%s is %s", rest, s.options[rest]))
	case "mcp":
		a.sendText(s, string(s.servers))
	case "mcpcall":
		text, err := callMCP(s.servers, rest)
		if err != nil {
			text = err.Error()
		}
		a.sendText(s, text)
	case "getenv":
		a.sendText(s, rest+" is "+os.Getenv(rest))
	case "deaf":
		select {}
	case "exit":
		os.Exit(n)
	default:
		a.sendText(s, "unknown step "+verb+" ")
	}
}

const allKinds = "allow_once,allow_always,reject_once,reject_always"

// requestPermission requests permission with options in its own order and with its own ids, then
// says the outcome.
func (a *agent) requestPermission(s *session, kinds, call string, during func()) {
	options := []obj{}
	for i, k := range strings.Split(kinds, ",") {
		options = append(options, obj{"optionId": fmt.Sprintf("opt-%d-%s", i, k), "kind": k, "name": "Do " + k})
	}
	slices.Reverse(options)
	params := obj{"sessionId": s.id, "options": options, "toolCall": json.RawMessage(call)}
	m := a.request("session/request_permission", params, during)
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(m.Result, &r)
	switch {
	case m.Error != nil:
		a.sendText(s, "refused: "+m.Error.Message)
	case r.Outcome.Outcome == "selected":
		a.sendText(s, "selected "+r.Outcome.OptionID)
	default:
		a.sendText(s, r.Outcome.Outcome)
	}
}

// asking is a request, and a message that is sent while it waits.
type asking struct{ Ask, Send json.RawMessage }

func askAndSend(step string) (x asking) {
	_ = json.Unmarshal([]byte(step), &x)
	return x
}

// elicit asks the user, then says the result or the code of the error.
func (a *agent) elicit(s *session, ask json.RawMessage, during func()) {
	params := obj{"sessionId": s.id}
	_ = json.Unmarshal(ask, &params)
	m := a.request("elicitation/create", params, during)
	if m.Error != nil {
		a.sendText(s, fmt.Sprint(m.Error.Code))
	} else {
		a.sendText(s, string(m.Result))
	}
}

// sendImage sends a finished tool call whose output is an image of n bytes: 0x89, then the numbers
// from 1, one a line.
func (a *agent) sendImage(s *session, n int) {
	image := []byte{0x89}
	for i := 1; len(image) < n; i++ {
		image = append(strconv.AppendInt(image, int64(i), 10), '\n')
	}
	a.sendUpdate(s, obj{
		"sessionUpdate": "tool_call", "toolCallId": "image", "title": "Take a picture", "status": "completed",
		"content": []obj{{"type": "content", "content": obj{
			"type": "image", "mimeType": "image/png", "uri": "file:///tmp/shot.png", "data": image[:n],
		}}},
	})
}

// startChild starts a process that ignores TERM and returns its pid.
func (a *agent) startChild() string {
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	c := exec.CommandContext(context.Background(), self) // outlives the agent
	c.Env = append(os.Environ(), EnvVar+"=child")
	if err := c.Start(); err != nil {
		return err.Error()
	}
	return strconv.Itoa(c.Process.Pid)
}
