package serverlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/redact"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileIsBoundedAndKeepsTheOlderRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := Open(path, 1000)
	must(t, err)
	defer f.Close()
	stderr, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) // as in a background server
	must(t, err)
	defer stderr.Close()
	for i := range 100 {
		_, err := fmt.Fprintf(f, "record %03d %s\n", i, strings.Repeat("x", 50))
		must(t, err)
		for _, p := range []string{path, OldPath(path)} {
			if info, err := os.Stat(p); err == nil && (info.Size() > 1000 || info.Mode().Perm() != 0o600) {
				t.Fatalf("%s: %d bytes, %v", p, info.Size(), info.Mode())
			}
		}
	}
	_, err = stderr.WriteString("panic\n")
	must(t, err)
	now, err := os.ReadFile(path)
	must(t, err)
	old, err := os.ReadFile(OldPath(path))
	must(t, err)
	if !strings.HasSuffix(string(now), "panic\n") || strings.ContainsRune(string(now), 0) {
		t.Errorf("%q", now)
	}
	lines := split(append(old, now...))
	if len(lines) < 20 || !strings.HasPrefix(string(lines[len(lines)-2]), "record 099") {
		t.Errorf("%d lines, %.20q", len(lines), lines[len(lines)-2])
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); left != nil {
		t.Errorf("left: %q", left)
	}
}

func TestReopenWritesToANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := Open(path, MaxBytes)
	must(t, err)
	defer f.Close()
	_, err = f.Write([]byte("one\n"))
	must(t, err)
	must(t, os.Rename(path, path+".1"))
	must(t, f.Reopen())
	_, err = f.Write([]byte("two\n"))
	must(t, err)
	if now, err := os.ReadFile(path); err != nil || string(now) != "two\n" {
		t.Errorf("%q %v", now, err)
	}
}

func TestTheLastLinesBeginInTheOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(OldPath(path), []byte("1\n2\n"), 0o600))
	must(t, os.WriteFile(path, []byte("3\n4\n5 without its end"), 0o600))
	for n, want := range map[int]string{-1: "1 2 3 4", 0: "", 1: "4", 2: "3 4", 3: "2 3 4", 9: "1 2 3 4"} {
		tail, err := OpenTail(path)
		must(t, err)
		lines, err := tail.Last(n)
		must(t, err)
		if got := string(bytes.Join(lines, []byte(" "))); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
		must(t, tail.Close())
	}
	if _, err := OpenTail(path + "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestFollowingContinuesAfterAnEmptiedAndAMovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(path, []byte("before\nfirst lines\n"), 0o600))
	tail, err := OpenTail(path)
	must(t, err)
	defer tail.Close()
	_, err = tail.Last(-1)
	must(t, err)
	next := func(want string) {
		t.Helper()
		end := errors.New("end")
		err := tail.Follow(t.Context(), func(line []byte) error {
			if string(line) != want {
				t.Errorf("%q, want %q", line, want)
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	must(t, os.WriteFile(path, []byte("emptied\n"), 0o600))
	next("emptied")
	must(t, os.Rename(path, path+".1"))
	must(t, os.WriteFile(path, []byte("a new file\n"), 0o600))
	next("a new file")
}

func TestNoSecretIsLogged(t *testing.T) {
	for _, format := range Formats {
		var out bytes.Buffer
		r := new(redact.Log)
		r.Set([]string{"swordfish-1234", "swordfish-1234-longer", "short"})
		log := New(&out, format, "debug", r).With("with", "swordfish-1234")
		log.Debug("swordfish-1234 in the message", "err", errors.New("of swordfish-1234-longer"),
			"url", "ws://host/v1/ws?token=abc.def&x=1", "header", "Authorization: Bearer abcdef",
			"jwt", "got eyJhbGciOi.eyJzdWIi.c2ln", "key", "sk-proj-aaaaaaaaaaaaaaaa", "json", `{"api_key":"zzz"}`,
			"list", []string{"swordfish-1234"}, "env", "OPENAI_API_KEY=qqq", "fine", "short and plain")
		for _, secret := range []string{"swordfish", "longer", "abc", "eyJ", "aaaa", "zzz", "qqq"} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%s: %q in %s", format, secret, out.String())
			}
		}
		if !strings.Contains(out.String(), "short and plain") || !strings.Contains(out.String(), "x=1") {
			t.Errorf("%s: too much is hidden: %s", format, out.String())
		}
		if format == "json" && !json.Valid(out.Bytes()) {
			t.Errorf("no JSON: %s", out.String())
		}
	}
}

func TestTheLevelIsTheLeastThatIsLogged(t *testing.T) {
	for i, level := range Levels {
		var out bytes.Buffer
		log := New(&out, "", level, new(redact.Log))
		log.Debug("x")
		log.Info("x")
		log.Warn("x")
		log.Error("x")
		if got := strings.Count(out.String(), "\n"); got != len(Levels)-i {
			t.Errorf("%s: %d records", level, got)
		}
	}
}

// The trace of a crash follows the last record. Records of this process may follow it.
func TestTheOutputOfACrashIsRedactedInItsPlace(t *testing.T) {
	const record, former = "time=1 level=INFO msg=a token=abcdefgh\n", "time=0 level=INFO msg=b\nunix:///a.sock\n"
	for name, c := range map[string]struct{ was, want, crash string }{
		"no crash": {former + record, former + record, ""},
		"empty":    {"", "", ""},
		"crash": {
			former + record + "panic: use swordfish-1 \n\ngoroutine 1:\n",
			former + record + "panic: use [hidden] \n\ngoroutine 1:\n", "panic: use [hidden]",
		},
		"no records": {
			"fatal error: password=x1\n", "fatal error: password=[hidden]\n", "fatal error: password=[hidden]",
		},
		"no secrets":  {record + "SIGQUIT: quit\nPC=0x1", record + "SIGQUIT: quit\nPC=0x1", "SIGQUIT: quit"},
		"other lines": {record + "agentctl: key=abc\n", record + "agentctl: key=[hidden]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(c.was), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, MaxBytes)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.Write([]byte("time=2 msg=open\n")); err != nil {
				t.Fatal(err)
			}
			var r redact.Log
			r.Set([]string{"swordfish-1"})
			crash, err := f.RedactOutput(&r)
			got, _ := os.ReadFile(path)
			if want := c.want + "time=2 msg=open\n"; err != nil || crash != c.crash || string(got) != want {
				t.Errorf("%q, %v\n%s\nwant\n%s", crash, err, got, want)
			}
		})
	}
}
