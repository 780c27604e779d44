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

// echoAgents has one agent, a script.
type echoAgents struct{ *script.Script }

func (echoAgents) Names() []string { return []string{"echo"} }

var _ session.Agents = echoAgents{}

// A program that uses sessions, tested against a server in its own process. With the URL of another
// server the same code connects to that.
func ExampleServer_Dialer() {
	agent, err := script.Parse("echo", strings.NewReader(`{"on":"*"}`+"\n"+`{"say":"You said: {message}"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	s, err := embedded.Start(ctx, embedded.Options{Agents: echoAgents{agent}, DefaultAgent: "echo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	url := "ws://" + embedded.Host
	c := wsclient.New(url, wsclient.Options{Dial: s.Dialer(url)})
	defer c.Close()
	made, err := wsclient.Call[protocol.CreateResult](
		ctx,
		c,
		protocol.DoCreate,
		"",
		protocol.CreateData{Prompt: "hello"},
	)
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
