package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// lines returns the durable events of a journal as JSON lines.
func lines(j *tuitest.Journal) string {
	var out strings.Builder
	for _, u := range j.Take() {
		if u.Event != nil && u.Event.Durable() {
			fmt.Fprintf(&out, "%s\n", u.Event.AppendJSON(nil))
		}
	}
	return out.String()
}

// record returns the recording of a journal.
func record(t *testing.T, j *tuitest.Journal) *Recording {
	t.Helper()
	r, err := Read(strings.NewReader(lines(j)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// twoTurns returns a journal of two turns with one event a second.
func twoTurns() *tuitest.Journal {
	j := tuitest.NewJournal()
	for i := range 2 {
		j.UserMessage(tuitest.Ada, fmt.Sprint("m", i), fmt.Sprint("question ", i))
		j.Text("t", "one ", "two ", "three")
		j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t"})
		j.EndTurn(protocol.ReasonCompleted)
	}
	return j
}

func TestReadKeepsEveryEvent(t *testing.T) {
	text := lines(twoTurns())
	r, err := Read(strings.NewReader("\n" + text + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i := range r.events {
		fmt.Fprintf(&got, "%s\n", r.events[i].AppendJSON(nil))
	}
	if got.String() != text {
		t.Errorf("read\n%s\nwant\n%s", got.String(), text)
	}
	if len(r.turns) != 2 || r.events[r.turns[1]].Turn != "turn-m1" {
		t.Errorf("turns start at %v", r.turns)
	}
}

func TestReadStartsWithinALog(t *testing.T) {
	all := strings.SplitAfter(lines(twoTurns()), "\n")
	r, err := Read(strings.NewReader(strings.Join(all[5:], "")))
	if err != nil || r.start().Seq != 5 {
		t.Errorf("start at %v, error %v, want 5", r, err)
	}
}

func TestReadNamesTheInvalidLine(t *testing.T) {
	all := strings.SplitAfter(lines(twoTurns()), "\n")
	first := all[0]
	for _, c := range []struct{ name, text, want string }{
		{"empty", "\n\n", "it has no events"},
		{"no JSON", first + "\nhello\n", "line 3: not an event"},
		{"a document", "# fix\n", `want the output of "agentctl export --format jsonl"`},
		{"cut off", first + all[1][:40], "line 2: not an event"},
		{"asciicast", `{"version":2,"width":80,"height":24}`, "line 1: not an event of a log"},
		{"ephemeral", `{"session":"s","type":"caught_up"}`, "line 1: not an event of a log"},
		{"gap", first + all[2], "line 2: event 3..3 of s1 does not follow 1"},
		{"twice", first + first, "line 2: event 1..1"},
		{"another session", first + strings.Replace(all[1], `"s1"`, `"s2"`, 1), "line 2: it is of session"},
		{"wrong data", `{"session":"s","seq":1,"type":"session.created","data":[1]}`, "line 1: data of"},
		{"long line", first + strings.Repeat("x", maxLine+1), "line 2: longer than"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReadBoundsEvents(t *testing.T) {
	r := new(Recording)
	e := protocol.Event{Session: "s", Type: protocol.Notice}
	for e.Seq = 1; e.Seq <= MaxEvents; e.Seq++ {
		if err := r.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Add(&e); err == nil || !strings.Contains(err.Error(), "more than 1000000 events") {
		t.Errorf("got error %v for too many events", err)
	}
	r = &Recording{bytes: MaxBytes}
	e.Seq = 1
	if err := r.Add(&e); err == nil || !strings.Contains(err.Error(), "more than 256 MiB") {
		t.Errorf("got error %v for too many bytes", err)
	}
}

func TestOffsetsShortenPausesAndNeverDecrease(t *testing.T) {
	j := twoTurns()
	j.At = j.At.Add(time.Hour)
	j.UserMessage(tuitest.Ada, "m3", "question 3")
	j.At = j.At.Add(-time.Hour)
	j.Text("t", "answer")
	r := record(t, j)
	whole, short := r.offsets(0), r.offsets(2*time.Second)
	for i := 1; i < len(whole); i++ {
		if whole[i] < whole[i-1] || short[i] < short[i-1] || short[i]-short[i-1] > 2*time.Second {
			t.Fatalf("event %d is at %v and %v, after %v and %v", i, whole[i], short[i], whole[i-1], short[i-1])
		}
	}
	if last := whole[len(whole)-1]; last < time.Hour {
		t.Errorf("without a limit the recording takes %v, want over an hour", last)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(lines(twoTurns()))
	f.Add(lines(tuitest.Conversation()))
	f.Add(`{"session":"s","seq":18446744073709551615,"type":"notice","time":"9999-12-31T23:59:59Z"}`)
	f.Add(`{"session":"s","seq":9,"first_seq":2,"type":"fold","time":"0001-01-01T00:00:00Z"}` + "\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		p := NewPlayer(r, time.Second)
		p.SeekEnd()
		for range r.Len() + 2 { // one update more at each end
			if u, _ := p.step(); u == nil {
				t.Fatal("fewer updates than events")
			}
		}
		if at := p.Playback(); !at.Ended || at.At != at.Length || at.Turn != at.Turns {
			t.Errorf("at the end the position is %+v", at)
		}
	})
}
