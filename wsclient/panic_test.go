package wsclient

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"agentctl/internal/panics"
	"agentctl/protocol"
)

// A panic in any of a client's goroutines ends everything that waits, with an error that holds the
// trace.
func TestAPanicEndsTheClientAndNotTheProcess(t *testing.T) {
	for name, matches := range map[string]func(Frame) bool{
		"reading":    func(f Frame) bool { return !f.Sent && f.Note == "" },
		"writing":    func(f Frame) bool { return f.Sent },
		"event loop": func(f Frame) bool { return strings.HasPrefix(f.Note, "not connected") },
	} {
		t.Run(name, func(t *testing.T) {
			var enabled atomic.Bool
			onFrame := func(f Frame) {
				if enabled.Load() && matches(f) {
					panic("test panic")
				}
			}
			withFakeServer(t, Options{OnFrame: onFrame}, func(t *testing.T, f *fakeServer, c *Client) {
				waiting := map[string]chan error{
					"following": make(chan error, 1),
					"watching":  make(chan error, 1),
					"a command": make(chan error, 1),
				}
				go func() {
					for _, err := range c.Subscribe("s1", SubscribeOptions{}).Events(context.Background()) {
						waiting["following"] <- err
					}
				}()
				go func() {
					for _, err := range c.Watch(context.Background()) {
						waiting["watching"] <- err
					}
				}()
				go func() {
					waiting["a command"] <- c.Do(context.Background(),
						protocol.Command{Command: protocol.DoSend, Session: "s1"}, nil)
				}()
				p := f.acceptHello()
				synctest.Wait()
				enabled.Store(true)
				switch name {
				case "reading":
					p.write(`{}`)
				case "writing":
					// Fails like the others.
					go func() { _ = c.Do(context.Background(), protocol.Command{Command: protocol.DoList}, nil) }()
				default:
					_ = p.ws.CloseNow()
				}
				for what, errs := range waiting {
					err := <-errs
					if broken := panics.As(err); broken == nil || broken.Value != "test panic" ||
						!strings.Contains(string(broken.Stack), "panic_test.go") {
						t.Errorf("%s ended with %v", what, err)
					}
				}
				synctest.Wait()
				if s := c.State(); panics.As(s.Err) == nil || s.Phase != PhaseClosed {
					t.Errorf("the state is %+v", s)
				}
				if err := c.Do(context.Background(), protocol.Command{Command: protocol.DoList},
					nil); panics.As(err) == nil {
					t.Errorf("a later command ended with %v", err)
				}
				if err := c.Connect(context.Background()); panics.As(err) == nil {
					t.Errorf("connecting later ended with %v", err)
				}
			})
		})
	}
}

func TestAPanicOfDialIsAnError(t *testing.T) {
	c := New(
		"ws://server", Options{Dial: func(context.Context) (net.Conn, error) { panic(errors.New("no transport")) }},
	)
	defer c.Close()
	if err := c.Connect(t.Context()); panics.As(err) == nil || !strings.Contains(err.Error(), "no transport") {
		t.Errorf("connecting ended with %v", err)
	}
}
