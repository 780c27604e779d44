package protocol

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDecodeCommandRefusesWithACode(t *testing.T) {
	lists := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	objects := func(n int) string { return strings.Repeat(`{"x":`, n) + `0` + strings.Repeat(`}`, n) }
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
		{
			"doubled key in data", `{"id":"7","command":"send","session":"s","data":{"text":"a","text":"b"}}`,
			CodeInvalidMessage, "7",
		},
		{"lists too deep", `{"id":"7","command":"ping","data":` + lists(64) + `}`, CodeInvalidMessage, "7"},
		{"lists as deep as may be", `{"id":"7","command":"ping","data":` + lists(63) + `}`, "", "7"},
		{"objects too deep", `{"id":"7","command":"ping","data":` + objects(64) + `}`, CodeInvalidMessage, "7"},
		{"objects as deep as may be", `{"id":"7","command":"ping","data":` + objects(63) + `}`, "", "7"},
		{"doubled key in a list", `{"id":"7","command":"ping","data":[{"a":1,"a":2}]}`, CodeInvalidMessage, "7"},
		{"no command", `{"id":"7"}`, CodeInvalidMessage, "7"},
		{"unknown command", `{"id":"7","command":"dance"}`, CodeUnknownCommand, "7"},
		{"session missing", `{"id":"7","command":"send"}`, CodeInvalidMessage, "7"},
		{"no session needed", `{"id":"7","command":"list"}`, "", "7"},
		{"long key", `{"id":"7","command":"ping","key":"` + strings.Repeat("k", 129) + `"}`, CodeInvalidMessage, "7"},
		{"key as long as may be", `{"id":"7","command":"ping","key":"` + strings.Repeat("k", 128) + `"}`, "", "7"},
		{
			"long session", `{"id":"7","command":"send","session":"` + strings.Repeat("s", 257) +
				`"}`, CodeInvalidMessage,
			"7",
		},
		{
			"session as long as may be", `{"id":"7","command":"send","session":"` + strings.Repeat("s", 256) + `"}`, "",
			"7",
		},
		{"long id", `{"id":"` + strings.Repeat("7", 257) + `","command":"ping"}`, CodeInvalidMessage, ""},
		{"long id of what is no command", `{"id":"` + strings.Repeat("7", 257) + `"}`, CodeInvalidMessage, ""},
		{
			"id as long as may be", `{"id":"` + strings.Repeat("7", 256) + `","command":5}`, CodeInvalidMessage,
			strings.Repeat("7", 256),
		},
		{"id that is no text", `{"id":7,"command":"ping"}`, CodeInvalidMessage, ""},
	} {
		got, err := DecodeCommand([]byte(c.line))
		if CodeOf(err) != c.code || got.ID != c.id {
			t.Errorf("%s: code %q, id %q, %v; want %q, %q", c.name, CodeOf(err), got.ID, err, c.code, c.id)
		}
	}
}

func TestWhatIsWrongWithACommandIsSaid(t *testing.T) {
	for line, want := range map[string]string{
		`[1]`:                 "not a JSON object",
		`{"id":1}`:            "id: number is not a string",
		`{"command":[]}`:      "command: array is not a string",
		`{"x":1}`:             `unknown field "x"`,
		`{"id":"1","id":"1"}`: `duplicate field "id"`,
		`{"command":"send","session":"s","data":{"parts":"x"}}`:                        "send: parts: string is not an array",
		`{"command":"send","session":"s","data":{"parts":["x"]}}`:                      "send: parts: string is not an object",
		`{"command":"send","session":"s","data":{"parts":[{"Type":"x"}]}}`:             `send: unknown field "Type"`,
		`{"command":"send","session":"s","data":[]}`:                                   "send: not a JSON object",
		`{"command":"send","session":"s","data":{"front":"yes"}}`:                      "send: front: string is not a boolean",
		`{"command":"history","session":"s","data":{"limit":"x"}}`:                     "history: limit: string is not a number of the right kind",
		`{"command":"approve","session":"s","data":{"input":{"answers":{"a":1}}}}`:     "approve: input.answers: number is not an array",
		`{"command":"approve","session":"s","data":{"input":{"answers":{"A":["b"]}}}}`: "",
		`{"command":"approve","session":"s","data":{"input":[]}}`:                      "approve: input: array is not an object",
	} {
		c, err := DecodeCommand([]byte(line))
		if err == nil {
			err = c.DecodeData(CommandOf(c.Command).Data())
		}
		if got := AsError(err).Message; err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestLinesAreTheObjectsOfAMessage(t *testing.T) {
	var got []string
	for line := range Lines([]byte("\n{1}\r\n\n  {2}\n{3}\n{4}")) {
		if got = append(got, string(line)); len(got) == 3 {
			break
		}
	}
	if want := []string{"{1}", "{2}", "{3}"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWhatAServerSaysIsAnEventOrAnAnswer(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"notice","session":"s","seq":1,"time":"2026-01-02T03:04:05Z"}`: `{"session":"s","seq":1,"time":"2026-01-02T03:04:05Z","type":"notice"}`,
		`{"id":"1","result":{"a":1}}`:                                           `{"id":"1","result":{"a":1}}`,
		`{"result":{}}`:                                                         `{"result":{}}`,
		`{"id":"1"}`:                                                            `{"id":"1"}`,
		`{"error":{"code":"conflict","message":"m"}}`:                           `{"error":{"code":"conflict","message":"m"}}`,
		`{"of":"tomorrow"}`:                                                     "",
		`[]`:                                                                    "",
	} {
		e, a, err := DecodeIncoming([]byte(line))
		got := ""
		switch {
		case err != nil:
		case e != nil:
			got = string(MustEncode(e))
		default:
			got = string(MustEncode(a))
		}
		if got != want {
			t.Errorf("%s is %s, want %s", line, got, want)
		}
	}
}

func TestAPositionReadsBackAndNothingElseIsOne(t *testing.T) {
	long := strings.Repeat("a", 64)
	for s, want := range map[string]Position{"0": {}, "7": {"", 7}, "09az:12": {"09az", 12}, long + ":1": {long, 1}} {
		p, err := ParsePosition(s)
		if err != nil || p != want || p.String() != s || string(MustEncode(p)) != `"`+s+`"` {
			t.Errorf("%s is %v, %v", s, p, err)
		}
	}
	for _, s := range []string{
		"", ":", ":1", "a:", "a:b", "-1", "A:1", "a/:1", "a::1", "a`:1", "a{:1", long + "a:1",
		"1:18446744073709551616",
	} {
		if p, err := ParsePosition(s); CodeOf(err) != CodeInvalidPosition {
			t.Errorf("%q is %v, %v", s, p, err)
		}
	}
}

func TestWhatAnUnknownFaultIsIsNotTold(t *testing.T) {
	e := AsError(fmt.Errorf("open /var/secret: %w", io.ErrUnexpectedEOF))
	if e.Code != CodeInternal || e.Message == "" || strings.Contains(e.Message, "secret") {
		t.Errorf("%+v", e)
	}
	of := Errorf(CodeConflict, "a %d", 1)
	if e := AsError(fmt.Errorf("approve: %w", of)); e != of || e.Error() != "a 1" {
		t.Errorf("%+v", e)
	}
	if CodeOf(nil) != "" || CodeOf(io.EOF) != CodeInternal {
		t.Error("a code of no error, or none of one")
	}
	err := (&Event{Type: Notice, Seq: 3, Data: json.RawMessage(`[`)}).Decode(new(JoinedData))
	if err == nil || !strings.HasPrefix(err.Error(), "data of notice event 3: ") {
		t.Errorf("%v", err)
	}
}

func TestForeignJSONIsMadeFitForTheLog(t *testing.T) {
	for raw, want := range map[string]string{
		" {\"a\" : [1,\n2]}": `{"a":[1,2]}`,
		"\"a\xffb\"":         "\"a\uFFFDb\"",
		`{"a":`:              "",
	} {
		got, ok := Compact([]byte(raw))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q is %q, %v", raw, got, ok)
		}
	}
	if got := string(MustEncode("<&>\u2028")); got != `"<&>\u2028"` {
		t.Errorf("%s", got)
	}
	if got := ValidText("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}

func TestTextIsCutWhereRunesBegin(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"12345", []string{"12345"}},
		{"123456", []string{"12345", "6"}},
		{"1234é", []string{"1234", "é"}},
		{"12漢字", []string{"12漢", "字"}},
		{"123漢", []string{"123", "漢"}},
		{"12😀", []string{"12", "😀"}},
		{"1😀x", []string{"1😀", "x"}},
		{"1\x80\x80\x80\x80\x80\x80", []string{"1\x80\x80\x80\x80", "\x80\x80"}},
	} {
		if got := SplitText(c.text, 5); !slices.Equal(got, c.want) {
			t.Errorf("%q is cut to %q, want %q", c.text, got, c.want)
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

func TestDataThatIsNullIsAbsent(t *testing.T) {
	c, err := DecodeCommand([]byte(`{"id":"1","command":"list","data": null }`))
	if err != nil || c.Data != nil {
		t.Fatalf("data %s, %v", c.Data, err)
	}
	if err := c.DecodeData(new(ListData)); err != nil {
		t.Error(err)
	}
}

func TestAppendJSONIsWhatMarshalWouldRead(t *testing.T) {
	e := Event{
		Session: "s", Seq: 9, FirstSeq: 4, Turn: "t", Task: "k", Parent: "p", Time: time.Date(2026, 1, 2, 3, 4, 5,
			678e6, time.UTC),
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
	e = Event{Session: "s", Time: e.Time.In(time.FixedZone("", 3600)), Type: Heartbeat}
	if got, want := string(e.AppendJSON(nil)),
		`{"session":"s","time":"2026-01-02T03:04:05.678Z","type":"heartbeat"}`; got != want {
		t.Errorf("%s, want %s", got, want)
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
		if et.Ephemeral && et.reduce != nil {
			t.Errorf("%s is ephemeral and folded", et.Type)
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

func TestAStringIsWrittenAsTheLogWantsIt(t *testing.T) {
	for s, want := range map[string]string{
		"a\nb\rc\td":            `"a\nb\rc\td"`,
		"\x00\x1f\x7f":          `"\u0000\u001f` + "\x7f\"",
		" \"\\/<":               `" \"\\/<"`,
		"\u2028x\u2029\u202A":   `"\u2028x\u2029` + "\u202A\"",
		"\uFFFD\xff\xfeé\u0080": "\"\uFFFD\uFFFD\uFFFDé\u0080\"",
	} {
		if got := string(AppendString(nil, s)); got != want {
			t.Errorf("%q is written %s, want %s", s, got, want)
		}
	}
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

// ValidTextEach is ValidText with one U+FFFD for each bad byte.
func ValidTextEach(s string) string {
	var b strings.Builder
	for _, r := range s { // range yields U+FFFD for each bad byte
		b.WriteRune(r)
	}
	return b.String()
}
