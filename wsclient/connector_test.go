package wsclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/effectiveagent"
)

func TestDelayGrowsByHalfUpToFiveSeconds(t *testing.T) {
	for attempt, want := range []time.Duration{500e6, 750e6, 1125e6, 1687500e3, 2531250e3, 3796875e3, 5e9, 5e9, 5e9} {
		if got := backoff(attempt+1, 0); got != want {
			t.Errorf("attempt %d: %v, want %v", attempt+1, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		attempt := rapid.IntRange(1, 1<<30).Draw(t, "attempt")
		whole, got := backoff(attempt, 0), backoff(attempt, rapid.Float64Range(0, 1).Draw(t, "r"))
		if got < whole/2 || got > whole || whole > maxDelay {
			t.Fatalf("%v of %v", got, whole)
		}
	})
}

func TestReconnectsWithBackoffThatSuccessResets(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		start := time.Now()
		c.Retry()
		time.Sleep(12 * time.Second)
		if s := c.State(); s.Phase != PhaseConnecting || s.Attempt != 8 || !errors.Is(s.Err, errDown) ||
			s.RetryAt.Before(time.Now()) {
			t.Errorf("state %+v", s)
		}
		f.setDialError(nil)
		p := f.acceptHello()
		synctest.Wait()
		if s := c.State(); s != (ConnState{Phase: PhaseOpen}) {
			t.Errorf("state %+v", s)
		}
		var waits []time.Duration
		last := start
		for _, at := range f.dialTimes()[1:] {
			waits = append(waits, at.Sub(last))
			last = at
		}
		want := []time.Duration{500e6, 750e6, 1125e6, 1687500e3, 2531250e3, 3796875e3, 5e9}
		if !slices.Equal(waits, want) {
			t.Errorf("waited %v, want %v", waits, want)
		}

		_ = p.ws.CloseNow()
		synctest.Wait()
		lost := time.Now()
		if s := c.State(); s.Phase != PhaseReconnecting || s.Attempt != 1 || s.RetryAt.Sub(lost) != firstDelay ||
			s.Err == nil {
			t.Errorf("state %+v", s)
		}
		f.acceptHello()
		if got := time.Since(lost); got != firstDelay {
			t.Errorf("reconnected after %v", got)
		}
	})
}

func TestDialingAloneDoesNotResetTheBackoff(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		c.Retry()
		for range 4 { // the WebSocket opens but hello is not answered
			_ = f.nextConn().ws.CloseNow()
		}
		at := f.dialTimes()
		if got := at[3].Sub(at[2]); got != 1125*time.Millisecond {
			t.Errorf("the third delay was %v", got)
		}
	})
}

func TestARefusedClientDoesNotComeBack(t *testing.T) {
	status := func(code int, body string) func(*fakeServer) {
		return func(f *fakeServer) {
			f.setHandler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); fmt.Fprint(w, body) })
		}
	}
	for _, test := range []struct {
		name    string
		prepare func(*fakeServer)
		serve   func(*serverConn)
		code    protocol.Code
		status  int
	}{
		{"HTTP 401", status(401, ``), nil, protocol.CodeUnauthorized, 401},
		{
			"HTTP 403 with a reason", status(403, `{"error":{"code":"forbidden","message":"observers only"}}`), nil,
			protocol.CodeForbidden, 403,
		},
		{
			"1008 before hello", nil, func(p *serverConn) { _ = p.ws.Close(protocol.ClosePolicy, "bad token") },
			protocol.CodeUnauthorized, 0,
		},
		{
			"1008 later", nil, func(p *serverConn) { p.answerHello(); _ = p.ws.Close(protocol.ClosePolicy, "expired") },
			protocol.CodeUnauthorized, 0,
		},
		{"hello of another version", nil, func(p *serverConn) {
			p.answerError(p.nextCommand(protocol.DoHello), protocol.Errorf(protocol.CodeUnsupported, "no"))
		}, protocol.CodeUnsupported, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
				if test.prepare != nil {
					test.prepare(f)
				}
				pending := make(chan error, 1)
				go func() { pending <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
				r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
				if test.serve != nil {
					synctest.Wait() // both must wait before the connection ends, or they would open another
					test.serve(f.nextConn())
				}
				var why *ConnectError
				if err := <-pending; !errors.As(err, &why) || why.Code != test.code || why.Status != test.status {
					t.Errorf("the command ended with %v (%+v)", err, why)
				}
				if err := r.waitEnd(); !errors.As(err, &why) || why.Code != test.code {
					t.Errorf("the subscription ended with %v", err)
				}
				dials := len(f.dialTimes())
				time.Sleep(time.Hour)
				if s := c.State(); s.Phase != PhaseOffline || !errors.As(s.Err, &why) || len(f.dialTimes()) != dials {
					t.Errorf("state %+v, %d dials, then %d", s, dials, len(f.dialTimes()))
				}
			})
		})
	}
}

func TestOtherFailuresAreTriedAgain(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setHandler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		c.Retry()
		synctest.Wait()
		var why *ConnectError
		if s := c.State(); !errors.As(s.Err, &why) || why.Status != http.StatusBadGateway {
			t.Errorf("state %+v", s)
		}
		f.setHandler(nil)
		_ = f.acceptHello().ws.Close(protocol.CloseGoingAway, "draining")
		_ = f.acceptHello().ws.Close(protocol.CloseSlow, "slow")
		f.acceptHello()
	})
}

func TestARedirectIsNotFollowed(t *testing.T) {
	withFakeServer(t, Options{Token: "secret", NoRetryFirst: true}, func(t *testing.T, f *fakeServer, c *Client) {
		asked := 0
		f.setHandler(func(w http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(w, r, "http://elsewhere/", http.StatusTemporaryRedirect)
		})
		var why *ConnectError
		if err := c.Connect(t.Context()); !errors.As(err, &why) || why.Status != http.StatusTemporaryRedirect {
			t.Errorf("connect: %v", err)
		}
		if asked != 1 {
			t.Errorf("%d requests", asked)
		}
	})
}

func TestAClosedClientDoesNotComeBack(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		c.Retry()
		p := f.acceptHello()
		r := readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		p.answerSubscribe("e", 0)
		r.expectAttached(protocol.ModeSnapshot)
		pending := make(chan error, 1)
		go func() { pending <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		p.nextCommand(protocol.DoList)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		p.expectClosed()
		if err := <-pending; !errors.Is(err, ErrClosed) {
			t.Errorf("the command ended with %v", err)
		}
		if err := r.waitEnd(); err != nil {
			t.Errorf("the subscription ended with %v", err)
		}
		time.Sleep(time.Hour)
		if s := c.State(); s.Phase != PhaseClosed || len(f.dialTimes()) != 1 {
			t.Errorf("state %+v after %d dials", s, len(f.dialTimes()))
		}
		c.Retry()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		var why *ConnectError
		if err := c.Connect(t.Context()); !errors.As(err, &why) || !errors.Is(err, ErrClosed) {
			t.Errorf("connect: %v", err)
		}
	})
}

func TestCloseIsBoundedWithASilentServer(t *testing.T) {
	for _, name := range []string{"", effectiveagent.Name} { // effectiveagent has no handshake
		withFakeServer(t, Options{Dialect: name}, func(t *testing.T, f *fakeServer, c *Client) {
			stuck := make(chan struct{})
			f.setHandler(func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(
					w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}},
				)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.CloseNow()
				if name == "" {
					_, _, _ = conn.Read(context.Background())
					_ = conn.Write(context.Background(), websocket.MessageText, []byte(`{"id":"hello","result":{}}`))
				}
				<-stuck
			})
			defer close(stuck)
			if err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := time.Now()
			_ = c.Close()
			if took := time.Since(before); took > closeTimeout {
				t.Errorf("%q: closing took %v", name, took)
			}
		})
	}
}

func TestConcurrentConnectsShareOneAttempt(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 5)
		for range cap(errs) {
			go func() { errs <- c.Connect(t.Context()) }()
		}
		synctest.Wait()
		f.acceptHello()
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := c.Connect(t.Context()); err != nil {
			t.Errorf("connect when open: %v", err)
		}
		if n := len(f.dialTimes()); n != 1 {
			t.Errorf("%d dials", n)
		}
	})
}

func TestExhaustedAttemptsWaitForRetry(t *testing.T) {
	withFakeServer(t, Options{MaxAttempts: 3}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		var why *ConnectError
		if err := c.Connect(t.Context()); !errors.As(err, &why) || !errors.Is(err, errDown) {
			t.Errorf("connect: %v", err)
		}
		pending := make(chan error, 1)
		go func() { pending <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		time.Sleep(time.Hour)
		if s := c.State(); s.Phase != PhaseOffline || len(f.dialTimes()) != 3 {
			t.Errorf("state %+v after %d dials", s, len(f.dialTimes()))
		}
		c.Retry()
		time.Sleep(time.Hour)
		if n := len(f.dialTimes()); n != 6 {
			t.Errorf("%d dials, want three more", n)
		}
		f.setDialError(nil)
		c.Retry()
		p := f.acceptHello()
		p.answer(p.nextCommand(protocol.DoList), protocol.ListResult{})
		if err := <-pending; err != nil {
			t.Errorf("the command that waited: %v", err)
		}
	})
}

func TestRetryDoesNotWaitForTheDelay(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		c.Retry()
		time.Sleep(20 * time.Second)
		f.setDialError(nil)
		before := time.Now()
		c.Retry()
		f.acceptHello()
		if took := time.Since(before); took != 0 {
			t.Errorf("connected after %v", took)
		}
		c.Retry()
		time.Sleep(time.Minute)
		if at := f.dialTimes(); at[len(at)-1] != before {
			t.Error("dialed again when open")
		}
	})
}

func TestRepeatedRetriesAreSpaced(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		c.Retry()
		time.Sleep(20 * time.Second)
		before := len(f.dialTimes())
		for range 1000 { // like a key held down for ten seconds
			c.Retry()
			time.Sleep(10 * time.Millisecond)
		}
		at := f.dialTimes()[before-1:]
		if n, most := len(at)-1, int(10*time.Second/retrySpacing)+1; n > most || n < most-2 {
			t.Errorf("%d attempts in ten seconds, want about %d", n, most)
		}
		for i := range at[1:] {
			if got := at[i+1].Sub(at[i]); got < retrySpacing {
				t.Fatalf("an attempt %v after the one before", got)
			}
		}
	})
}

func TestARefusedClientTriesAgainWhenAsked(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setHandler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		c.Retry()
		time.Sleep(time.Minute)
		if s := c.State(); s.Phase != PhaseOffline {
			t.Fatalf("state %+v", s)
		}
		f.setHandler(nil)
		c.Retry()
		f.acceptHello()
		synctest.Wait()
		if s := c.State(); s != (ConnState{Phase: PhaseOpen}) {
			t.Errorf("state %+v", s)
		}
	})
}

func TestARetryThatIsRefusedLeavesTheNextOneToTry(t *testing.T) {
	for _, attempts := range []int{0, 1} { // during a delay, and after the last attempt
		withFakeServer(t, Options{MaxAttempts: attempts}, func(t *testing.T, f *fakeServer, c *Client) {
			f.setDialError(errDown)
			c.Retry()
			time.Sleep(20 * time.Second)
			f.setDialError(nil)
			f.setHandler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
			c.Retry()
			time.Sleep(time.Minute)
			if s := c.State(); s.Phase != PhaseOffline {
				t.Fatalf("state %+v", s)
			}
			f.setHandler(nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() { _ = c.Do(ctx, protocol.Command{Command: protocol.DoList}, nil) }()
			f.acceptHello().nextCommand(protocol.DoList)
		})
	}
}

func TestStateFollowsTheConnection(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		start := time.Now()
		c.Retry()
		is := func(what string, want ConnState) {
			t.Helper()
			synctest.Wait()
			if s := c.State(); s.Phase != want.Phase || s.Attempt != want.Attempt || !s.RetryAt.Equal(want.RetryAt) ||
				errors.Is(s.Err, errDown) != (want.Err != nil) {
				t.Errorf("%s: %+v, want %+v", what, s, want)
			}
		}
		is(
			"the first attempt failed",
			ConnState{Phase: PhaseConnecting, Attempt: 2, RetryAt: start.Add(c.dialer.delay(1, 0)), Err: errDown},
		)
		time.Sleep(10 * time.Millisecond)
		c.Retry() // less than retrySpacing after the last attempt
		soon := start.Add(min(retrySpacing, c.dialer.delay(1, 0)))
		is("asked immediately", ConnState{Phase: PhaseConnecting, Attempt: 2, RetryAt: soon, Err: errDown})
		f.setDialError(nil)
		time.Sleep(time.Until(soon))
		p := f.nextConn() // hello is unanswered
		is("the second attempt is running", ConnState{Phase: PhaseConnecting, Attempt: 2, Err: errDown})
		p.answerHello()
		is("hello was answered", ConnState{Phase: PhaseOpen})
	})
}

func TestACancelledConnectDoesNotAffectOthers(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		ctx, cancel := context.WithCancel(t.Context())
		given, waiting := make(chan error, 1), make(chan error, 1)
		go func() { given <- c.Connect(ctx) }()
		go func() { waiting <- c.Connect(t.Context()) }()
		synctest.Wait()
		cancel()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Errorf("gave up with %v", err)
		}
		f.setDialError(nil)
		f.acceptHello()
		if err := <-waiting; err != nil {
			t.Errorf("waited for %v", err)
		}
	})
}

func TestARefusalEndsAllThatWaits(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setHandler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
		ends := make(chan error, 3)
		go func() { ends <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		go func() {
			for _, err := range c.Watch(t.Context()) {
				ends <- err
			}
		}()
		go func() {
			for _, err := range c.Subscribe("s1", SubscribeOptions{}).Events(t.Context()) {
				ends <- err
			}
		}()
		for range cap(ends) {
			var why *ConnectError
			if err := <-ends; !errors.As(err, &why) || why.Status != http.StatusForbidden {
				t.Errorf("ended with %v", err)
			}
		}
	})
}

func TestARefusedFirstConnectionIsAnErrorAtOnce(t *testing.T) {
	withFakeServer(t, Options{NoRetryFirst: true}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		before := time.Now()
		var why *ConnectError
		if err := c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil); !errors.As(err, &why) ||
			time.Since(before) != 0 {
			t.Errorf("%v after %v", err, time.Since(before))
		}
		f.setDialError(nil)
		c.Retry()
		_ = f.acceptHello().ws.CloseNow()
		f.acceptHello() // after the first success the client retries
	})
}

// In a dialect without handshake, an opened connection proves nothing: a server that sends nothing
// does not reset the backoff.
func TestASilentServerDoesNotResetTheBackoff(t *testing.T) {
	withFakeServer(t, Options{Dialect: "effectiveagent"}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setHandler(func(w http.ResponseWriter, r *http.Request) {
			if ws, err := websocket.Accept(w, r, nil); err == nil {
				_, _, _ = ws.Read(r.Context())
				_ = ws.CloseNow()
			}
		})
		readItems(t, t.Context(), c.Subscribe("s1", SubscribeOptions{}))
		time.Sleep(time.Minute)
		if n := len(f.dialTimes()); n < 5 || n > 20 {
			t.Errorf("%d attempts in a minute", n)
		}
	})
}

func TestAServerThatClosesSilentlyIsARefusal(t *testing.T) {
	withFakeServer(
		t,
		Options{NoRetryFirst: true, Dialect: effectiveagent.Name},
		func(t *testing.T, f *fakeServer, c *Client) {
			f.setHandler(func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, nil)
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.Close(websocket.StatusInternalError, "broken")
			})
			var why *ConnectError
			err := c.Do(t.Context(), protocol.Command{Command: protocol.DoSnapshot, Session: "r"}, nil)
			if !errors.As(err, &why) || len(f.dialTimes()) != 1 {
				t.Errorf("%v after %d attempts", err, len(f.dialTimes()))
			}
		},
	)
}

func TestConnectEndsWithItsContext(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		err := c.Connect(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDown) {
			t.Errorf("connect: %v", err)
		}
		f.setDialError(nil)
		p := f.acceptHello() // the attempt continues for other callers
		p.expectNoCommand()
	})
}

func TestAnUnansweredHelloIsGivenUp(t *testing.T) {
	withFakeServer(t, Options{NoRetryFirst: true}, func(t *testing.T, f *fakeServer, c *Client) {
		before := time.Now()
		err := c.Connect(t.Context())
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != openTimeout {
			t.Errorf("%v after %v", err, time.Since(before))
		}
	})
}

func TestHelloIdentifiesTheClient(t *testing.T) {
	withFakeServer(
		t,
		Options{Token: "secret", Name: "ada", UserAgent: "test/1", Window: 4096},
		func(t *testing.T, f *fakeServer, c *Client) {
			if h := c.Hello(); h.Server != "" {
				t.Errorf("hello before connecting: %+v", h)
			}
			c.Retry()
			p := f.nextConn()
			hello := p.nextCommand(protocol.DoHello)
			var d protocol.HelloData
			if err := hello.DecodeData(&d); err != nil ||
				d != (protocol.HelloData{Version: "v1", Name: "ada", Agent: "test/1", Acks: true, Window: 4096}) {
				t.Errorf("hello %+v, %v", d, err)
			}
			if got := p.request.Header.Get("Authorization"); got != "Bearer secret" {
				t.Errorf("Authorization %q", got)
			}
			if got := p.ws.Subprotocol(); got != protocol.Subprotocol {
				t.Errorf("subprotocol %q", got)
			}
			if got := p.request.URL.Path; got != protocol.Path {
				t.Errorf("path %q", got)
			}
			p.answer(hello, protocol.HelloResult{Server: "fake", Connection: "c9"})
			if err := c.Connect(t.Context()); err != nil || c.Hello().Connection != "c9" {
				t.Errorf("%v, hello %+v", err, c.Hello())
			}
		},
	)
}

func TestStatesYieldTheNewest(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		var phases []Phase
		over := make(chan struct{})
		go func() {
			defer close(over)
			for s := range c.States(t.Context()) {
				phases = append(phases, s.Phase)
				time.Sleep(time.Second)
			}
			for s := range c.States(t.Context()) {
				if s.Phase != PhaseClosed {
					t.Errorf("state %+v", s)
				}
				break
			}
		}()
		for range c.States(t.Context()) {
			break
		}
		time.Sleep(time.Second / 2)
		c.Retry()
		p := f.acceptHello()
		time.Sleep(700 * time.Millisecond)
		_ = p.ws.CloseNow() // reopened before the reader looks
		f.acceptHello()
		time.Sleep(3 * time.Second)
		_ = c.Close()
		<-over
		phases = slices.DeleteFunc(phases, func(p Phase) bool { return p == PhaseClosing }) // may be missed
		if want := []Phase{PhaseOffline, PhaseOpen, PhaseOpen, PhaseClosed}; !slices.Equal(phases, want) {
			t.Errorf("phases %v", phases)
		}
	})
}
