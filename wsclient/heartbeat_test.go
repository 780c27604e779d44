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

func TestASilentServerIsPingedThenLeft(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		c.Retry()
		p := f.open()
		time.Sleep(time.Hour) // pings are answered
		if s := c.State(); s.Phase != PhaseOpen || len(f.dialed()) != 1 {
			t.Fatalf("state %+v after %d dials", s, len(f.dialed()))
		}
		_ = p.conn.CloseNow()
		p = f.peer()
		p.mute = true
		p.greet()
		start := time.Now()
		p.next(protocol.DoPing)
		if got := time.Since(start); got != DefaultHeartbeat {
			t.Errorf("pinged after %v", got)
		}
		p.ended()
		if got := time.Since(start); got != 2*DefaultHeartbeat {
			t.Errorf("left after %v", got)
		}
		synctest.Wait()
		if s := c.State(); s.Phase != PhaseReconnecting || !errors.Is(s.Err, errSilent) {
			t.Errorf("state %+v", s)
		}
		f.open()
	})
}

func TestALargeMessageOnASlowLinkIsNotSilence(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		lengths := make(chan int, 1)
		go func() {
			r, err := Call[protocol.HistoryResult](t.Context(), c, protocol.DoHistory, "s1", nil)
			if err != nil {
				t.Error(err)
			}
			lengths <- len(r.Epoch)
		}()
		p := f.peer()
		p.mute = true
		p.greet()
		w, err := p.conn.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, `{"id":%q,"result":{"events":[],"epoch":"`, p.next(protocol.DoHistory).ID)
		for range 60 {
			fmt.Fprint(w, strings.Repeat("e", 10_000))
			time.Sleep(2 * time.Second)
		}
		fmt.Fprint(w, `"}}`)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if n := <-lengths; n != 600_000 || len(f.dialed()) != 1 {
			t.Errorf("%d bytes after %d dials", n, len(f.dialed()))
		}
	})
}

func TestSilenceIsCountedFromWhatWasHeardLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeartbeat(10 * time.Second)
		defer h.stop()
		fires := func(after time.Duration, received int64, deaf bool, want beat) {
			t.Helper()
			start := time.Now()
			<-h.timer.C
			if got := time.Since(start); got != after {
				t.Errorf("looked after %v, want %v", got, after)
			}
			if got := h.due(received, deaf); got != want {
				t.Errorf("with %d bytes: %d, want %d", received, got, want)
			}
		}
		time.Sleep(time.Hour)
		h.start(5)
		time.Sleep(7 * time.Second)
		h.heard()
		fires(3*time.Second, 5, false, beatNothing) // three seconds of silence
		fires(7*time.Second, 5, false, beatPing)
		fires(10*time.Second, 6, false, beatNothing) // part of an answer came
		fires(10*time.Second, 6, false, beatPing)
		fires(10*time.Second, 6, true, beatNothing) // nobody read
		fires(10*time.Second, 6, false, beatPing)
		fires(10*time.Second, 6, false, beatDead)
		h.start(0) // another connection owes no answer
		fires(10*time.Second, 0, false, beatPing)
	})
}
