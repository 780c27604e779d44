package tour

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/cli/screen"
	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/wsclient"
)

func TestTheTourUserExplainsAllowsAndCloses(t *testing.T) {
	agent, err := script.Parse("agent.script", strings.NewReader(`{"on":"*"}`+"\n"+`{"ask":"command","title":"List","command":"ls","explain":"why not","then":[{"say":"done"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Start(t.Context(), embedded.Options{Agents: tourAgents{agent}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	url := "ws://" + embedded.Host
	c := wsclient.New(url, wsclient.Options{Dial: server.Dialer(url)})
	t.Cleanup(func() { _ = c.Close() }) // never fails
	if err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "",
		protocol.CreateData{Agent: "tour"})
	if err != nil {
		t.Fatal(err)
	}
	u := &tourUser{Session: &screen.Session{Client: c, Session: made.Session}, turns: 1}
	if err := u.Do(t.Context(), protocol.DoSend, protocol.SendData{Text: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var types []protocol.Type
	for update := range u.Updates(ctx) {
		if update.Event == nil {
			continue
		}
		types = append(types, update.Event.Type)
		if update.Event.Type == protocol.SessionClosed {
			break
		}
	}
	for _, want := range []protocol.Type{
		protocol.ApprovalExplained, protocol.ApprovalResolved, protocol.TurnEnded,
		protocol.SessionClosed,
	} {
		if !slices.Contains(types, want) {
			t.Errorf("no %s in %v", want, types)
		}
	}
	if u.err != nil {
		t.Error(u.err)
	}
}
