package embedded_test

import (
	"context"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// one is an agent that is all there is.
type one struct{ *script.Script }

func (one) Names() []string { return []string{"echo"} }

var _ session.Agents = one{}

// A test of a program that uses sessions: the server runs in the test's own process. With the URL
// of another server the same program talks to that.
func ExampleServer_Dialer() {
	agent, err := script.Parse("echo", strings.NewReader(`{"on":"*"}`+"\n"+`{"say":"You said: {message}"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	s, err := embedded.Start(ctx, embedded.Options{Agents: one{agent}, DefaultAgent: "echo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	url := "ws://" + embedded.Host
	c := wsclient.New(url, wsclient.Options{Dial: s.Dialer(url)})
	defer c.Close()
	made, err := wsclient.Call[protocol.CreateResult](ctx, c, protocol.DoCreate, "", protocol.CreateData{Prompt: "hello"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for it, err := range c.Subscribe(made.Session, wsclient.SubscribeOptions{Since: &protocol.Position{}}).Events(ctx) {
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case it.Event == nil:
			continue
		case it.Event.Type == protocol.TextDelta:
			var d protocol.PartDeltaData
			_ = it.Event.Decode(&d)
			fmt.Print(d.Text)
		}
		if it.Event.Type == protocol.TurnEnded {
			break
		}
	}
	// Output: You said: hello
}
