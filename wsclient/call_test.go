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
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		type got struct {
			r   protocol.SendResult
			err error
		}
		results := map[string]chan got{"a": make(chan got, 1), "b": make(chan got, 1)}
		for text, result := range results {
			go func() {
				r, err := Call[protocol.SendResult](t.Context(), c, protocol.DoSend, "s1", protocol.SendData{Text: text})
				result <- got{r, err}
			}()
		}
		p := f.open()
		first, second := p.next(protocol.DoSend), p.next(protocol.DoSend)
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
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		errs := make(chan error, 1)
		go func() { errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoApprove, Session: "s1"}, nil) }()
		p := f.open()
		p.refuse(p.next(protocol.DoApprove), &protocol.Error{Code: protocol.CodeConflict, Message: "m", Winner: &protocol.Winner{By: protocol.Actor{Name: "bob"}}})
		err := <-errs
		if e, ok := err.(*protocol.Error); !ok || e.Code != protocol.CodeConflict || e.Winner.By.Name != "bob" {
			t.Errorf("%v", err)
		}
	})
}

func TestPendingCommandsAreSentAgainWithTheSameKey(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		errs := make(chan error, 3)
		do := func(cmd protocol.Command) {
			go func() { errs <- c.Do(t.Context(), cmd, nil) }()
			synctest.Wait()
		}
		do(protocol.Command{Command: protocol.DoSend, Session: "s1", Data: json.RawMessage(`{"text":"x"}`)})
		do(protocol.Command{Command: protocol.DoInterrupt, Session: "s1", Key: "mine"})
		do(protocol.Command{Command: protocol.DoList})
		p := f.open()
		send, interrupt, list := p.next(protocol.DoSend), p.next(protocol.DoInterrupt), p.next(protocol.DoList)
		if send.Key == "" || interrupt.Key != "mine" || list.Key != "" {
			t.Errorf("keys %q, %q, %q", send.Key, interrupt.Key, list.Key)
		}
		p.answer(list, protocol.ListResult{})
		if err := <-errs; err != nil {
			t.Error(err)
		}
		_ = p.conn.CloseNow()
		p = f.open()
		again := p.next(protocol.DoSend)
		if again.Key != send.Key || string(again.Data) != `{"text":"x"}` {
			t.Errorf("sent again as %+v", again)
		}
		if again := p.next(protocol.DoInterrupt); again.Key != "mine" {
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
		p.nothing()
		_ = p.conn.CloseNow()
		f.open().nothing()
	})
}

func TestACommandEndsWithItsContextAndIsNotSentAgain(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		errs := make(chan error, 1)
		go func() { errs <- c.Do(ctx, protocol.Command{Command: protocol.DoSend, Session: "s1"}, nil) }()
		p := f.open()
		sent := p.next(protocol.DoSend)
		var unsent *SendError
		if err := <-errs; !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &unsent) || unsent.Key != sent.Key {
			t.Errorf("%v", err)
		}
		if s := c.State(); s.Phase != PhaseOpen {
			t.Errorf("the caller's context ended the connection: %+v", s)
		}
		_ = p.conn.CloseNow()
		f.open().nothing()
	})
}

func TestACommandTooLargeForTheServerIsNotSent(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		errs := make(chan error, 1)
		go func() {
			_, err := Call[protocol.SendResult](t.Context(), c, protocol.DoSend, "s1", protocol.SendData{Text: strings.Repeat("x", protocol.MaxMessage)})
			errs <- err
		}()
		p := f.open()
		var coded *protocol.Error
		if err := <-errs; !errors.As(err, &coded) || coded.Code != protocol.CodeTooLarge || coded.Limit != protocol.MaxMessage {
			t.Errorf("%v", err)
		}
		p.nothing()
	})
}

// EA-3: what cannot be encoded is an error that holds it, and nothing is sent.
func TestWhatCannotBeEncodedIsAnErrorThatHoldsIt(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		data := map[string]any{"text": make(chan int)}
		_, err := Call[protocol.SendResult](t.Context(), c, protocol.DoSend, "s1", data)
		var bad *EncodeError
		if !errors.As(err, &bad) || bad.Command != protocol.DoSend || !reflect.DeepEqual(bad.Data, any(data)) || bad.Err == nil {
			t.Errorf("%v (%+v)", err, bad)
		}
		raw := json.RawMessage(`{"text":`)
		err = c.Do(t.Context(), protocol.Command{Command: protocol.DoSend, Session: "s1", Data: raw}, nil)
		if !errors.As(err, &bad) || !reflect.DeepEqual(bad.Data, any(raw)) || protocol.CodeOf(err) != protocol.CodeInvalidJSON {
			t.Errorf("%v (%+v)", err, bad)
		}
		if n := len(f.dialed()); n != 0 {
			t.Errorf("%d dials for nothing", n)
		}
	})
}

func TestManyCommandsShareMessagesUnderTheLimit(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		const n = 40
		errs := make(chan error, n)
		for range n {
			go func() {
				_, err := Call[protocol.SendResult](t.Context(), c, protocol.DoSend, "s1", protocol.SendData{Text: strings.Repeat("x", 100_000)})
				errs <- err
			}()
		}
		synctest.Wait()
		p := f.open()
		for range n {
			p.answer(p.next(protocol.DoSend), protocol.SendResult{})
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if p.bytes > protocol.MaxMessage || p.bytes < protocol.MaxMessage/2 {
			t.Errorf("the largest message had %d bytes", p.bytes)
		}
	})
}

func TestCommandsLeaveRoomForTheClientsOwn(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		errs := make(chan error, 6)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 5 {
			go func() { errs <- c.Do(ctx, protocol.Command{Command: protocol.DoCompact, Session: "s1"}, nil) }()
		}
		synctest.Wait()
		p := f.peer()
		p.inFlight, p.mute = 4, true
		p.greet()
		var slow []protocol.Command
		for range 3 {
			slow = append(slow, p.next(protocol.DoCompact))
		}
		p.answer(p.next(protocol.DoPing), protocol.Empty{})
		p.answer(slow[0], protocol.CompactResult{})
		p.next(protocol.DoCompact)
		p.nothing()
		cancel() // the server is not done with them
		synctest.Wait()
		go func() { errs <- c.Do(t.Context(), protocol.Command{Command: protocol.DoList}, nil) }()
		p.nothing()
		p.answer(slow[1], protocol.CompactResult{})
		p.next(protocol.DoList)
	})
}

func TestALargeAnswerIsRead(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
		lengths := make(chan int, 1)
		go func() {
			r, err := Call[protocol.HistoryResult](t.Context(), c, protocol.DoHistory, "s1", nil)
			if err != nil {
				t.Error(err)
			}
			lengths <- len(r.Epoch)
		}()
		p := f.open()
		p.answer(p.next(protocol.DoHistory), protocol.HistoryResult{Epoch: strings.Repeat("e", 4<<20)})
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
			inBubble(t, Options{}, func(t *testing.T, f *fake, c *Client) {
				errs := make(chan error, 1)
				go func() {
					_, err := Call[protocol.ListResult](t.Context(), c, protocol.DoList, "", nil)
					errs <- err
				}()
				p := f.open()
				p.say(strings.ReplaceAll(line, "ID", p.next(protocol.DoList).ID))
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
	for _, verb := range []protocol.Verb{protocol.DoHello, protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch} {
		if err := c.Do(t.Context(), protocol.Command{Command: verb, Session: "s"}, nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
