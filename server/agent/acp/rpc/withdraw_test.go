package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestAPeerWithdrawsItsRequests(t *testing.T) {
	p := newPeer(t, nil)
	p.send(`{"jsonrpc":"2.0","id":"a","method":"slow","params":[1]}`, `{"jsonrpc":"2.0","id":2,"method":"slow","params":[2]}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"unknown"}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"2"}}`, // another id than 2
		`{"jsonrpc":"2.0","method":"$/cancel_request"}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":[]}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId": 2 }}`)
	if got := <-p.handled; got != "withdrawn [2]" {
		t.Errorf("got %s", got)
	}
	if got := p.receive(); !strings.Contains(got, `"id":2,"error":{"code":-32800`) {
		t.Errorf("answered %s", got)
	}
	// An id that was answered may be used again, and a late withdrawal of it has no effect.
	p.send(`{"jsonrpc":"2.0","id":2,"method":"known","params":[]}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	if got := p.receive(); !strings.Contains(got, `"id":2,"result"`) {
		t.Errorf("answered %s", got)
	}
	p.close()
	if got := <-p.handled; got != "withdrawn [1]" { // the connection has ended
		t.Errorf("got %s", got)
	}
	if n := len(p.conn.incoming); n != 0 {
		t.Errorf("%d requests are kept", n)
	}
}

func TestARequestIsWithdrawnWithItsContext(t *testing.T) {
	p := newPeer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := p.conn.Call(ctx, "work", nil)
		done <- err
	}()
	p.receive()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	if got := strings.TrimSpace(p.receive()); got != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}` {
		t.Errorf("sent %s", got)
	}
}
