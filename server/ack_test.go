package server

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// encodedAck returns an ack as clients encode it.
func encodedAck(session string, seq uint64) []byte {
	return protocol.MustEncode(protocol.Command{
		Command: protocol.DoAck, Session: session, Data: protocol.MustEncode(protocol.AckData{Seq: seq}),
	})
}

func TestAcksAreParsedAsTheDecoderDoes(t *testing.T) {
	for _, line := range []string{
		string(encodedAck("s_1", 140)), string(encodedAck("s_1", 0)), string(encodedAck("s_1", 9999999999999999999)),
		string(encodedAck("s_1", 18446744073709551615)), string(encodedAck(`a "b" \`, 3)), string(encodedAck("ü", 3)),
		`{"command":"ack","session":"s_1","data":{"seq":01}}`, `{"command":"ack","session":"s_1","data":{"seq":}}`,
		`{"command":"ack","session":"s_1","data":{"seq":-1}}`, `{"command":"ack","session":"s_1","data":{"seq":1.5}}`,
		`{"command":"ack","session":"","data":{"seq":1}}`, `{"command":"ack","session":"s_1","data":{"seq":1}}}`,
		`{"command":"ack","session":"s_1","data":{"seq":1},"id":"7"}`, `{"command":"ack","session":"s_1"}`,
		`{"command":"ack","session":"s_1","data":{"seq":99999999999999999999}}`,
	} {
		checkAck(t, []byte(line))
	}
	if _, _, ok := parseAck(encodedAck("s_1", 140)); !ok {
		t.Error("the form of clients is not parsed")
	}
}

// checkAck compares the result of parseAck with the general decoder's.
func checkAck(t *testing.T, line []byte) {
	t.Helper()
	session, seq, ok := parseAck(line)
	if !ok {
		return
	}
	cmd, err := protocol.DecodeCommand(line)
	var d protocol.AckData
	if err == nil {
		err = cmd.DecodeData(&d)
	}
	if len(session) > 256 { // bounded by the decoder; no subscription has such an id
		return
	}
	if err != nil || cmd.Command != protocol.DoAck || cmd.ID != "" || cmd.Session != string(session) || d.Seq != seq {
		t.Errorf("%s: parsed %s %d, decoded %+v %+v, %v", line, session, seq, cmd, d, err)
	}
}

func FuzzAck(f *testing.F) {
	f.Add(encodedAck("s_1", 140))
	f.Add([]byte(`{"command":"ack","session":"s","data":{"seq":0}}`))
	f.Fuzz(checkAck)
}

func TestAnAckAllocatesNothing(t *testing.T) {
	c := &conn{}
	c.subs = []*subscription{{session: "s_1"}}
	c.window = 1 << 20
	line := encodedAck("s_1", 1)
	if n := testing.AllocsPerRun(100, func() { c.handle(line) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAnAckWakesOnlyAWriterThatWaitsForIt(t *testing.T) {
	c := &conn{outbox: outbox{wake: make(chan struct{}, 1), window: 100}}
	s := &subscription{session: "s_1"}
	c.subs = []*subscription{s}
	woken := func() bool {
		select {
		case <-c.wake:
			return true
		default:
			return false
		}
	}
	c.wrote(s, 1, 60)
	c.waiting.Store(true)
	c.handle(encodedAck("s_1", 1))
	if woken() {
		t.Error("woken with an open window")
	}
	c.wrote(s, 2, 100)
	if _, room, _ := c.room(s); room != 0 || !c.stall(room) {
		t.Fatalf("room for %d bytes", room)
	}
	c.handle(encodedAck("s_1", 1)) // nothing new
	if woken() {
		t.Error("woken by an ack of nothing")
	}
	c.handle(encodedAck("s_1", 2))
	if !woken() {
		t.Error("not woken by the ack that it waits for")
	}
	if c.stall(0) {
		t.Error("waits for an ack that has come")
	}
}

func TestAClientThatAcksSlowlyGetsEverything(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		c := w.dial().collect()
		c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: 600})
		last := result[protocol.SubscribeResult](c.testClient, c.ask(
			protocol.DoSubscribe, id, protocol.SubscribeData{Raw: true, Position: &protocol.Position{}},
		)).Position.Seq
		var seq uint64
		for seq < last {
			synctest.Wait()
			list, _ := events(c.all(), id)
			if len(list) == 0 {
				t.Fatalf("nothing after %d of %d", seq, last)
			}
			seq = list[len(list)-1].Seq
			time.Sleep(time.Second)
			c.send(protocol.DoAck, id, protocol.AckData{Seq: seq})
		}
	})
}

// BenchmarkAck measures an ack of a connection with ten subscriptions.
func BenchmarkAck(b *testing.B) {
	c := &conn{outbox: outbox{window: 1 << 20}}
	for _, id := range []string{"s_0", "s_1", "s_2", "s_3", "s_4", "s_5", "s_6", "s_7", "s_8", "s_9"} {
		c.subs = append(c.subs, &subscription{session: id})
	}
	line := encodedAck("s_9", 140)
	b.ReportAllocs()
	for b.Loop() {
		c.handle(line)
	}
}
