package acp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/protocol/acp"
	"agentctl/protocol/codec"
	"agentctl/wsclient"
)

// maxLine bounds a message of the editor, in bytes. The server may take less.
const maxLine = 16 << 20

// endTimeout bounds the commands that are left when the editor has gone.
const endTimeout = 3 * time.Second

// A host runs the codec between the editor and a client of the server. The client connects again
// and continues its subscriptions, so that the codec sees one connection that never ends.
type host struct {
	// Static after newHost.

	conn       *connection.Conn
	cli        *verb.Context
	connection string // id of the first connection, by which the codec knows itself

	commands sync.WaitGroup // without an answer
	tasks    sync.WaitGroup // subscriptions, and the watch of the server

	mu      sync.Mutex // guards the fields below, and the order of calls and frames
	codec   *acp.Conn
	wake    *time.Timer
	follows map[string]*wsclient.Subscription
	queue   []protocol.Command // commands that change something, in order; the first is sent
}

func newHost(c *connection.Conn, o *acpOptions) *host {
	hello := c.Hello()
	h := &host{conn: c, cli: o.CLI, connection: hello.Connection, follows: map[string]*wsclient.Subscription{}}
	h.codec = acp.New(codec.ServerOptions{
		By: hello.By, Role: hello.Role, Version: o.CLI.Build.Version(),
		ID: func(prefix string) string { return prefix + "_" + rand.Text() },
	}, o.Fixed)
	return h
}

// run serves the editor until stdin ends, ctx ends, or the client stops retrying.
func (h *host) run(ctx context.Context) error {
	h.wake = time.AfterFunc(time.Hour, func() { h.call(h.codec.Wake) })
	h.wake.Stop()
	h.call(h.codec.Open)
	h.tasks.Go(h.keepServer)
	ended := make(chan error, 1)
	go func() { ended <- h.read() }() // a blocked read of stdin ends with the process
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	case <-h.conn.Context().Done():
		err = h.conn.Cause(context.Canceled)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.finish()
	}()
	select {
	case <-done:
	case <-time.After(2 * endTimeout): // the editor does not read: its calls end with the process
	}
	return err
}

// finish carries out what the codec leaves to do, and ends all tasks.
func (h *host) finish() {
	h.call(h.codec.End)
	h.mu.Lock()
	for _, sub := range h.follows {
		sub.Close()
	}
	h.wake.Stop()
	h.mu.Unlock()
	late := time.AfterFunc(endTimeout, func() { h.conn.Abort(context.DeadlineExceeded) })
	h.commands.Wait()
	late.Stop()
	h.conn.Abort(context.Canceled)
	h.tasks.Wait()
}

// keepServer starts this user's server again after it was killed, and not after it was stopped: then
// it has closed the connection with a close frame, and removed its socket.
func (h *host) keepServer() {
	dir, err := h.cli.DataDir()
	if err != nil || !h.conn.Own || h.cli.Flags.NoStart {
		return
	}
	stopped := false
	for s := range h.conn.States(h.conn.Context()) {
		stopped = s.Phase != wsclient.PhaseOpen && (stopped || websocket.CloseStatus(s.Err) >= 0)
		if stopped || s.Phase != wsclient.PhaseReconnecting {
			continue
		}
		if _, err := os.Stat(dir.Socket()); err == nil && dir.EnsureRunning(h.conn.Context(), true) == nil {
			h.conn.Retry()
		}
	}
}

// read passes the lines of stdin to the codec.
func (h *host) read() error {
	in := bufio.NewReaderSize(h.cli.Stdin, 64<<10)
	for {
		line, err := verb.ReadLine(in, maxLine)
		switch {
		case len(line) > maxLine:
			h.call(func(now time.Time) codec.Output {
				return h.codec.TooLarge(now, "a message of the editor is too long")
			})
		case len(bytes.TrimSpace(line)) > 0:
			h.call(func(now time.Time) codec.Output { return h.codec.Foreign(now, codec.Frame{Data: line}) })
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// call calls the codec and carries out its output. A slow editor blocks it, so that the client takes
// no more events.
func (h *host) call(f func(time.Time) codec.Output) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := f(time.Now())
	for _, frame := range out.Foreign {
		if _, err := h.cli.Out.Stdout.Write(append(frame.Data, '\n')); err != nil {
			h.conn.Abort(err)
		}
	}
	if out.Wake.IsZero() {
		h.wake.Stop()
	} else {
		h.wake.Reset(time.Until(out.Wake))
	}
	for _, line := range out.Native {
		var cmd protocol.Command
		_ = json.Unmarshal(line, &cmd) // made by the codec
		h.start(&cmd)
	}
}

// start carries out a command of the codec. It requires mu.
func (h *host) start(cmd *protocol.Command) {
	switch t := protocol.CommandOf(cmd.Command); {
	case cmd.Command == protocol.DoHello:
		h.commands.Go(func() { h.answer(cmd, h.conn.Hello(), nil) })
	case cmd.Command == protocol.DoSubscribe:
		h.tasks.Go(func() { h.follow(cmd) })
	case cmd.Command == protocol.DoUnsubscribe:
		if sub := h.follows[cmd.Session]; sub != nil {
			delete(h.follows, cmd.Session)
			sub.Close()
		}
		h.commands.Go(func() { h.answer(cmd, protocol.Empty{}, nil) })
	case t.Changes && t.Session:
		if h.queue = append(h.queue, *cmd); len(h.queue) == 1 {
			h.commands.Go(h.sendQueue)
		}
	default: // a create may take long: the agent starts
		h.commands.Go(func() { h.do(cmd) })
	}
}

// sendQueue sends the commands that change sessions, one after the other: prompts keep their order.
func (h *host) sendQueue() {
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.mu.Unlock()
			return
		}
		cmd := h.queue[0]
		h.mu.Unlock()
		h.do(&cmd)
		h.mu.Lock()
		h.queue = slices.Delete(h.queue, 0, 1)
		h.mu.Unlock()
	}
}

// do sends a command. The client sends it again after a lost connection, with the same key.
func (h *host) do(cmd *protocol.Command) {
	err := h.prepare(cmd)
	var result json.RawMessage
	if err == nil {
		err = h.conn.Do(h.conn.Context(), *cmd, &result)
	}
	h.answer(cmd, result, err)
}

// prepare adds what only this machine knows to a new session: the variables and the directory.
func (h *host) prepare(cmd *protocol.Command) error {
	if cmd.Command != protocol.DoCreate {
		return nil
	}
	var d protocol.CreateData
	if err := cmd.DecodeData(&d); err != nil {
		return err
	}
	if h.conn.Own {
		d.Env = maps.Clone(localagent.Of(h.cli).Environment(d.Agent))
	}
	if h.conn.Local {
		if err := connection.ResolvePaths(&d); err != nil {
			return err
		}
	}
	cmd.Data = protocol.MustEncode(d)
	return nil
}

// answer passes the answer to a command to the codec. An error without a code is one of the
// connection.
func (h *host) answer(cmd *protocol.Command, result any, err error) {
	a := protocol.Answer{ID: cmd.ID}
	if err == nil {
		a.Result = protocol.MustEncode(result)
	} else {
		a.Error = h.coded(err)
	}
	h.call(func(now time.Time) codec.Output { return h.codec.Native(now, protocol.MustEncode(a)) })
}

// coded returns an error as one of the protocol.
func (h *host) coded(err error) *protocol.Error {
	err = h.conn.Cause(err)
	var coded *protocol.Error
	var refused *wsclient.ConnectError
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &refused) && refused.Code != "":
		return protocol.Errorf(refused.Code, "%s", refused.Error())
	}
	return protocol.Errorf(protocol.CodeInternal, "%s", err.Error())
}

// follow subscribes to a session and passes its events to the codec until it ends.
func (h *host) follow(cmd *protocol.Command) {
	var d protocol.SubscribeData
	_ = json.Unmarshal(cmd.Data, &d) // made by the codec
	sub := h.conn.Subscribe(cmd.Session, wsclient.SubscribeOptions{
		Since: d.Position, Fold: time.Duration(d.FoldMS) * time.Millisecond,
	})
	defer sub.Close()
	session := ""
	for item, err := range sub.Events(h.conn.Context()) {
		switch at := item.Attached; {
		case err != nil && session == "":
			h.answer(cmd, nil, err)
		case errors.Is(err, wsclient.ErrReplaced): // the editor opened it again
		case err != nil:
			h.endFollow(session, h.coded(err))
		case at != nil && session == "":
			session = at.Session
			h.mu.Lock()
			h.follows[session] = sub
			h.mu.Unlock()
			h.answer(cmd, at, nil)
		case at != nil && at.Mode != protocol.ModeResume:
			h.call(func(now time.Time) codec.Output { return h.codec.Reset(now, at) })
		case at == nil:
			h.call(func(now time.Time) codec.Output { return h.codec.Native(now, item.Raw) })
		}
	}
}

// endFollow reports to the codec that a session cannot be followed any more.
func (h *host) endFollow(session string, err *protocol.Error) {
	h.call(func(now time.Time) codec.Output {
		return h.codec.Native(now, codec.Ephemeral(session, protocol.ClientDetached, now, protocol.Client{
			Client: h.connection, Reason: string(err.Code), Message: err.Message,
		}))
	})
}
