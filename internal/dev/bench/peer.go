package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol"
)

// The kinds of servers that others wrote, measured with -peers.
const (
	nats  = "nats"
	redis = "redis"
)

// natsVariable names the program of package reference/nats.
const natsVariable = "AGENTCTL_BENCH_NATS"

// logPrefix begins the names of sessions that peers store: streams of JetStream and redis.
const logPrefix = "log."

// buildPeers builds the NATS server in dir, and checks that redis-server is installed.
func buildPeers(ctx context.Context, dir string) error {
	program, err := buildReference(ctx, dir, "nats")
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		return fmt.Errorf("-peers needs redis-server: %w", err)
	}
	return os.Setenv(natsVariable, program)
}

// servePeer runs the server of a peer in a process of its own, and publishes to it. It prints the
// address for clients and the process of the server.
func servePeer(o *serveOptions) (err error) {
	start := startNATS
	if o.Kind == redis {
		start = startRedis
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd, publishing, clients, err := start(ctx, o.Dir)
	if err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // killed
	}()
	return obey(fmt.Sprint(clients, " ", cmd.Process.Pid), func(x *order) {
		for _, id := range x.Sessions {
			done := make(chan struct{})
			go func() {
				defer close(done)
				if err := publishTo(ctx, o.Kind, publishing, id, x.Job); err != nil && ctx.Err() == nil {
					fmt.Fprintf(os.Stderr, "publish to %s: %v\n", o.Kind, err)
				}
			}()
			if strings.HasPrefix(id, logPrefix) {
				<-done
			}
		}
	})
}

// startNATS starts the NATS server and returns its addresses for publishers and clients.
func startNATS(ctx context.Context, dir string) (cmd *exec.Cmd, publishers, clients string, err error) {
	cmd = exec.CommandContext(ctx, os.Getenv(natsVariable), dir)
	if _, err = cmd.StdinPipe(); err != nil {
		return nil, "", "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", "", err
	}
	if err = cmd.Start(); err != nil {
		return nil, "", "", err
	}
	if _, err = fmt.Fscan(out, &publishers, &clients); err != nil {
		return nil, "", "", err
	}
	stream := `{"name":"LOG","subjects":["log.>"],"storage":"file"}`
	return cmd, publishers, clients, converse(ctx, publishers, fmt.Sprintf("CONNECT {}\r\nSUB answer 1\r\n"+
		"PUB $JS.API.STREAM.CREATE.LOG answer %d\r\n%s\r\n", len(stream), stream), `"created"`)
}

// startRedis starts redis-server on a free port, without files.
func startRedis(ctx context.Context, dir string) (cmd *exec.Cmd, publishers, clients string, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", "", err
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd = exec.CommandContext(ctx, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
		"--appendonly", "no", "--dir", dir, "--maxclients", "10000",
		"--client-output-buffer-limit", "pubsub 0 0 0", "--loglevel", "warning")
	if err = cmd.Start(); err != nil {
		return nil, "", "", err
	}
	for range 200 {
		if err = converse(ctx, address, "PING\r\n", "PONG"); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond) // until it listens
	}
	return cmd, address, address, err
}

// converse sends text, and waits for a line that contains mark.
func converse(ctx context.Context, address, text, mark string) error {
	conn, err := dialTCP(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		return err
	}
	c := &client{conn: conn, source: conn}
	for {
		if lines, err := c.next(); err != nil || bytes.Contains(lines, []byte(mark)) {
			return err
		}
	}
}

// publishTo carries out a job in a session of a peer, until the peer has taken it.
func publishTo(ctx context.Context, kind, address, id string, j *job) error {
	conn, err := dialTCP(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	var answers sync.WaitGroup
	answers.Go(func() { _, _ = io.Copy(io.Discard, conn) })
	out := bufio.NewWriterSize(conn, blockSize)
	if kind == nats {
		_, _ = out.WriteString("CONNECT {\"verbose\":false}\r\n")
	}
	seq := uint64(0)
	err = j.run(func(text string) error {
		seq++
		e := protocol.Event{
			Session: id, Seq: seq, Turn: "t_1", Time: time.Now(), Type: protocol.TextDelta,
			Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p1", Text: text}),
		}
		writePublication(out, kind, id, e.AppendJSON(nil))
		if j.Rate > 0 {
			return out.Flush()
		}
		return nil
	})
	if kind == redis {
		_, _ = out.WriteString("QUIT\r\n")
	}
	err = errors.Join(err, out.Flush())
	if tcp, ok := conn.(*net.TCPConn); ok && kind == nats {
		err = errors.Join(err, tcp.CloseWrite())
	}
	answers.Wait()
	return err
}

// writePublication writes the command that publishes or stores an event.
func writePublication(out *bufio.Writer, kind, id string, event []byte) {
	if kind == nats {
		fmt.Fprintf(out, "PUB %s %d\r\n%s\r\n", id, len(event), event)
		return
	}
	if strings.HasPrefix(id, logPrefix) {
		fmt.Fprintf(out, "*5\r\n$4\r\nXADD\r\n$%d\r\n%s\r\n$1\r\n*\r\n$1\r\ne\r\n", len(id), id)
	} else {
		fmt.Fprintf(out, "*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%s\r\n", len(id), id)
	}
	fmt.Fprintf(out, "$%d\r\n%s\r\n", len(event), event)
}

// delivery numbers the subjects to which JetStream delivers.
var delivery atomic.Int64

// dialPeer follows a session of a peer, or reads it from its start if the peer stores it.
func dialPeer(ctx context.Context, kind, address, id string) (*client, error) {
	stored := strings.HasPrefix(id, logPrefix)
	if kind == redis {
		return dialRedis(ctx, address, id, stored)
	}
	c, err := dialUpgrade(ctx, address, "/", "")
	if err != nil {
		return nil, err
	}
	text := "CONNECT {\"verbose\":false}\r\nSUB " + id + " 1\r\nPING\r\n"
	if stored {
		n := strconv.FormatInt(delivery.Add(1), 10)
		consumer := `{"stream_name":"LOG","config":{"deliver_subject":"to.` + n + `","deliver_policy":"all",` +
			`"ack_policy":"none","mem_storage":true,"filter_subject":"` + id + `"}}`
		text = fmt.Sprintf("CONNECT {\"verbose\":false}\r\nSUB to.%s 1\r\nPING\r\n"+
			"PUB $JS.API.CONSUMER.CREATE.LOG answer.%s %d\r\n%s\r\n", n, n, len(consumer), consumer)
	}
	return c, errors.Join(writeFrame(c.conn, opText, []byte(text)), c.readUntil([]byte("PONG")))
}

func dialRedis(ctx context.Context, address, id string, stored bool) (*client, error) {
	conn, err := dialTCP(ctx, address)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, source: conn}
	if stored {
		_, err = fmt.Fprintf(conn, "XRANGE %s - +\r\n", id)
		return c, err
	}
	_, err = fmt.Fprintf(conn, "SUBSCRIBE %s\r\n", id)
	return c, errors.Join(err, c.readUntil([]byte("subscribe")))
}
