package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"

	"agentctl/server/agent/acp/rpc"
)

// pingInterval is the time between the pings of a WebSocket, and pingTimeout the one for the answer.
const (
	pingInterval = 30 * time.Second
	pingTimeout  = 30 * time.Second
)

// Dial connects to an agent. A write to the connection is one message, with a newline at its end; a
// read returns messages, each on a line. The HTTP transport connects with the first write, which is
// the initialize request. ctx is for connecting.
func Dial(ctx context.Context, a Address) (io.ReadWriteCloser, error) {
	if err := CheckURL(a.URL); err != nil {
		return nil, fmt.Errorf("%s: %w", a.URL, err)
	}
	jar, _ := cookiejar.New(nil)                                 // for servers that need the same machine again; it never fails
	transport := http.DefaultTransport.(*http.Transport).Clone() // its connections end with this one
	client := &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // headers have credentials of this host
	}}
	if a.isSocket() {
		return dialSocket(ctx, client, a)
	}
	return newStream(client, a), nil
}

// line returns a message on one line, with its end.
func line(message []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, message) != nil { // whoever reads it reports it
		b.Reset()
		b.Write(bytes.ReplaceAll(message, []byte("\n"), []byte(" ")))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// maxMessage is the maximum length of a message, in bytes.
const maxMessage = rpc.MaxLine

// statusError is an answer that is no success.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answers %d %s%s", e.status, http.StatusText(e.status), e.text)
}

// maxText is the maximum length of the text of a refusal that is shown, in bytes.
const maxText = 300

// checkStatus returns an error for an answer that is no success, with the begin of its text.
func (a *Address) checkStatus(r *http.Response) error {
	if r.StatusCode/100 == 2 {
		return nil
	}
	b, _ := io.ReadAll(io.LimitReader(r.Body, 4<<10))
	_ = r.Body.Close()
	text := strings.TrimSpace(a.hide(string(b)))
	if text = text[:min(len(text), maxText)]; text != "" {
		text = ": " + strings.ToValidUTF8(text, "")
	}
	return &statusError{r.StatusCode, text}
}
