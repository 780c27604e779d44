package verb

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/exit"
	"agentctl/internal/output"
)

// stdin that another program keeps open is waited for, with a note, and within --timeout.
func TestStdinThatDoesNotEndIsWaitedForWithANote(t *testing.T) {
	const note = "agentctl: reading stdin, which has no input yet"
	for name, c := range map[string]struct {
		input   func(w *io.PipeWriter)
		timeout time.Duration
		want    string
		note    bool
	}{
		"ends immediately": {input: func(w *io.PipeWriter) { _ = w.Close() }},
		"begins in time": {
			input: func(w *io.PipeWriter) {
				_, _ = io.WriteString(w, "first")
				time.Sleep(time.Hour)
				_, _ = io.WriteString(w, " last")
				_ = w.Close()
			},
			want: "first last",
		},
		"begins late": {
			input: func(w *io.PipeWriter) {
				time.Sleep(time.Hour)
				_, _ = io.WriteString(w, "late")
				_ = w.Close()
			},
			want: "late", note: true,
		},
		"never ends": {
			input:   func(w *io.PipeWriter) { time.Sleep(2 * time.Hour); _ = w.Close() },
			timeout: time.Hour, note: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				var stderr bytes.Buffer
				in := Input{r, output.Printer{Stderr: &stderr}.Notef}
				ctx, cancel := withTimeout(t.Context(), c.timeout)
				defer cancel()
				go c.input(w)
				got, err := in.ReadAll(ctx, 100)
				if string(got) != c.want || errors.Is(err, exit.ErrTimeout) != (c.timeout > 0) {
					t.Errorf("%q, %v", got, err)
				}
				if strings.HasPrefix(stderr.String(), note) != c.note {
					t.Errorf("stderr %q", stderr.String())
				}
				time.Sleep(2 * time.Hour) // the goroutines end
			})
		})
	}
}

// A read stops after the limit.
func TestStdinIsReadToItsLimit(t *testing.T) {
	in := Input{Stdin: strings.NewReader(strings.Repeat("x", 5000))}
	if b, err := in.ReadAll(context.Background(), 1000); len(b) != 1001 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
