package dialect

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol/codec"
)

// A pathReader codec requests every foreign message as a path, and passes the bodies on as native
// lines.
type pathReader struct {
	echo
	want []string
}

func (r *pathReader) Foreign(_ time.Time, f codec.Frame) codec.Output {
	r.want = append(r.want, string(f.Data))
	return codec.Output{}
}

func (r *pathReader) Paths() []string {
	paths := r.want
	r.want = nil
	return paths
}

func (r *pathReader) PathRead(_ time.Time, path string, body []byte) codec.Output {
	if body == nil {
		body = []byte("nothing")
	}
	return codec.Output{Native: [][]byte{append([]byte(path+" holds "), body...)}}
}

func TestACodecIsGivenWhatItWantsRead(t *testing.T) {
	c, peer := newTestConnWith(t, &pathReader{}, func(_ context.Context, path string) ([]byte, error) {
		if path == "/there" {
			return []byte("something"), nil
		}
		return nil, errors.New("404")
	})
	for path, want := range map[string]string{"/there": "/there holds something\n", "/not": "/not holds nothing\n"} {
		if err := peer.Write(t.Context(), websocket.MessageText, []byte(path)); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Read(t.Context()); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

func TestAConnectionThatEndsWaitsForNothingThatIsRead(t *testing.T) {
	reading := make(chan struct{})
	c, peer := newTestConnWith(t, &pathReader{}, func(ctx context.Context, _ string) ([]byte, error) {
		close(reading)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err := peer.Write(t.Context(), websocket.MessageText, []byte("/slow")); err != nil {
		t.Fatal(err)
	}
	<-reading
	_ = c.CloseNow() // returns and leaves no goroutine
}
