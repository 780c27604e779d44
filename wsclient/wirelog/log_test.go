package wirelog

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/internal/redact"
	"agentctl/wsclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// readLines returns the lines of a file. Each line is JSON.
func readLines(t *testing.T, text []byte) (lines []line) {
	t.Helper()
	for raw := range bytes.Lines(text) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestEveryMessageIsALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire.jsonl")
	for _, frames := range [][]wsclient.Frame{
		{
			{Note: "opened ws://box/v1/ws?token=the-token"},
			{Sent: true, Data: []byte(`{"command":"login","data":{"password":"hunter2"}}`)},
			{Data: []byte("{\"id\":\"1\"}\n{\"text\":\"my-own-secret-too, my-own-secret\"}\n")},
		},
		{{Data: []byte("ping\n")}, {Sent: true, Binary: true, Data: []byte{1, 2}}}, // appended
	} {
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		l.Hide("my-own-secret", "my-own-secret-too")
		for _, f := range frames {
			f.Time = noon
			l.Record(f)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l.Record(wsclient.Frame{Note: "late"})
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const at = `{"time":"2026-03-04T12:00:00Z",`
	want := at + `"note":"opened ws://box/v1/ws?token=‹hidden›"}
` + at + `"direction":"sent","message":{"command":"login","data":{"password":"‹hidden›"}}}
` + at + `"direction":"received","message":{"id":"1"}}
` + at + `"direction":"received","message":{"text":"‹hidden›, ‹hidden›"}}
` + at + `"direction":"received","text":"ping"}
` + at + `"direction":"sent","binary":"AQI="}
`
	if string(got) != want {
		t.Errorf("the file has\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestALineHasNoControlCharacters(t *testing.T) {
	text := "\x1b[2J\u009b1m\x7f\r\x00\xff ok"
	message, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte("{\"text\":\"\u009b1m\x7f\"}") // valid as JSON
	for _, data := range [][]byte{[]byte(text), message, raw} {
		for _, l := range linesOf(wsclient.Frame{Data: data}, redact.NewMessages(nil)) {
			out := l.append(nil)
			if strings.ContainsFunc(strings.TrimSuffix(string(out), "\n"), func(c rune) bool {
				return c < ' ' || c >= 0x7f && c < 0xa0
			}) || !json.Valid(out) {
				t.Errorf("%q is written as %q", data, out)
			}
		}
	}
}

// A slowFile takes nothing until it is released.
type slowFile struct {
	bytes.Buffer
	release chan struct{}
	err     error
}

func (f *slowFile) Write(b []byte) (int, error) {
	<-f.release
	if f.err != nil {
		return 0, f.err
	}
	return f.Buffer.Write(b)
}

func (f *slowFile) Close() error { return nil }

func TestRecordNeverWaitsAndCountsWhatItDrops(t *testing.T) {
	for name, c := range map[string]struct {
		size, kept int // of frames
	}{
		"many":  {2, maxQueuedFrames},
		"large": {maxQueued / 4, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			file := &slowFile{release: make(chan struct{})}
			l := start(file, 0)
			data := []byte("{}" + strings.Repeat(" ", c.size-2))
			l.Record(wsclient.Frame{Data: data})
			synctest.Wait() // the file has the first frame
			for range c.kept + 7 {
				l.Record(wsclient.Frame{Data: data})
			}
			close(file.release)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			lines := readLines(t, file.Bytes())
			if last := lines[len(lines)-1]; len(lines) != 1+c.kept+1 || last.Dropped != 7 {
				t.Errorf("%s: %d lines, the last is %+v", name, len(lines), last)
			}
		})
	}
}

func TestAFileEndsAtItsSizeLimit(t *testing.T) {
	file := &slowFile{release: make(chan struct{})}
	close(file.release)
	l := start(file, MaxSize-4000)
	for range 100 {
		l.Record(wsclient.Frame{Time: noon, Data: []byte(`{"text":"` + strings.Repeat("x", 200) + `"}`)})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	lines := readLines(t, file.Bytes())
	last := lines[len(lines)-1]
	if file.Len() > 4000 || len(lines) < 10 || !strings.Contains(last.Note, "size limit") {
		t.Errorf("%d bytes, %d lines, the last is %+v", file.Len(), len(lines), last)
	}
}

func TestAnErrorOfTheFileIsThatOfClose(t *testing.T) {
	full := errors.New("no space")
	file := &slowFile{release: make(chan struct{}), err: full}
	close(file.release)
	l := start(file, 0)
	l.Record(wsclient.Frame{Note: "one"})
	l.Record(wsclient.Frame{Note: "two"})
	if err := l.Close(); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
}
