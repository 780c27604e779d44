package wsclient_test

import (
	"context"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/wsclient"
)

// greeter is the agent of the server of the examples.
type greeter struct{ *script.Script }

func (greeter) Names() []string { return []string{"greeter"} }

// connect returns a client of a server in this process. For another server its URL is enough.
func connect() (client *wsclient.Client, closeAll func()) {
	agent, err := script.Parse("greeter", strings.NewReader(`{"on":"*"}`+"\n"+
		`{"ask":"command","command":"make","title":"Build","then":[{"say":"built"}],"else":[{"say":"not built"}]}`))
	if err != nil {
		panic(err)
	}
	options := embedded.Options{Agents: greeter{agent}, DefaultAgent: "greeter"}
	server, err := embedded.Start(context.Background(), options)
	if err != nil {
		panic(err)
	}
	url := "ws://" + embedded.Host
	client = wsclient.New(url, wsclient.Options{Dial: server.Dialer(url)})
	return client, func() {
		client.Close()
		server.Close()
	}
}

// A program that follows a session and decides its requests. After a lost connection the iterator
// continues after the last event.
func ExampleClient_Subscribe() {
	ctx := context.Background()
	client, closeAll := connect()
	defer closeAll()
	created, err := wsclient.Call[protocol.CreateResult](ctx, client, protocol.DoCreate, "",
		protocol.CreateData{Prompt: "build it"})
	if err != nil {
		fmt.Println(err)
		return
	}
	options := wsclient.SubscribeOptions{Since: &protocol.Position{}}
	for item, err := range client.Subscribe(created.Session, options).Events(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if item.Event == nil {
			continue
		}
		switch item.Event.Type {
		case protocol.ApprovalRequested:
			var a protocol.Approval
			_ = item.Event.Decode(&a)
			fmt.Println("allow:", a.Command)
			_, err := wsclient.Call[protocol.ApproveResult](ctx, client, protocol.DoApprove, created.Session,
				protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce})
			if err != nil {
				fmt.Println(err)
				return
			}
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			_ = item.Event.Decode(&d)
			fmt.Println(d.Text)
		case protocol.TurnEnded:
			return
		}
	}
	// Output:
	// allow: make
	// built
}
