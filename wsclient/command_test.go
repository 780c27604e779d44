package wsclient

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestAnswersArePairedWithTheirCommands(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		type got struct {
			r   protocol.SendResult
			err error
		}
		results := map[string]chan got{"a": make(chan got, 1), "b": make(chan got, 1)}
		for text, result := range results {
			go func() {
				r, err := Call[protocol.SendResult](
					t.Context(), c, protocol.DoSend, "s1", protocol.SendData{Text: text},
				)
				result <- got{r, err}
			}()
		}
		p := f.acceptHello()
		first, second := p.nextCommand(protocol.DoSend), p.nextCommand(protocol.DoSend)
		for _, cmd := range []protocol.Command{second, first} {
			var d protocol.SendData
			if err := cmd.DecodeData(&d); err != nil {
				t.Fatal(err)
			}
			p.answer(cmd, protocol.SendResult{MessageID: d.Text})
		}
		for text, result := range results {
			if g := <-result; g.err != nil || g.r.MessageID != text {
				t.Errorf("%s got %+v, %v", text, g.r, g.err)
			}
		}
	})
}

func TestAServersErrorIsReturnedAsItIs(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 1)
		go func() { errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoApprove, Session: "s1"}, nil) }()
		p := f.acceptHello()
		p.answerError(
			p.nextCommand(protocol.DoApprove),
			&protocol.Error{
				Code: protocol.CodeConflict, Message: "m", Winner: &protocol.Winner{By: protocol.Actor{Name: "bob"}},
			},
		)
		err := <-errs
		if e, ok := err.(*protocol.Error); !ok || e.Code != protocol.CodeConflict || e.Winner.By.Name != "bob" {
			t.Errorf("%v", err)
		}
	})
}

func TestPendingCommandsAreSentAgainWithTheSameKey(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 3)
		do := func(cmd protocol.Command) {
			go func() { errs <- c.Do(t.Context(), cmd, nil) }()
			synctest.Wait()
		}
		do(protocol.Command{Command: protocol.DoSend, Session: "s1", Data: json.RawMessage(`{"text":"x"}`)})
		do(protocol.Command{Command: protocol.DoInterrupt, Session: "s1", Key: "mine"})
		do(protocol.Command{Command: protocol.DoList})
		p := f.acceptHello()
		send, interrupt, list := p.nextCommand(
			protocol.DoSend,
		), p.nextCommand(
			protocol.DoInterrupt,
		), p.nextCommand(
			protocol.DoList,
		)
		if send.Key == "" || interrupt.Key != "mine" || list.Key != "" {
			t.Errorf("keys %q, %q, %q", send.Key, interrupt.Key, list.Key)
		}
		p.answer(list, protocol.ListResult{})
		if err := <-errs; err != nil {
			t.Error(err)
		}
		_ = p.ws.CloseNow()
		p = f.acceptHello()
		again := p.nextCommand(protocol.DoSend)
		if again.Key != send.Key || string(again.Data) != `{"text":"x"}` {
			t.Errorf("sent again as %+v", again)
		}
		if again := p.nextCommand(protocol.DoInterrupt); again.Key != "mine" {
			t.Errorf("sent again as %+v", again)
		} else {
			p.answer(again, protocol.InterruptResult{})
		}
		p.answer(again, protocol.SendResult{})
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		p.expectNoCommand()
		_ = p.ws.CloseNow()
		f.acceptHello().expectNoCommand()
	})
}

func TestACommandEndsWithItsContextAndIsNotSentAgain(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		errs := make(chan error, 1)
		go func() { errs <- c.Do(ctx, protocol.Command{Command: protocol.DoSend, Session: "s1"}, nil) }()
		p := f.acceptHello()
		sent := p.nextCommand(protocol.DoSend)
		var unsent *SendError
		if err := <-errs; !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &unsent) ||
			unsent.Key != sent.Key {
			t.Errorf("%v", err)
		}
		if s := c.State(); s.Phase != PhaseOpen {
			t.Errorf("the caller's context ended the connection: %+v", s)
		}
		_ = p.ws.CloseNow()
		f.acceptHello().expectNoCommand()
	})
}

func TestACommandTooLargeForTheServerIsNotSent(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 1)
		go func() {
			_, err := Call[protocol.SendResult](
				t.Context(), c, protocol.DoSend, "s1",
				protocol.SendData{Text: strings.Repeat("x", protocol.MaxMessage)},
			)
			errs <- err
		}()
		p := f.acceptHello()
		var coded *protocol.Error
		if err := <-errs; !errors.As(err, &coded) || coded.Code != protocol.CodeTooLarge ||
			coded.Limit != protocol.MaxMessage {
			t.Errorf("%v", err)
		}
		p.expectNoCommand()
	})
}

// EA-3: data that cannot be encoded is an error that holds the data, and nothing is sent.
func TestDataThatCannotBeEncodedIsAnErrorThatHoldsIt(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		data := map[string]any{"text": make(chan int)}
		_, err := Call[protocol.SendResult](t.Context(), c, protocol.DoSend, "s1", data)
		var bad *EncodeError
		if !errors.As(err, &bad) || bad.Command != protocol.DoSend || !reflect.DeepEqual(bad.Data, any(data)) ||
			bad.Err == nil {
			t.Errorf("%v (%+v)", err, bad)
		}
		raw := json.RawMessage(`{"text":`)
		err = c.Do(t.Context(), protocol.Command{Command: protocol.DoSend, Session: "s1", Data: raw}, nil)
		if !errors.As(err, &bad) || !reflect.DeepEqual(bad.Data, any(raw)) ||
			protocol.CodeOf(err) != protocol.CodeInvalidJSON {
			t.Errorf("%v (%+v)", err, bad)
		}
		if n := len(f.dialTimes()); n != 0 {
			t.Errorf("%d dials for nothing", n)
		}
	})
}

func TestManyCommandsShareMessagesUnderTheLimit(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		const n = 40
		errs := make(chan error, n)
		for range n {
			go func() {
				_, err := Call[protocol.SendResult](
					t.Context(), c, protocol.DoSend, "s1", protocol.SendData{Text: strings.Repeat("x", 100_000)},
				)
				errs <- err
			}()
		}
		synctest.Wait()
		p := f.acceptHello()
		for range n {
			p.answer(p.nextCommand(protocol.DoSend), protocol.SendResult{})
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if p.largest > protocol.MaxMessage || p.largest < protocol.MaxMessage/2 {
			t.Errorf("the largest message had %d bytes", p.largest)
		}
	})
}

func TestCommandsLeaveRoomForTheClientsOwn(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 6)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 5 {
			go func() { errs <- c.Do(ctx, protocol.Command{Command: protocol.DoCompact, Session: "s1"}, nil) }()
		}
		synctest.Wait()
		p := f.nextConn()
		p.inFlight, p.ignorePings = 4, true
		p.answerHello()
		var slow []protocol.Command
		for range 3 {
			slow = append(slow, p.nextCommand(protocol.DoCompact))
		}
		p.answer(p.nextCommand(protocol.DoPing), protocol.Empty{})
		p.answer(slow[0], protocol.CompactResult{})
		p.nextCommand(protocol.DoCompact)
		p.expectNoCommand()
		cancel() // the server has not answered them
		synctest.Wait()
		go func() { errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		p.expectNoCommand()
		p.answer(slow[1], protocol.CompactResult{})
		p.nextCommand(protocol.DoList)
	})
}

func TestALargeAnswerIsRead(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		lengths := make(chan int, 1)
		go func() {
			r, err := Call[protocol.HistoryResult](t.Context(), c, protocol.DoHistory, "s1", nil)
			if err != nil {
				t.Error(err)
			}
			lengths <- len(r.Epoch)
		}()
		p := f.acceptHello()
		p.answer(p.nextCommand(protocol.DoHistory), protocol.HistoryResult{Epoch: strings.Repeat("e", 4<<20)})
		if n := <-lengths; n != 4<<20 {
			t.Errorf("read %d bytes", n)
		}
	})
}

func TestAnAnswerThatCannotBeReadIsADecodeError(t *testing.T) {
	for name, line := range map[string]string{
		"wrong envelope": `{"id":"ID","result":{},"error":7}`,
		"wrong result":   `{"id":"ID","result":{"sessions":7}}`,
	} {
		t.Run(name, func(t *testing.T) {
			withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
				errs := make(chan error, 1)
				go func() {
					_, err := Call[protocol.ListResult](t.Context(), c, protocol.DoList, "", nil)
					errs <- err
				}()
				p := f.acceptHello()
				p.write(strings.ReplaceAll(line, "ID", p.nextCommand(protocol.DoList).ID))
				var bad *DecodeError
				if err := <-errs; !errors.As(err, &bad) || len(bad.Bytes) == 0 {
					t.Errorf("%v", err)
				}
				if s := c.State(); s.Phase != PhaseOpen {
					t.Errorf("state %+v", s)
				}
			})
		})
	}
}

func TestTheClientsOwnCommandsAreNotTheCallers(t *testing.T) {
	c := New("ws://server", Options{})
	for _, verb := range []protocol.Verb{
		protocol.DoHello, protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck,
		protocol.DoWatch,
	} {
		if err := c.Do(t.Context(), protocol.Command{Command: verb, Session: "s"},
			nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

func TestACommandThatNeverWentOutIsWithdrawn(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		f.setDialError(errDown)
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
			t.Error("an unknown command was withdrawn")
		}
		if !c.Withdraw("goes") {
			t.Fatal("Withdraw returned false")
		}
		if err := <-errs["goes"]; !errors.Is(err, ErrWithdrawn) {
			t.Errorf("%v", err)
		}
		if c.Withdraw("goes") {
			t.Error("a command was withdrawn twice")
		}
		f.setDialError(nil)
		p := f.acceptHello()
		p.answer(p.nextSend("stays"), protocol.SendResult{})
		if err := <-errs["stays"]; err != nil {
			t.Error(err)
		}
		p.expectNoCommand()
	})
}

func TestACommandThatMayHaveArrivedIsNotWithdrawn(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, f *fakeServer, c *Client) {
		errs := make(chan error, 1)
		go func() {
			errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoSend, Session: "s1", Key: "k"}, nil)
		}()
		p := f.acceptHello()
		p.nextSend("k")
		if c.Withdraw("k") {
			t.Error("withdrawn after it was sent")
		}
		f.setDialError(errDown)
		_ = p.ws.CloseNow()
		synctest.Wait()
		if c.Withdraw("k") {
			t.Error("withdrawn after the connection was lost")
		}
		f.setDialError(nil)
		p = f.acceptHello()
		p.answer(p.nextSend("k"), protocol.SendResult{})
		if err := <-errs; err != nil {
			t.Error(err)
		}
	})
}

func TestAClosedClientWithdrawsNothing(t *testing.T) {
	withFakeServer(t, Options{}, func(t *testing.T, _ *fakeServer, c *Client) {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if c.Withdraw("k") {
			t.Error("Withdraw returned true")
		}
	})
}

// nextSend waits for the next command, which must be a send with that key.
func (p *serverConn) nextSend(key string) protocol.Command {
	p.t.Helper()
	cmd := p.nextCommand(protocol.DoSend)
	if cmd.Key != key {
		p.t.Errorf("send %+v, want key %s", cmd, key)
	}
	return cmd
}
