package wsclient

import (
	"reflect"
	"testing"
	"time"

	"agentctl/protocol"
)

func TestFastDecoderDecodesAppendJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	var d fastDecoder
	for _, e := range []protocol.Event{
		{Session: "s", Seq: 1, Time: at, Type: protocol.TurnStarted, Turn: "t"},
		{
			Session: "s", Seq: 1 << 60, FirstSeq: 7, Time: at, Type: protocol.TextDelta, Turn: "t", Task: "k",
			Parent: "p",
			Data:   []byte(`{"part":"p","text":"é\n"}`),
		},
		{Session: "other", Time: at, Type: protocol.CaughtUp, Data: []byte(`{"position":"e:1"}`)},
	} {
		line := e.AppendJSON(nil)
		got := d.decodeEvent(line)
		if got == nil || !reflect.DeepEqual(*got, e) {
			t.Errorf("%s: read %+v", line, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	e := protocol.Event{
		Session: "s", Seq: 9, FirstSeq: 4, Turn: "t", Task: "k", Parent: "p", Time: time.Unix(1e9,
			0), Type: protocol.TextDelta,
		Data: []byte(`{"part":"p","text":"x"}`),
	}
	f.Add(e.AppendJSON(nil))
	e.By = &protocol.Actor{Name: "ada"}
	f.Add(e.AppendJSON(nil))
	f.Add([]byte(`{"session":"s","time":"2026-01-02T03:04:05Z","type":"x","data": {} }`))
	f.Add([]byte(`{"session":"s","seq":01,"time":"2026-01-02T03:04:05Z","type":"x"}`))
	f.Add([]byte("{\"id\":\"1\",\"result\":{}}\n\n{\"id\":\"2\",\"error\":7}\n{"))
	f.Fuzz(func(t *testing.T, message []byte) {
		var d fastDecoder
		for _, in := range d.decode(message) {
			n := 0
			for _, is := range []bool{in.event != nil, in.answer != nil, in.err != nil} {
				if is {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("%q has %d of event, answer and error", in.raw, n)
			}
		}
		for line := range protocol.Lines(message) {
			if got := new(fastDecoder).decodeEvent(line); got != nil {
				want, _, err := protocol.DecodeIncoming(line)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%q: fast %+v, slow %+v, %v", line, got, want, err)
				}
			}
		}
	})
}
