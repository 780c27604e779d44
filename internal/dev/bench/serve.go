package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// token is required by the server.
const token = "benchmark"

// serve serves agentctl with a store in dir and an agent that publishes, until the standard input
// ends. It prints the address, and collects garbage for each line of its input.
func serve(dir string) error {
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		return err
	}
	s, err := server.New(context.Background(), server.Config{
		Session: session.Config{Store: store, Agents: publishers{}, DefaultAgent: "publisher"},
		Limits:  server.Limits{Connections: 20_000, PerSender: 20_000, Unauthenticated: 20_000},
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
	fmt.Println(l.Addr())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		debug.FreeOSMemory()
		fmt.Println("done")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return errors.Join(in.Err(), s.Shutdown(ctx), <-served, store.Close())
}

// A job is what a session publishes: so many deltas, Rate in a second or, with 0, as fast as
// possible. As the text of a message it is the job of the server's agent.
type job struct {
	Events int `json:"events"`
	Rate   int `json:"rate,omitempty"`
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
