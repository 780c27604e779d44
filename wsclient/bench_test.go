package wsclient

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

const benchEvents = 100_000

// benchLog returns a session's log as a server writes it, in messages of about 64 KB.
func benchLog() [][]byte {
	e := protocol.Event{
		Session: "0198c1de-77aa-7cc0-9f6a-1d2e3f405162",
		Turn:    "0198c1de-77aa",
		Type:    protocol.TextDelta,
		Time:    time.Unix(1e9, 0),
	}
	e.Data = protocol.MustEncode(
		protocol.PartDeltaData{Part: "p1", Text: "some forty bytes of an answer, more or less"},
	)
	var messages [][]byte
	var message []byte
	for e.Seq = 1; e.Seq <= benchEvents; e.Seq++ {
		message = append(e.AppendJSON(message), '\n')
		if len(message) > 64<<10 || e.Seq == benchEvents {
			messages = append(messages, message)
			message = nil
		}
	}
	return messages
}

// BenchmarkReceive measures following a session of 100,000 events over TCP, from subscribe to the
// last event.
func BenchmarkReceive(b *testing.B) {
	log := benchLog()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.CloseNow()
		for {
			_, message, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			for line := range protocol.Lines(message) {
				var c protocol.Command
				_ = json.Unmarshal(line, &c)
				answer := protocol.Answer{ID: c.ID, Result: json.RawMessage(`{}`)}
				switch c.Command {
				case protocol.DoAck:
					continue
				case protocol.DoHello:
					answer.Result = json.RawMessage(`{"window":262144}`)
				case protocol.DoSubscribe:
					answer.Result = json.RawMessage(
						`{"session":"0198c1de-77aa-7cc0-9f6a-1d2e3f405162","mode":"snapshot","after":"e:0"}`,
					)
				}
				_ = conn.Write(context.Background(), websocket.MessageText, protocol.MustEncode(answer))
				if c.Command != protocol.DoSubscribe {
					continue
				}
				go func() {
					for _, message := range log {
						_ = conn.Write(context.Background(), websocket.MessageText, message)
					}
				}()
			}
		}
	})}
	go func() { _ = server.Serve(ln) }()
	defer server.Close()
	for name, window := range map[string]int64{"acks": 0, "no acks": -1} {
		b.Run(name, func(b *testing.B) {
			c := New("ws://"+ln.Addr().String(), Options{Window: window})
			defer c.Close()
			b.ReportAllocs()
			for b.Loop() {
				last := uint64(0)
				for it, err := range c.Subscribe("s", SubscribeOptions{}).Events(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
					if it.Event == nil {
						continue
					}
					if last = it.Event.Seq; last == benchEvents {
						break
					}
				}
			}
			b.ReportMetric(benchEvents*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
