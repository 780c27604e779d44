package wsclient

import (
	"errors"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
)

func TestACommandThatNeverWentOutIsWithdrawn(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		f.setDown(errDown)
		errs := map[string]chan error{}
		do := func(key string) {
			errs[key] = make(chan error, 1)
			go func() {
				errs[key] <- c.Do(t.Context(), protocol.Command{Command: protocol.DoSend, Session: "s1", Key: key}, nil)
			}()
			synctest.Wait()
		}
		do("stays")
		do("goes")
		if c.Withdraw("other") || c.Withdraw("") {
			t.Error("what there is not was withdrawn")
		}
		if !c.Withdraw("goes") {
			t.Fatal("it was not withdrawn")
		}
		if err := <-errs["goes"]; !errors.Is(err, ErrWithdrawn) {
			t.Errorf("%v", err)
		}
		if c.Withdraw("goes") {
			t.Error("it was withdrawn twice")
		}
		f.setDown(nil)
		p := f.open()
		p.answer(p.sent("stays"), protocol.SendResult{})
		if err := <-errs["stays"]; err != nil {
			t.Error(err)
		}
		p.nothing()
	})
}

func TestACommandThatMayHaveArrivedIsNotWithdrawn(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		errs := make(chan error, 1)
		go func() {
			errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoSend, Session: "s1", Key: "k"}, nil)
		}()
		p := f.open()
		p.sent("k")
		if c.Withdraw("k") {
			t.Error("it was withdrawn while the server had it")
		}
		f.setDown(errDown)
		_ = p.conn.CloseNow()
		synctest.Wait()
		if c.Withdraw("k") {
			t.Error("it was withdrawn after the connection was lost")
		}
		f.setDown(nil)
		p = f.open()
		p.answer(p.sent("k"), protocol.SendResult{})
		if err := <-errs; err != nil {
			t.Error(err)
		}
	})
}

func TestAClosedClientWithdrawsNothing(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, _ *fake, c *Client) {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if c.Withdraw("k") {
			t.Error("it did")
		}
	})
}

// sent is the send with a key, which is the next one.
func (p *peer) sent(key string) protocol.Command {
	p.t.Helper()
	cmd := p.next(protocol.DoSend)
	if cmd.Key != key {
		p.t.Errorf("it is %+v", cmd)
	}
	return cmd
}
