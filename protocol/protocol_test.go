package protocol

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDecodeCommandRefusesWithACode(t *testing.T) {
	deep := strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100)
	for _, c := range []struct {
		name, line string
		code       Code
		id         string
	}{
		{"not JSON", `{`, CodeInvalidJSON, ""},
		{"not UTF-8", "{\"id\":\"\xff\"}", CodeInvalidJSON, ""},
		{"not an object", `[1]`, CodeInvalidMessage, ""},
		{"two values", `{} {}`, CodeInvalidJSON, ""},
		{"wrong type keeps the id", `{"id":"7","command":5}`, CodeInvalidMessage, "7"},
		{"unknown field", `{"id":"7","command":"ping","x":1}`, CodeInvalidMessage, "7"},
		{"wrong case", `{"id":"7","Command":"ping"}`, CodeInvalidMessage, "7"},
		{"doubled key", `{"id":"7","command":"ping","command":"close"}`, CodeInvalidMessage, "7"},
		{"doubled key in data", `{"id":"7","command":"send","session":"s","data":{"text":"a","text":"b"}}`, CodeInvalidMessage, "7"},
		{"too deep", `{"id":"7","command":"ping","data":` + deep + `}`, CodeInvalidMessage, "7"},
		{"no command", `{"id":"7"}`, CodeInvalidMessage, "7"},
		{"unknown command", `{"id":"7","command":"dance"}`, CodeUnknownCommand, "7"},
		{"session missing", `{"id":"7","command":"send"}`, CodeInvalidMessage, "7"},
		{"long key", `{"id":"7","command":"ping","key":"` + strings.Repeat("k", 200) + `"}`, CodeInvalidMessage, "7"},
	} {
		got, err := DecodeCommand([]byte(c.line))
		if CodeOf(err) != c.code || got.ID != c.id {
			t.Errorf("%s: code %q, id %q, %v; want %q, %q", c.name, CodeOf(err), got.ID, err, c.code, c.id)
		}
	}
}

func TestDecodeDataIsStrict(t *testing.T) {
	c, err := DecodeCommand([]byte(`{"id":"1","command":"subscribe","session":"s","data":{"position":"nonsense:x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DecodeData(new(SubscribeData)); CodeOf(err) != CodeInvalidPosition {
		t.Errorf("malformed position: %v", err)
	}
	c.Data = json.RawMessage(`{"Position":"1"}`)
	if err := c.DecodeData(new(SubscribeData)); CodeOf(err) != CodeInvalidMessage {
		t.Errorf("wrong case in data: %v", err)
	}
	c.Data = json.RawMessage(`{"position":"abc:12"}`)
	var d SubscribeData
	if err := c.DecodeData(&d); err != nil || *d.Position != (Position{"abc", 12}) {
		t.Errorf("position: %v, %v", d.Position, err)
	}
}

func TestAppendJSONIsWhatMarshalWouldRead(t *testing.T) {
	e := Event{
		Session: "s", Seq: 9, FirstSeq: 4, Turn: "t", Task: "k", Parent: "p", Time: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
		Type: TextDelta, By: &Actor{"a\u2028\x01\"", "b"}, Data: json.RawMessage(`{"part":"p","text":"x"}`),
	}
	var got Event
	if err := json.Unmarshal(e.AppendJSON(nil), &got); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(e)
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestEveryEventTypeHasDataThatEncodes(t *testing.T) {
	seen := map[Type]bool{}
	for _, et := range EventTypes {
		if seen[et.Type] {
			t.Errorf("%s is listed twice", et.Type)
		}
		seen[et.Type] = true
		if _, err := Encode(et.New()); err != nil {
			t.Errorf("%s: %v", et.Type, err)
		}
		if et.Ephemeral && folds[et.Type] != nil {
			t.Errorf("%s is ephemeral and folded", et.Type)
		}
	}
	for typ := range folds {
		if !seen[typ] {
			t.Errorf("%s is folded and not listed", typ)
		}
	}
}

func FuzzDecodeCommand(f *testing.F) {
	f.Add([]byte(`{"id":"1","command":"send","session":"s","key":"k","data":{"text":"hi","parts":[{"type":"text"}]}}`))
	f.Add([]byte(`{"id":"1","command":"subscribe","session":"s","data":{"position":"abc:1"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCommand(b)
		if err != nil {
			if CodeOf(err) == CodeInternal {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		if err := c.DecodeData(CommandOf(c.Command).Data()); err != nil && CodeOf(err) == CodeInternal {
			t.Fatalf("error without a code: %v", err)
		}
	})
}

func FuzzDecodeIncoming(f *testing.F) {
	f.Add([]byte(`{"session":"s","seq":1,"time":"2026-01-02T03:04:05Z","type":"text.delta","data":{"part":"p","text":"x"}}`))
	f.Add([]byte(`{"id":"1","error":{"code":"conflict","message":"m","winner":{"by":{"name":"x"},"outcome":"denied"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, a, err := DecodeIncoming(b)
		if err == nil && (e == nil) == (a == nil) {
			t.Fatal("neither or both")
		}
		if e != nil {
			_ = (&State{Seq: e.First() - 1}).Apply(e)
			_, _ = new(Transcript).Apply(e)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\xff\u2028\x00\"\\é")
	f.Fuzz(func(t *testing.T, s string) {
		out := AppendString(nil, s)
		var back string
		if !utf8.Valid(out) || json.Unmarshal(out, &back) != nil || back != ValidTextEach(s) {
			t.Fatalf("%q → %s → %q", s, out, back)
		}
		for _, p := range SplitText(s, 7) {
			if len(p) > 7 {
				t.Fatalf("piece of %d bytes", len(p))
			}
		}
		if strings.Join(SplitText(s, 7), "") != s {
			t.Fatal("pieces do not join")
		}
	})
}

// ValidTextEach is ValidText with one U+FFFD for every bad byte.
func ValidTextEach(s string) string {
	var b strings.Builder
	for _, r := range s { // ranging yields U+FFFD for each bad byte
		b.WriteRune(r)
	}
	return b.String()
}
