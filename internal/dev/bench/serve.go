package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// serveVariable is the environment variable that lets the program of a test be a server.
const serveVariable = "AGENTCTL_BENCH_SERVE"

// serveOptions configure a server of this program.
type serveOptions struct {
	Kind    string
	Dir     string
	Durable bool
	Unload  time.Duration
}

// args returns the options as arguments.
func (o *serveOptions) args() []string {
	return []string{
		"-serve", o.Kind, "-dir", o.Dir, "-unload", o.Unload.String(), "-durable=" + fmt.Sprint(o.Durable),
	}
}

// sync returns what the store promises.
func (o *serveOptions) sync() sqlite.Sync {
	if o.Durable {
		return sqlite.Full
	}
	return sqlite.Normal
}

// serve serves until the standard input ends.
func serve(o *serveOptions) error {
	if o.Kind == "agentctl" {
		return serveAgentctl(o)
	}
	if o.Kind == nats || o.Kind == redis {
		return servePeer(o)
	}
	if o.Kind == acpAgent {
		return serveACP(os.Stdin, os.Stdout)
	}
	if o.Kind != "ring" && o.Kind != "channel" {
		return fmt.Errorf("no server of the kind %q", o.Kind)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r := newReference(o.Kind)
	go r.accept(l)
	err = obey(l.Addr().String(), func(x *order) {
		for _, id := range x.Sessions {
			go r.publish(id, x.Job)
		}
	})
	return errors.Join(err, l.Close())
}

// obey prints the address of the server, and carries out orders until the standard input ends.
func obey(address string, do func(*order)) error {
	fmt.Println(address)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var x order
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return err
		}
		if x.Collect {
			debug.FreeOSMemory()
		}
		do(&x)
		fmt.Println("done")
	}
	return in.Err()
}

// serveAgentctl serves agentctl with a store in o.Dir and an agent that publishes.
func serveAgentctl(o *serveOptions) error {
	store, err := sqlite.Open(o.Dir, sqlite.Options{Sync: o.sync()})
	if err != nil {
		return err
	}
	s, err := server.New(context.Background(), server.Config{
		Session: session.Config{
			Store: store, Agents: publishers{}, DefaultAgent: "publisher", UnloadAfter: o.Unload,
		},
		Limits: server.Limits{Connections: 20_000, PerSender: 20_000, Unauthenticated: 20_000},
	})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Token: token})
	if err != nil {
		return errors.Join(err, s.Shutdown(context.Background()), store.Close())
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	err = obey(l.Addr().String(), func(*order) {})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return errors.Join(err, s.Shutdown(ctx), <-served, store.Close())
}

// A job is what a session publishes: so many deltas, Rate in a second or, with 0, as fast as
// possible, and one more with the text End, unless that is empty. As the text of a message it is
// the job of the agentctl server's agent.
type job struct {
	Events int    `json:"events"`
	Rate   int    `json:"rate,omitempty"`
	Tools  bool   `json:"tools,omitempty"` // of the agent acp: updates of tools, not text
	End    string `json:"end,omitempty"`
}

// run calls emit for each event with its text, at the rate of the job.
func (j *job) run(emit func(text string) error) error {
	began := time.Now()
	for i := range j.Events {
		if j.Rate > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(j.Rate))))
		}
		if err := emit(text(i)); err != nil {
			return err
		}
	}
	if j.End != "" {
		return emit(j.End)
	}
	return nil
}

// filler makes an encoded event of about 220 bytes.
var filler = strings.Repeat("token ", 9)

// text returns the text of a delta: its index, the time in ns and filler.
func text(i int) string { return fmt.Sprintf("%08d %d %s", i, time.Now().UnixNano(), filler) }

// publishers is the registry of agents with the publisher.
type publishers struct{}

func (publishers) Open(agent.Spec, agent.Host) (agent.Agent, error) { return publisher{}, nil }

func (publishers) Names() []string { return []string{"publisher"} }

// A publisher is an agent that carries out the job in a message.
type publisher struct{}

func (publisher) Capabilities() agent.Capabilities { return agent.Capabilities{} }
func (publisher) Close() error                     { return nil }

// Run implements agent.Agent.
func (publisher) Run(_ context.Context, t agent.Turn, out agent.Output) (agent.End, error) {
	var j job
	if err := json.Unmarshal([]byte(t.Message.Text), &j); err != nil {
		return agent.End{}, err
	}
	return agent.End{}, j.run(func(text string) error {
		return out.Emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: text}})
	})
}
