package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/tui"
	"agentctl/wsclient"
)

// connected runs a server in this process with one script for all sessions, and connects to it.
func connected(t *testing.T, agent string) *wsclient.Client {
	t.Helper()
	played, err := script.Parse("agent.script", strings.NewReader(agent))
	if err != nil {
		t.Fatal(err)
	}
	s, err := embedded.Start(t.Context(), embedded.Options{Agents: tourAgents{played}})
	if err != nil {
		t.Fatal(err)
	}
	url := "ws://" + embedded.Host
	c := wsclient.New(url, wsclient.Options{Dial: s.Dialer(url), Name: "ann"})
	t.Cleanup(func() {
		_ = c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func create(t *testing.T, c *wsclient.Client) *view {
	t.Helper()
	made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "", protocol.CreateData{Agent: "tour"})
	if err != nil {
		t.Fatal(err)
	}
	return &view{client: c, session: made.Session}
}

// patient is a context that ends before the test's patience does.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestTheScreenSeesTheConnectionAndTheSession(t *testing.T) {
	c := connected(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := create(t, c)
	var connected *tui.Link
	var attached *protocol.SubscribeResult
	var types []protocol.Type
	for u := range v.Updates(patient(t)) {
		switch {
		case u.Link != nil && u.Link.State == tui.Connected:
			connected = u.Link
		case u.Attached != nil:
			attached = u.Attached
			if err := v.Do(t.Context(), protocol.DoSend, protocol.SendData{Text: "x"}, nil); err != nil {
				t.Fatal(err)
			}
		case u.Event != nil && u.Event.Durable():
			types = append(types, u.Event.Type)
		}
		if len(types) > 0 && types[len(types)-1] == protocol.TurnEnded {
			break
		}
	}
	if connected == nil || connected.Connection == "" || connected.By.Name != "ann" {
		t.Errorf("connected as %+v", connected)
	}
	if attached == nil || attached.Snapshot == nil {
		t.Errorf("attached with %+v", attached)
	}
	if len(types) < 4 || types[len(types)-1] != protocol.TurnEnded {
		t.Errorf("saw %v", types)
	}
}

func TestTheScreenIsToldLastThatTheSessionIsGone(t *testing.T) {
	c := connected(t, `{"on":"*"}`+"\n"+`{"say":"hi"}`)
	v := &view{client: c, session: "nope"}
	var last tui.Update
	for u := range v.Updates(patient(t)) {
		last = u
	}
	if last.Link == nil || last.Link.State != tui.Offline || !strings.Contains(last.Link.Reason, "nope") {
		t.Errorf("last %+v", last.Link)
	}
}

func TestTheGuideExplainsAllowsAndEndsTheSession(t *testing.T) {
	c := connected(t, `{"on":"*"}`+"\n"+`{"ask":"command","title":"List","command":"ls","explain":"why not","then":[{"say":"done"}]}`)
	g := &guide{view: create(t, c), turns: 1}
	if err := g.Do(t.Context(), protocol.DoSend, protocol.SendData{Text: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	var types []protocol.Type
	for u := range g.Updates(patient(t)) {
		if u.Event == nil {
			continue
		}
		types = append(types, u.Event.Type)
		if u.Event.Type == protocol.SessionClosed {
			break
		}
	}
	for _, want := range []protocol.Type{protocol.ApprovalExplained, protocol.ApprovalResolved, protocol.TurnEnded, protocol.SessionClosed} {
		if !slices.Contains(types, want) {
			t.Errorf("no %s in %v", want, types)
		}
	}
	if g.err != nil {
		t.Error(g.err)
	}
}
