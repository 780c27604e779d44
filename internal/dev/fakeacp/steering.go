package fakeacp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

func (a *agent) name() string {
	if a.has("qwen") {
		return "qwen-code"
	}
	if a.has("auto") {
		return "@agentclientprotocol/claude-agent-acp"
	}
	return "fakeacp"
}

// steer keeps a request for a step of the prompt.
func (a *agent) steer(s *session, m message) {
	if s == nil || !a.has("steering") {
		a.refuse(m.ID, -32601, "no such method: "+m.Method)
		return
	}
	s.steers <- m
}

// answerSteer waits for a request and answers it.
func (a *agent) answerSteer(s *session, outcome string) {
	var m message
	select {
	case m = <-s.steers:
	case <-s.cancel:
		s.cancel <- struct{}{} // for hang
		return
	case <-a.done:
		return
	}
	var p struct {
		Prompt []struct{ Text string }
		Meta   struct{ Steering struct{ IdleBehavior string } } `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	text := ""
	for _, b := range p.Prompt {
		text += b.Text
	}
	f, err := os.OpenFile(filepath.Join(a.dir, "steered"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.WriteString(text + "\n")
		_ = f.Close()
	}
	switch outcome {
	case "silent":
	case "error":
		a.refuse(m.ID, -32603, "no steering today")
	default:
		a.reply(m.ID, obj{"outcome": outcome})
		a.sendText(s, "got "+text+" ("+p.Meta.Steering.IdleBehavior+") ")
	}
}

// refuseSteers answers the requests that no step has answered: no turn takes them.
func (a *agent) refuseSteers(s *session) {
	for {
		select {
		case m := <-s.steers:
			a.reply(m.ID, obj{"outcome": "promptRequired", "reason": "noRunningTurn"})
		default:
			return
		}
	}
}

// drain asks for messages, and says their texts.
func (a *agent) drain(s *session) {
	m := a.request("craft/drainMidTurnQueue", obj{"sessionId": s.id, "promptId": "p"}, func() {})
	var r struct {
		Messages []string
		Items    []struct {
			MessageID, DisplayText string
			Content                []struct{ Type, Text string }
		}
	}
	_ = json.Unmarshal(m.Result, &r)
	texts := []string{}
	for i, item := range r.Items {
		if len(r.Messages) != len(r.Items) || r.Messages[i] != item.DisplayText || len(item.Content) == 0 ||
			item.Content[0].Text != item.DisplayText || item.MessageID == "" {
			texts = append(texts, "inconsistent")
		}
		texts = append(texts, item.DisplayText)
	}
	a.sendText(s, "drained "+strings.Join(texts, ",")+" ")
}
