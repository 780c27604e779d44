package wsclient

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

func TestASilentServerIsPingedThenDropped(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		c.Retry()
		p := f.acceptHello()
		time.Sleep(time.Hour) // pings are answered
		if s := c.State(); s.Phase != PhaseOpen || len(f.dialTimes()) != 1 {
			t.Fatalf("state %+v after %d dials", s, len(f.dialTimes()))
		}
		_ = p.ws.CloseNow()
		p = f.nextConn()
		p.ignorePings = true
		p.answerHello()
		start := time.Now()
		p.nextCommand(protocol.DoPing)
		if got := time.Since(start); got != DefaultHeartbeat {
			t.Errorf("pinged after %v", got)
		}
		p.expectClosed()
		if got := time.Since(start); got != 2*DefaultHeartbeat {
			t.Errorf("dropped after %v", got)
		}
		synctest.Wait()
		if s := c.State(); s.Phase != PhaseReconnecting || !errors.Is(s.Err, errNoPong) {
			t.Errorf("state %+v", s)
		}
		f.acceptHello()
	})
}

func TestALargeMessageOnASlowConnectionIsNotSilence(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		lengths := make(chan int, 1)
		go func() {
			r, err := Call[protocol.HistoryResult](t.Context(), c, protocol.DoHistory, "s1", nil)
			if err != nil {
				t.Error(err)
			}
			lengths <- len(r.Epoch)
		}()
		p := f.nextConn()
		p.ignorePings = true
		p.answerHello()
		w, err := p.ws.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, `{"id":%q,"result":{"events":[],"epoch":"`, p.nextCommand(protocol.DoHistory).ID)
		for range 60 {
			fmt.Fprint(w, strings.Repeat("e", 10_000))
			time.Sleep(2 * time.Second)
		}
		fmt.Fprint(w, `"}}`)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if n := <-lengths; n != 600_000 || len(f.dialTimes()) != 1 {
			t.Errorf("%d bytes after %d dials", n, len(f.dialTimes()))
		}
	})
}

func TestSilenceIsCountedFromTheLastActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeartbeat(10 * time.Second)
		defer h.stop()
		expect := func(after time.Duration, received int64, paused, want bool, wantErr error) {
			t.Helper()
			start := time.Now()
			<-h.timer.C
			if got := time.Since(start); got != after {
				t.Errorf("checked after %v, want %v", got, after)
			}
			if ping, err := h.check(received, paused); ping != want || !errors.Is(err, wantErr) {
				t.Errorf("with %d bytes: %v, %v, want %v, %v", received, ping, err, want, wantErr)
			}
		}
		time.Sleep(time.Hour)
		h.start(5)
		time.Sleep(7 * time.Second)
		h.recordActivity()
		expect(3*time.Second, 5, false, false, nil) // three seconds of silence
		expect(7*time.Second, 5, false, true, nil)
		expect(10*time.Second, 6, false, false, nil) // part of an answer came
		expect(10*time.Second, 6, false, true, nil)
		expect(10*time.Second, 6, true, false, nil) // reading was paused
		expect(10*time.Second, 6, false, true, nil)
		expect(10*time.Second, 6, false, false, errNoPong)
		h.start(0) // a new connection has no unanswered ping
		expect(10*time.Second, 0, false, true, nil)
	})
}
