//go:build unix

package output

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestHangupIsSeen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // a test
	seen := make(chan bool, 1)
	go func() { seen <- WaitHangup(t.Context(), w) }()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !<-seen {
		t.Error("the reader has closed, but no hangup was seen")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // a test
	for _, stream := range []any{file, &Printer{}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if WaitHangup(ctx, stream) {
			t.Errorf("%T: hangup of a stream without readers", stream)
		}
	}
}
