package server

import (
	"context"
	"testing"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// Any message is answered with a result or a coded error other than internal, and the connection
// lives on unless the message is too large.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(""), true)
	f.Add([]byte("{"), true)
	f.Add([]byte("{}\n[]\nnull\n1\n\"\"\n"), true)
	f.Add([]byte("\xff\xfe"), true)
	f.Add([]byte(`{"id":"x","command":"ping"}`), false)
	f.Add([]byte(`{"command":"ack","session":"known","data":{"seq":18446744073709551615}}`), true)
	f.Add(make([]byte, 5000), true)
	for _, t := range protocol.Commands {
		cmd := protocol.Command{ID: "x", Command: t.Verb}
		f.Add([]byte(protocol.MustEncode(cmd)), true)
		if t.Session {
			cmd.Session = "known"
		}
		cmd.Key, cmd.Data = "k-"+string(t.Verb), protocol.MustEncode(t.Data())
		f.Add([]byte(protocol.MustEncode(cmd)), true)
	}
	const limit = 4096
	w := newTestServer(f, withLimits(Limits{Message: limit}))
	w.dial().ask(protocol.DoCreate, "", protocol.CreateData{Name: "known"})
	f.Fuzz(func(t *testing.T, message []byte, text bool) {
		c := dialWebSocket(t, w.pipe.Dial)
		defer c.ws.CloseNow()
		kind := websocket.MessageText
		if !text {
			kind = websocket.MessageBinary
		}
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		sent := make(chan error, 1)
		go func() {
			err := c.ws.Write(ctx, kind, message)
			if err == nil && len(message) <= limit {
				err = c.ws.Write(ctx, websocket.MessageText, []byte(`{"id":"the last one","command":"ping"}`))
			}
			sent <- err
		}()
		last := func(m serverMessage) bool { return m.ID == "the last one" && m.Error == nil }
		if len(message) > limit {
			last = func(m serverMessage) bool { return m.Error != nil && m.Error.Code == protocol.CodeTooLarge }
		}
		_, before := c.waitFor("the last answer", last)
		for _, m := range before {
			if m.isAnswer() && m.Error == nil && m.Result == nil {
				t.Errorf("neither result nor error in %+v", m)
			}
			if m.Error != nil && (m.Error.Code == "" || m.Error.Code == protocol.CodeInternal) {
				t.Errorf("answer to %q: %+v", message, m.Error)
			}
		}
		if !text && len(message) <= limit && len(before) == 0 {
			t.Error("a binary message is not answered")
		}
		if len(message) > limit {
			if code := c.closeCode(); code != protocol.CloseTooLarge {
				t.Errorf("closed with %d", code)
			}
		}
		<-sent
	})
}
