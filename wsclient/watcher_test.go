package wsclient

import (
	"context"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
)

func summary(session, doing string) protocol.Summary {
	return protocol.Summary{Session: session, Doing: doing}
}

func (p *serverConn) sendSummary(s protocol.Summary) {
	p.write(
		string(
			protocol.MustEncode(
				protocol.Event{Session: s.Session, Type: protocol.SummaryChanged, Data: protocol.MustEncode(s)},
			),
		),
	)
}

func TestWatchYieldsTheNewestOfEachSessionOverReconnects(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := make(chan protocol.Summary)
		over := make(chan struct{})
		go func() {
			defer close(over)
			for s, err := range c.Watch(ctx) {
				if err != nil {
					t.Error(err)
				}
				select {
				case got <- s:
				case <-ctx.Done():
				}
			}
		}()
		want := func(session, doing string, deleted bool) {
			t.Helper()
			if s := <-got; s.Session != session || s.Doing != doing || s.Deleted != deleted {
				t.Errorf("got %+v, want %s %s", s, session, doing)
			}
		}
		p := f.acceptHello()
		p.answer(
			p.nextCommand(protocol.DoWatch),
			protocol.ListResult{Sessions: []protocol.Summary{summary("a", "1"), summary("b", "1")}},
		)
		want("a", "1", false)
		want("b", "1", false)
		p.sendSummary(summary("a", "2"))
		synctest.Wait()
		for _, s := range []protocol.Summary{
			summary("b", "2"), summary("a", "3"), summary("b", "3"),
			summary("a", "4"),
		} {
			p.sendSummary(s)
		}
		synctest.Wait()
		want("a", "2", false) // was already offered
		want("b", "3", false)
		want("a", "4", false)
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		p.answer(p.nextCommand(protocol.DoWatch), protocol.ListResult{Sessions: []protocol.Summary{summary("b", "4")}})
		want("b", "4", false)
		want("a", "", true)
		cancel()
		<-over
		if off := p.nextCommand(protocol.DoWatch); string(off.Data) != `{"off":true}` {
			t.Errorf("sent %+v", off)
		}
		_ = p.ws.CloseNow()
		f.acceptHello().expectNoCommand()
	})
}

func TestAWatchThatIsRefusedEndsWithTheError(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 1)
		go func() {
			for _, err := range c.Watch(t.Context()) {
				errs <- err
			}
		}()
		p := f.acceptHello()
		p.answerError(p.nextCommand(protocol.DoWatch), protocol.Errorf(protocol.CodeForbidden, "no"))
		if err := <-errs; protocol.CodeOf(err) != protocol.CodeForbidden {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestAWatchOutlivesADrainingServer(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		got := make(chan protocol.Summary, 9)
		go func() {
			defer close(got)
			for s, err := range c.Watch(t.Context()) {
				if err != nil {
					return // the test ended
				}
				got <- s
			}
		}()
		p := f.acceptHello()
		p.answerError(p.nextCommand(protocol.DoWatch), protocol.Errorf(protocol.CodeShuttingDown, "draining"))
		p.expectClosed()
		p = f.acceptHello()
		p.answer(p.nextCommand(protocol.DoWatch), protocol.ListResult{})
		p.sendSummary(protocol.Summary{Doing: "without a session"})
		p.sendSummary(summary("a", "1"))
		if s, ok := <-got; !ok || s.Doing != "1" {
			t.Errorf("got %+v, %t", s, ok)
		}
		p.sendSummary(protocol.Summary{Session: "a", Deleted: true})
		if s := <-got; !s.Deleted {
			t.Errorf("got %+v", s)
		}
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		again := p.nextCommand(protocol.DoWatch)
		p.answer(again, protocol.ListResult{Sessions: []protocol.Summary{summary("b", "2")}})
		if s := <-got; s.Session != "b" { // the deletion of a was reported before
			t.Errorf("got %+v", s)
		}
	})
}

func TestAClosedClientWatchesNothing(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, _ *fakeServer, c *Client) {
		_ = c.Close()
		for s, err := range c.Watch(t.Context()) {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

func TestWatchersAreIndependent(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		got := []chan protocol.Summary{make(chan protocol.Summary, 9), make(chan protocol.Summary, 9)}
		p := (*serverConn)(nil)
		for i := range got {
			go func() {
				for s, err := range c.Watch(t.Context()) {
					if err != nil {
						return // the test ended
					}
					got[i] <- s
				}
			}()
			if p == nil {
				p = f.acceptHello()
			}
			p.answer(
				p.nextCommand(protocol.DoWatch), protocol.ListResult{Sessions: []protocol.Summary{summary("a", "1")}},
			)
		}
		synctest.Wait()
		p.sendSummary(summary("a", "2"))
		for i := range got {
			for s := range got[i] {
				if s.Doing == "2" {
					break
				}
			}
		}
	})
}
