//go:build race

package server

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"agentctl/protocol"
)

// A thousand clients read one session: some from its start, some without folds, some that
// acknowledge, some that leave in the middle and come back. Everyone else sees the turn end.
func TestAThousandClientsWithoutARace(t *testing.T) {
	const clients = 1000
	w := newTestServer(t)
	id := w.runTurn("bench")
	dial := w.socket()
	conns := make([]net.Conn, clients)
	subscribe := func(i int) {
		position := ""
		if i%4 == 1 {
			position = `,"position":"0"`
		}
		_, err := conns[i].Write(masked(0x81, fmt.Appendf(nil,
			`{"command":"subscribe","session":%q,"data":{"raw":%t%s}}`, id, i%2 == 0, position)))
		if err != nil {
			t.Error(err)
		}
	}
	for i := range conns {
		conns[i] = upgrade(t, dial)
	}
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	var attached, ended sync.WaitGroup
	for i := range conns {
		attached.Go(func() {
			subscribe(i)
			waitFor(t, conns[i], []byte(`"caught_up"`))
		})
	}
	attached.Wait()
	speaker := w.dial()
	speaker.ask(protocol.DoSend, id, protocol.SendData{Text: "some"})
	must(t, speaker.ws.CloseNow())
	for i, conn := range conns {
		if i%10 == 9 {
			_ = conn.Close()
			conns[i] = upgrade(t, dial)
			subscribe(i)
			continue
		}
		ended.Go(func() {
			for seq := 0; i%3 == 0 && seq < 10; seq++ {
				_, _ = conn.Write(masked(0x81, encodedAck(id, uint64(seq))))
			}
			waitFor(t, conn, []byte(`"turn.ended"`))
		})
	}
	ended.Wait()
}
