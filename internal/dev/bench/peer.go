package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"agentctl/protocol"
)

// A peerKind is a third-party server, with its commands as formats. The arguments of event are the
// length and the name of a session, and the length and the text of an event.
type peerKind struct {
	args             []string // the last one takes the port
	subscribe, ready string
	event            string
}

var peerKinds = map[string]peerKind{
	"nats-server": {
		[]string{"--addr", "127.0.0.1", "--port"},
		"CONNECT {\"verbose\":false}\r\nSUB %s 1\r\nPING\r\n", "PONG",
		"PUB %[2]s %[3]d\r\n%[4]s\r\n",
	},
	"redis-server": {
		[]string{
			"--bind", "127.0.0.1", "--save", "", "--maxclients", "10000", "--loglevel", "warning",
			"--client-output-buffer-limit", "pubsub 0 0 0", "--port",
		},
		"SUBSCRIBE %s\r\n", "subscribe",
		"*3\r\n$7\r\nPUBLISH\r\n$%[1]d\r\n%[2]s\r\n$%[3]d\r\n%[4]s\r\n",
	},
}

// A peer is a server of PATH that publishes to subscribers and stores nothing.
type peer struct {
	*process
	peerKind
	name       string
	sessions   int
	publishing sync.WaitGroup
}

// startPeer starts a peer on a free port and waits until it answers.
func startPeer(ctx context.Context, name string) (*peer, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	kind := peerKinds[name]
	p := &peer{peerKind: kind, name: name}
	if p.process, err = startProcess(exec.CommandContext(ctx, name, append(kind.args, port)...)); err != nil {
		return nil, err
	}
	p.address = address
	for range 200 {
		var c *client
		if c, err = p.follow(ctx, "start"); err == nil {
			c.close()
			return p, nil
		}
		time.Sleep(50 * time.Millisecond) // until it listens
	}
	return nil, errors.Join(err, p.stop())
}

func (p *peer) String() string { return p.name }

// stop kills the peer, which reads no input.
func (p *peer) stop() error {
	_ = p.cmd.Process.Kill()
	_ = p.process.stop() // killed
	p.publishing.Wait()
	return nil
}

func (p *peer) create(context.Context) (string, error) {
	p.sessions++
	return fmt.Sprint("s", p.sessions), nil
}

func (p *peer) dial(ctx context.Context) (*net.TCPConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	return conn.(*net.TCPConn), conn.SetDeadline(deadline)
}

// publish begins to send the events over one connection, as the peer is used.
func (p *peer) publish(ctx context.Context, j job, ids ...string) error {
	for _, id := range ids {
		conn, err := p.dial(ctx)
		if err != nil {
			return err
		}
		p.publishing.Go(func() {
			defer func() { _ = conn.Close() }()
			if err := errors.Join(p.send(conn, j, id), conn.CloseWrite()); err != nil {
				fmt.Fprintf(os.Stderr, "publish to %s: %v\n", p, err)
			}
			_, _ = io.Copy(io.Discard, conn) // until the peer has read all
		})
	}
	return nil
}

func (p *peer) send(conn io.Writer, j job, id string) error {
	out := bufio.NewWriterSize(conn, 64<<10)
	seq := uint64(0)
	err := j.run(func(text string) error {
		seq++
		e := protocol.Event{
			Session: id, Seq: seq, Turn: "t_1", Time: time.Now(), Type: protocol.TextDelta,
			Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p1", Text: text}),
		}
		line := e.AppendJSON(nil)
		fmt.Fprintf(out, p.event, len(id), id, len(line), line)
		if j.Rate > 0 {
			return out.Flush()
		}
		return nil
	})
	return errors.Join(err, out.Flush())
}

func (p *peer) follow(ctx context.Context, id string) (*client, error) {
	conn, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &client{source: conn, close: func() { _ = conn.Close() }}
	_, err = fmt.Fprintf(conn, p.subscribe, id)
	return c, errors.Join(err, c.readUntil([]byte(p.ready)))
}
